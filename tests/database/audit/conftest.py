"""What the tests of history share: an engine on a database, commands, and a tamperer who knows no rules."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
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


@pytest.fixture
def tamper(database: str, transactional_db: None) -> Tamper:
    """Run SQL as a superuser with all triggers off, in another process that has nothing of the program."""
    program = (
        "import psycopg, sys\n"
        "with psycopg.connect(sys.argv[1]) as connection:\n"
        "    connection.execute('SET session_replication_role = replica')\n"
        "    done = connection.execute(sys.argv[2])\n"
        "    assert done.rowcount != 0, 'nothing was changed'\n"
    )

    def run(sql: str) -> None:
        environment = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
        subprocess.run([sys.executable, "-c", program, database, sql], check=True, env=environment)

    return run


@pytest.fixture
def observer(database: str) -> Any:
    """A connection of its own, as the superuser."""
    with psycopg.connect(database, autocommit=True) as found:
        yield found
