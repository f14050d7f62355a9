"""Two runtimes, one authority: the deployment check of docs/deployment.md, with two processes on one database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from bpm.replay import verify
from bpm.store import CommitCoordinator, hardening, plain_channel, reading
from config.local import ROOT, socket_url
from config.postgres import Postgres
from tests.database.store.conftest import Run, store_graph, with_topics
from tests.database.store.runtime import Runtime
from tests.pure.semantics.drawing import draw

LEDGER = "SELECT sequence, thread_id, run_id FROM runtime_commit ORDER BY sequence;"
VERSIONS = "SELECT thread_id, version FROM runtime_thread_version ORDER BY thread_id;"
STEPS = ("start s > external A > parallel f", "f > external B > parallel j", "f > external B2 > j", "j > end e")


@pytest.fixture
def address(postgres: Postgres) -> Iterator[str]:
    """A database that the migration job has been run on, as its owner, for an application's role."""
    owner = socket_url(postgres.sockets, "two").replace("postgres@", "two_owner@")
    with psycopg.connect(postgres.url(), autocommit=True) as superuser:
        superuser.execute("CREATE ROLE two_owner LOGIN CREATEROLE; CREATE ROLE two_application LOGIN")
        superuser.execute("CREATE DATABASE two OWNER two_owner")
        CommitCoordinator.migrate(owner)
        with psycopg.connect(owner) as connection:
            hardening.harden("two_application", channel=plain_channel(connection))
        yield owner.replace("two_owner@", "two_application@")
        superuser.execute("DROP DATABASE two WITH (FORCE)")
        superuser.execute("DROP ROLE two_application; DROP ROLE two_owner")


def test_two_runtimes_one_authority(address):
    with (
        psycopg.connect(address, autocommit=True) as connection,
        Runtime(address, "one") as one,
        Runtime(address, "two") as two,
        Runtime(address, "three") as three,
    ):
        channel = plain_channel(connection)
        run = Run(channel, store_graph(channel, with_topics(draw(*STEPS), "t.")), "t.")
        definition = str(run.definition.id)

        # Different threads: each commits to its own, and goes on with the other's.
        mine, yours = one.ask("start", definition=definition), two.ask("start", definition=definition)
        assert (one.ask("set", thread=yours, value="from one"), two.ask("set", thread=mine, value="from two")) == (2, 2)

        # The same thread: they take turns, and no version is given twice or left out.
        shared = one.ask("start", definition=definition)
        for runtime in (one, two):
            runtime.tell("turns", thread=shared, number=50)
        versions = [runtime.answer() for runtime in (one, two)]
        assert sorted(versions[0] + versions[1]) == list(range(2, 102))
        assert all(found == sorted(found) for found in versions)

        # One is killed in the middle of a commit: after the load nothing is written, after the flush everything is.
        two.tell("die_in", moment="load", thread=shared)
        two.wait_until_killed()
        assert one.ask("state", thread=shared)[0] == 101
        three.tell("die_in", moment="flush", thread=shared)
        three.wait_until_killed()
        assert one.ask("state", thread=shared)[0] == 102
        assert one.ask("set", thread=shared, value="after both") == 103

        # What the dead left, whoever is there finishes.
        assert one.ask("work", topic="t.A") == 3
        with Runtime(address, "four") as four:
            for thread in (mine, yours, shared):
                assert four.ask("recover", thread=thread) == 2
            assert (four.ask("work", topic="t.B"), one.ask("work", topic="t.B2")) == (3, 3)
            for thread in (mine, yours, shared):
                four.ask("recover", thread=thread)

            # The ledgers first, each runtime's own reading and the two statements; then what they have of business.
            assert one.ask("ledgers") == four.ask("ledgers") == ledgers(connection)
            for thread in (mine, yours, shared):
                assert one.ask("state", thread=thread) == four.ask("state", thread=thread)
                assert one.ask("state", thread=thread)[1] == "COMPLETED"
                commits = reading.history(UUID(thread), channel=channel)
                own = [commit.version for commit in commits if commit.version is not None]
                assert own == list(range(1, len(own) + 1))
                assert verify(run.graph, commits, thread=thread) is None


def ledgers(connection: psycopg.Connection) -> list[list[list[object]]]:
    return [
        [[str(value) if isinstance(value, UUID) else value for value in row] for row in connection.execute(statement)]
        for statement in (LEDGER, VERSIONS)
    ]


def test_the_document_has_the_two_statements():
    text = (ROOT / "docs" / "deployment.md").read_text()
    assert re.findall(r"^    (SELECT .*;)$", text, re.MULTILINE) == [LEDGER, VERSIONS]
    assert "tests/database/store/" + Path(__file__).name in text
