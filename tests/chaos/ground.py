"""The ground of the chaos tests: servers that are theirs alone, and processes that may die.

A test stops such a server in the middle of work, so it is not the one that other tests use. Processes are forked from
one that has loaded everything and has touched nothing (`tests.chaos.zygote`): each is a new process of the engine, for
a twentieth of what it costs to start Python.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psycopg

from config.local import ROOT
from config.postgres import Postgres
from config.processes import Process, Warden
from tests.conftest import wait_for

# What survives here is what was written, not what reached the disk: processes die, the machine does not. A commit is
# written before it is told, as in real life.
OPTIONS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on"}
DATABASE = "tokentrail"
PATIENCE = 30.0


@dataclass(frozen=True)
class Told:
    """How a process ended: the signal that ended it (0: none), and what it said."""

    signal: int
    said: Any


class Zygote:
    """Holds a process that forks others, each of which calls one function."""

    def __init__(self, name: str, environment: Mapping[str, str], log: Path, warden: Warden) -> None:
        self._log = log.open("ab")
        self._warden = warden
        self._program = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.zygote", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT,
            env=dict(environment),
            start_new_session=True,
        )
        warden.watch(self._program.pid, signal.SIGKILL)
        assert self._program.stdout.readline() == "ready\n", log.read_text()

    def run(self, function: str, *, times: int = 1, environment: Mapping[str, str] | None = None, **said: Any) -> Any:
        """Call module:function(**said) in new processes, `times` at once. Out: a Told, or a list of them."""
        order = {"function": function, "said": said, "times": times, "environment": dict(environment or {})}
        self._program.stdin.write(json.dumps(order) + "\n")
        self._program.stdin.flush()
        line = self._program.stdout.readline()
        assert line, f"the zygote has died: {Path(self._log.name).read_text()[-3000:]}"
        told = [Told(one["signal"], one["said"]) for one in json.loads(line)]
        return told[0] if times == 1 else told

    def call(self, function: str, **said: Any) -> Any:
        """The same once, where nothing is to go wrong: what the function returned."""
        told = self.run(function, **said)
        assert told.signal == 0, f"ended by signal {told.signal}"
        assert "raised" not in told.said, told.said["raised"]
        return told.said["returned"]

    def close(self) -> None:
        """End it."""
        self._program.stdin.close()
        self._program.stdout.close()
        self._program.wait(20)
        self._warden.forget(self._program.pid)
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Ground:
    """A migrated database on a server of its own."""

    def __init__(self, folder: Path, warden: Warden, *, version: int, options: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.server = Postgres(
            folder / "pg", folder / "run", warden, version=version, options={**OPTIONS, **(options or {})}
        )
        self._warden = warden

    @property
    def url(self) -> str:
        """The address of the database."""
        return self.server.url(DATABASE)

    def environment(self, **more: str) -> dict[str, str]:
        """Of a process of the site that works on this database, with no broker unless one is named."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": self.url,
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "EXTRA_APPS": "tests.chaos.outside",
            "LOG_LEVEL": "WARNING",
            "PYTHONUNBUFFERED": "1",
            **more,
        }

    def prepare(self, like: Ground | None = None) -> None:
        """Start the server and make the database, marked as one for tests; or as another one was when it was new."""
        if like is not None:
            self.server.data.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", str(like.new), str(self.server.data)], check=True)
            self.server.start()
            return
        self.server.start()
        self.server.create_database(DATABASE)
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=self.environment(), check=True
        )
        self.execute("CREATE TABLE IF NOT EXISTS tokentrail_test_database ()")
        self.server.stop()
        subprocess.run(["cp", "-a", str(self.server.data), str(self.new)], check=True)
        self.server.start()

    @property
    def new(self) -> Path:
        """What the server's folder was when it was new."""
        return self.folder / "new"

    def execute(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser, on a connection of its own."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement, arguments)
            return cursor.fetchall() if cursor.description else []

    def stop_at_once(self) -> None:
        """PostgreSQL's immediate shutdown: no session ends well, nothing is written; starting is a crash recovery."""
        os.kill(self.server.process.pid, signal.SIGQUIT)
        wait_for(lambda: self.server.exit_code() is not None, PATIENCE, self.server.last_words)

    def zygote(self, name: str = "zygote", **environment: str) -> Zygote:
        """One that forks processes of the engine."""
        return Zygote(name, self.environment(**environment), self.folder / f"{name}.log", self._warden)

    def process(self, name: str, *command: str, **environment: str) -> Process:
        """A program of the site, not started yet."""
        log = self.folder / f"{name}.log"
        return Process(name, [sys.executable, *command], log, self._warden, env=self.environment(**environment))
