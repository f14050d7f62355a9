"""A runtime of its own, as a process: it connects to a migrated database and does what it is told, a JSON line each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any, Self
from uuid import UUID

from bpm.semantics import commands as c
from bpm.store import CommitCoordinator, Refused, ThreadCommit, claims, ids, schedule
from bpm.store.unit import Unit
from config.local import ROOT


class Runtime:
    """The process, from outside."""

    def __init__(self, address: str, name: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()", address, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        )
        assert self._read() == "ready"

    def ask(self, verb: str, **arguments: Any) -> Any:
        """Do it and wait for what comes of it."""
        self.tell(verb, **arguments)
        return self._read()

    def tell(self, verb: str, **arguments: Any) -> None:
        """Do it, without waiting."""
        self._process.stdin.write(json.dumps([verb, arguments]) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """What came of what it was told."""
        return self._read()

    def wait_until_killed(self) -> None:
        """It kills itself; what it had told before that is thrown away."""
        assert self._process.wait(30) == -signal.SIGKILL

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)

    def _read(self) -> Any:
        line = self._process.stdout.readline()
        assert line, f"the runtime {self.name} has died"
        return json.loads(line)


class Verbs:
    """What the process can do."""

    def __init__(self, coordinator: CommitCoordinator, name: str) -> None:
        self._coordinator = coordinator
        self._name = name

    def start(self, definition: str, thread: str | None = None) -> str:
        record = self._commit(
            UUID(thread) if thread else ids.new_instance(),
            lambda at: c.StartInstance(at=at, variables={"turns": []}),
            definition=UUID(definition),
        )
        return str(record.thread_id)

    def set(self, thread: str, value: Any) -> int:
        return self._commit(UUID(thread), lambda at: c.SetVariables(at=at, variables={"turns": value})).version

    def turns(self, thread: str, number: int) -> list[int]:
        """So many commits on one thread, as fast as they go; their versions."""
        return [self.set(thread, [self._name, turn]) for turn in range(number)]

    def work(self, topic: str) -> int:
        """Lock and complete every ready task of the topic, and advance; how many there were."""
        done = 0
        while True:
            with self._coordinator.channel() as channel:
                tasks = claims.fetch_and_lock([topic], self._name, 10, channel=channel)
            if not tasks:
                return done
            for task in tasks:
                number = ids.ordinal(task.id)
                self._commit(
                    task.instance_id,
                    lambda at, number=number: c.CompleteExternalTask(at=at, task=number, worker=self._name),
                )
                done += 1

    def recover(self, thread: str) -> int:
        """Advance what somebody left behind; how many tokens."""
        with self._coordinator.channel() as channel:
            tokens = schedule.active_of_instance(UUID(thread), channel=channel)
        for token in tokens:
            try:
                self._commit(UUID(thread), lambda at, token=token: c.AdvanceToken(at=at, token=token))
            except Refused:
                continue
        return len(tokens)

    def die_in(self, moment: str, thread: str) -> None:
        """Be killed in the middle of a commit: after the load, or after the flush and before anybody hears of it."""
        method = getattr(Unit, moment)

        def deadly(*arguments: Any, **more: Any) -> None:
            method(*arguments, **more)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(Unit, moment, deadly)
        self.set(thread, ["dying", moment])

    def ledgers(self) -> list[Any]:
        threads = [(str(thread), version) for thread, version in self._coordinator.thread_versions()]
        commits = [(number, str(thread), str(run)) for number, thread, run in self._coordinator.ledger()]
        return [commits, threads]

    def state(self, thread: str) -> Any:
        """What it has of business: version, variables, what is open."""
        state = self._coordinator.state(UUID(thread))
        assert state is not None
        variables = {name: variable.value for (_, name), variable in state.variables.items()}
        return [state.version, state.instances[0].state, variables, sorted(state.tokens)]

    def _commit(self, thread: UUID, command: Any, **more: Any) -> Any:
        return self._coordinator.commit(ThreadCommit(thread_id=thread, command=command, actor=self._name, **more))


def main() -> None:
    """The process, from inside."""
    address, name = sys.argv[1:]
    with CommitCoordinator.connect_existing(address, 2) as coordinator:
        verbs = Verbs(coordinator, name)
        print(json.dumps("ready"), flush=True)
        for line in sys.stdin:
            verb, arguments = json.loads(line)
            print(json.dumps(getattr(verbs, verb)(**arguments)), flush=True)
