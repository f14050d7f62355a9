"""Who has the application's connection tries raw SQL: docs/security.md lists what comes of each, as it is seen here.

With TOKENTRAIL_WRITE_DOCS=1 the table in the document is written anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import psycopg
import pytest
from psycopg import sql

from bpm.replay import verify
from bpm.semantics import commands as c
from bpm.store import hardening, plain_channel, reading
from config.local import ROOT
from tests.database.store.attacks import ATTACKS, CAN, Attack
from tests.database.store.conftest import HARDENED, Roles, Run

DOCUMENT = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- written by tests/database/store/test_attack.py -->", "<!-- end -->"
REFUSED = {
    "42501": "permission denied",
    "23505": "a version of an instance comes once",
    "23514": "there is no such month",
    "P0001": "no legal transition",
    "TT101": "a version rises by one, and a row keeps its identity",
    "TT102": "rows of an open instance stay",
    "TT103": "no change without its event",
}


@pytest.fixture
def open_run(deploy: Callable[..., Run]) -> Run:
    run = deploy("start s > external A > external B > end e")
    run.start(variables={"x": 1}, key="once")
    return run


@pytest.fixture
def ended_run(deploy: Callable[..., Run]) -> Run:
    run = deploy("start s > external A > end e")
    run.start(variables={"x": 1})
    run.do(c.CancelInstance, text="enough")
    return run


def outcome(roles: Roles, attack: Attack, open_run: Run, ended_run: Run) -> str:
    """What comes of it: "" where it is done, else the SQLSTATE. Nothing stays."""
    statement = sql.SQL(attack.sql).format(thread=sql.Literal(open_run.thread), ended=sql.Literal(ended_run.thread))
    with psycopg.connect(roles.hardened) as connection:
        try:
            connection.execute(statement)
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.Error as error:
            return error.sqlstate or "?"
        finally:
            connection.rollback()
    return ""


def test_what_the_applications_role_can_and_cannot_do(roles, open_run, ended_run):
    found = {attack: outcome(roles, attack, open_run, ended_run) for attack in ATTACKS}
    done = [attack.words for attack, state in found.items() if (attack.group == CAN) != (state == "")]
    assert done == [], {words: found[a] for a in ATTACKS for words in done if a.words == words}
    table = written(found)
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    now = f"{before}{BEGIN}\n\n{table}\n{END}{after}"
    if os.environ.get("TOKENTRAIL_WRITE_DOCS"):
        DOCUMENT.write_text(now)
    assert DOCUMENT.read_text() == now, "docs/security.md says something else: run this with TOKENTRAIL_WRITE_DOCS=1"


def written(found: dict[Attack, str]) -> str:
    parts = []
    for group in dict.fromkeys(attack.group for attack in ATTACKS):
        head = "| it can | and then |" if group == CAN else "| it tries | and meets |"
        rows = [
            f"| {attack.words} | {attack.found if group == CAN else REFUSED[state]} |"
            for attack, state in found.items()
            if attack.group == group
        ]
        parts.append("\n".join([f"**{group}**", "", head, "|---|---|", *rows, ""]))
    return "\n".join(parts)


@pytest.mark.parametrize("words", ["an event that belongs to no commit", "an event to a commit that somebody made"])
def test_a_forged_event_shows(roles, open_run, words):
    """It can be added, never taken away again."""
    (forged,) = [attack for attack in ATTACKS if words in attack.words]
    with psycopg.connect(roles.hardened, autocommit=True) as connection:
        connection.execute(sql.SQL(forged.sql).format(thread=sql.Literal(open_run.thread)))
        channel = plain_channel(connection)
        commits = reading.history(open_run.thread, channel=channel)
        divergence = verify(open_run.graph, commits, thread=str(open_run.thread))
        if "no commit" in words:
            assert divergence is None
            statement = "SELECT actor FROM runtime_event WHERE thread_id = %s AND commit_sequence IS NULL"
            assert connection.execute(statement, [open_run.thread]).fetchall() == [("nobody",)]
        else:
            assert divergence is not None and divergence.sequence == commits[0].sequence


@pytest.mark.parametrize(
    ("power", "said"),
    [
        ("ALTER ROLE {} SUPERUSER", "it is SUPERUSER"),
        ("ALTER ROLE {} CREATEROLE CREATEDB", "it is CREATEROLE; it is CREATEDB"),
        ("ALTER ROLE {} BYPASSRLS REPLICATION", "it is REPLICATION; it is BYPASSRLS"),
        ("GRANT store_owner TO {}", "it owns the tables, or is a member of who does"),
        ("GRANT pg_write_all_data TO {}", "it is a member of pg_write_all_data"),
        ("GRANT SET ON PARAMETER session_replication_role TO {}", "it may set session_replication_role"),
    ],
)
def test_a_role_that_no_grant_could_bind_is_refused(roles, power, said):
    with psycopg.connect(roles.superuser) as connection:
        connection.execute("CREATE ROLE mighty")
        connection.execute(sql.SQL(power).format(sql.Identifier("mighty")))
        with pytest.raises(hardening.CannotHarden) as caught:
            hardening.harden("mighty", channel=plain_channel(connection))
        assert said in str(caught.value)
        assert "mighty" not in str(
            connection.execute("SELECT relacl::text FROM pg_class WHERE relname = 'tokens'").fetchone()
        )
        connection.rollback()


def test_rights_that_come_another_way_are_told(roles):
    with psycopg.connect(roles.superuser) as connection:
        connection.execute("CREATE ROLE readers; GRANT TRUNCATE ON tokens TO readers; GRANT INSERT ON timers TO PUBLIC")
        connection.execute("CREATE ROLE application IN ROLE readers")
        with pytest.raises(hardening.CannotHarden) as caught:
            hardening.harden("application", channel=plain_channel(connection))
        assert caught.value.reasons == ("it has TRUNCATE on tokens all the same",)
        connection.rollback()


def test_the_owner_hardens_again_after_each_migration(roles):
    with psycopg.connect(roles.owner) as connection:
        connection.execute("CREATE TABLE of_another_app (id int)")
        given = hardening.harden(HARDENED, channel=plain_channel(connection))
        assert given.tables["of_another_app"] == hardening.CHANGE
        assert given.tables["token_events"] == hardening.GROW
        assert given.tables["runtime_event"] == hardening.READ
        assert not [table for table in given.tables if table.startswith("token_events_2")]
        connection.rollback()
