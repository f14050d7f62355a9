"""Two processes complete the two last branches of a join at the same moment: exactly one join each time."""

from __future__ import annotations

import subprocess
import sys
from uuid import UUID

from bpm.semantics import commands as c
from bpm.store import claims, ids, reading
from config.local import ROOT

ROUNDS = 500
BATCH = 50

# Reads "thread task" lines and completes each task at once; the parent writes the same round to both processes.
RACER = """
import sys
from uuid import UUID
import psycopg
from bpm.engine.step import step
from bpm.semantics import commands as c
from bpm.store import plain_channel

connection = psycopg.connect(sys.argv[1], autocommit=True)
channel = plain_channel(connection)
print("ready", flush=True)
for line in sys.stdin:
    thread, task = line.split()
    record = step(
        UUID(thread),
        lambda at: c.CompleteExternalTask(at=at, task=int(task), worker="worker"),
        actor="worker",
        channel=channel,
    )
    print(sum(event.type == "TOKEN_JOINED" for event in record.events), flush=True)
"""


def test_the_last_two_branches_join_once(deploy, roles):
    run = deploy("start s > parallel f", "f > external B > parallel j", "f > external C > j", "j > end e")
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, roles.application],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(2)
    ]
    try:
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 2
        for _ in range(ROUNDS // BATCH):
            for thread, branches in standing(run):
                for racer, task in zip(racers, branches, strict=True):
                    racer.stdin.write(f"{thread} {task}\n")
                for racer in racers:
                    racer.stdin.flush()
                joined = [int(racer.stdout.readline()) for racer in racers]
                assert sorted(joined) == [0, 1], thread
        run.thread = thread
        run.advance()
        run.agrees()
        state = reading.stored_state(run.thread, channel=run.channel)
        assert state.instances[0].state == "COMPLETED"
    finally:
        for racer in racers:
            racer.stdin.close()
            racer.stdout.close()
            racer.wait(10)


def standing(run) -> list[tuple[UUID, list[int]]]:
    """A batch of instances whose two branches are locked by the worker: (thread, ordinals of the tasks)."""
    for _ in range(BATCH):
        run.thread = ids.new_instance()
        run.start()
        run.advance()
    found: dict[UUID, list[int]] = {}
    for topic in ("B", "C"):
        for task in claims.fetch_and_lock([run.prefix + topic], "worker", BATCH, 600, channel=run.channel):
            found.setdefault(task.instance_id, []).append(ids.ordinal(task.id))
    assert [len(tasks) for tasks in found.values()] == [2] * BATCH
    return list(found.items())


def test_a_branch_completed_twice_is_refused(deploy):
    run = deploy("start s > parallel f", "f > external B > parallel j", "f > external C > j", "j > end e")
    run.start()
    run.advance()
    task = run.lock("B")
    make = {"task": ids.ordinal(task.id), "worker": "worker", "key": f"{task.id}/{task.version}"}
    first = run.do(c.CompleteExternalTask, actor="worker", **make)
    assert run.do(c.CompleteExternalTask, actor="worker", **make).sequence == first.sequence
