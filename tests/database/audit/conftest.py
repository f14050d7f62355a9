"""What the tests of history share: an engine on a database, commands, and a tamperer who knows no rules."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from config.local import socket_url
from config.postgres import Postgres
from tests.database.engine.conftest import World, world
from tests.database.engine.drawing import end, flows, model, parallel, service, start

__all__ = ["World", "world"]

ORDER = model(
    start(),
    service("A"),
    parallel("f"),
    service("B"),
    service("C"),
    parallel("j"),
    end(),
    flows("start -> A -> f -> B -> j -> end", "f -> C -> j"),
    id="order",
)

type Bpm = Callable[..., tuple[int, str]]
type Tamper = Callable[[str], None]


@pytest.fixture
def bpm() -> Bpm:
    """bpm("replay", "--all") -> (exit status, what was printed)."""

    def run(*arguments: Any) -> tuple[int, str]:
        out = io.StringIO()
        try:
            call_command("bpm", *map(str, arguments), stdout=out, stderr=io.StringIO())
        except SystemExit as end:
            return int(end.code or 0), out.getvalue()
        except CommandError as error:
            return error.returncode, f"{out.getvalue()}{error}"
        return 0, out.getvalue()

    return run


@pytest.fixture
def database(postgres: Postgres) -> str:
    """The address of the test database, for other processes, as its superuser."""
    return socket_url(postgres.sockets, str(connection.settings_dict["NAME"]))


TAMPERER = """
import json, psycopg, sys
with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    connection.execute("SET session_replication_role = replica")
    for line in sys.stdin:
        print(connection.execute(json.loads(line)).rowcount, flush=True)
"""


@pytest.fixture
def tamper(database: str, transactional_db: None) -> Iterator[Tamper]:
    """Run SQL as a superuser with all triggers off, in another process that has nothing of the program."""
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    command = [sys.executable, "-c", TAMPERER, database]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def run(sql: str) -> None:
            process.stdin.write(f"{json.dumps(sql)}\n")
            process.stdin.flush()
            assert process.stdout.readline().strip() not in ("", "0"), f"nothing was changed: {sql}"

        yield run
        process.stdin.close()


@pytest.fixture
def observer(database: str) -> Any:
    """A connection of its own, as the superuser."""
    with psycopg.connect(database, autocommit=True) as found:
        yield found
