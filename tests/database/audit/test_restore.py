"""A logical dump restored into another server: a new epoch, and one chain over both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import psycopg
import pytest

from bpm.audit import sealing
from bpm.engine.step import step
from bpm.semantics import commands as c
from bpm.store import definitions, ids, plain_channel, schedule
from config.local import ROOT, socket_url
from config.postgres import THROW_AWAY, Postgres
from config.processes import Warden
from tests.database.audit.conftest import ORDER

NAME = "restored"


@pytest.fixture
def second(warden: Warden, postgres: Postgres) -> Iterator[Postgres]:
    """Another server, which has nothing of the first one, in a folder that its account can enter."""
    folder = postgres.sockets.parent
    server = Postgres(folder / "second", folder / "run2", warden, options=THROW_AWAY)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder / "second")


@pytest.fixture
def elsewhere(second: Postgres) -> Callable[..., subprocess.CompletedProcess[str]]:
    """elsewhere("seal"): a command in a process of its own, on the restored database."""
    environment = {**os.environ, "DATABASE_URL": socket_url(second.sockets, NAME)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "manage.py"), "bpm", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run


def restore(database: str, first: Postgres, second: Postgres) -> None:
    second.create_database(NAME)
    dumped = subprocess.run([first.binaries / "pg_dump", database], capture_output=True, check=True)
    target = socket_url(second.sockets, NAME)
    subprocess.run(
        [first.binaries / "psql", "-q", "-1", "-v", "ON_ERROR_STOP=1", target],
        input=dumped.stdout,
        check=True,
        capture_output=True,
    )


def test_a_restored_history_verifies_and_goes_on(world, database, postgres, second, elsewhere):
    world.deploy(ORDER)
    instance = world.start("order")
    world.work("A")
    sealing.seal()
    engine_event = schedule.engine_event("ENGINE_TICK", {"job": "timers", "counts": {"fired": 1}})
    world.start("order")  # not sealed when the dump is made
    restore(database, postgres, second)

    with psycopg.connect(socket_url(second.sockets, NAME), autocommit=True) as connection:
        channel = plain_channel(connection)
        definition = definitions.find("order", channel=channel)
        # Before anything is sealed here: its transaction ids are those of commits that were sealed long ago.
        step(ids.new_instance(), lambda at: c.StartInstance(at=at), actor="ann", definition=definition, channel=channel)
        assert schedule.engine_event("ENGINE_TICK", {}, channel=channel) > engine_event
        ((new, old),) = connection.execute(
            "SELECT (SELECT max(xid::text::bigint) FROM runtime_commit WHERE actor = 'ann'), (SELECT"
            " max(xid_until::text::bigint) FROM runtime_seal)"
        ).fetchall()
        assert new < old, "the transactions of the second server are to overlap those of the first"
        assert elsewhere("verify-seals").returncode == 0
        assert elsewhere("seal").stdout.startswith("1 seals of 2 commits")  # the epoch's opening: what was not sealed
        step(ids.new_instance(), lambda at: c.StartInstance(at=at), actor="bob", definition=definition, channel=channel)
        assert elsewhere("seal").stdout.startswith("1 seals of 1 commits")
        verified = elsewhere("verify-seals")
        assert verified.returncode == 0, verified.stdout
        assert verified.stdout.startswith("3 seals")

        connection.execute("SET session_replication_role = replica")
        for spoiling, named in (
            ("UPDATE runtime_commit SET actor = 'eve' WHERE actor = 'ann'", "changed: seal 2"),
            ("UPDATE runtime_commit SET actor = 'eve' WHERE actor = 'bob'", "changed: seal 3"),
            (f"DELETE FROM token_events WHERE instance_id = '{instance}'", "removed: seal 1"),
        ):
            connection.execute(spoiling)
            assert named in elsewhere("verify-seals").stdout
