"""Seals: what is sealed when, and that every kind of tampering is found and named.

The tamperer is raw SQL of a superuser with all triggers off, in another process; the verifier gets no hint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from psycopg import sql

from bpm import engine
from bpm.audit import chain, sealing
from bpm.audit.canonical import FORM, FORMS, fields, line_of
from bpm.audit.lines import prepare, stored_lines
from bpm.store import histories
from tests.database.audit.conftest import ORDER
from tests.database.decisions.conftest import tiers


def history(world, number: int = 2):
    world.deploy(ORDER)
    found = [world.start("order", variables={"n": n, "text": "a\tb\\c\nd é"}) for n in range(number)]
    world.work("A", worker="ada", paid=True)
    world.work("B", "C")
    return found


def whole_chain():
    return [seal for page in chain.seals() for seal in page]


def test_all_that_is_over_is_sealed(world):
    history(world)
    done = sealing.seal()
    assert done["seals"] == 1
    ((commits,),) = world.ask("SELECT count(*) FROM runtime_commit")
    assert done["sealed_commits"] == commits
    assert sealing.seal() == {"seals": 0, "sealed_commits": 0}
    history(world, 1)
    sealing.seal(commits=2)
    ((more,),) = world.ask("SELECT count(*) FROM runtime_commit")
    found = whole_chain()
    assert [seal.number for seal in found] == list(range(1, len(found) + 1)) and len(found) > 3
    assert sum(seal.commits for seal in found) == more
    assert max(seal.commits for seal in found[1:]) <= 2
    assert [seal.previous for seal in found] == [chain.ORIGIN, *(seal.hash for seal in found[:-1])]
    ((events,),) = world.ask("SELECT count(*) FROM runtime_event")
    assert sum(seal.events + seal.state_commands for seal in found) == events


def test_an_untouched_history_verifies(world, bpm, tmp_path):
    assert bpm("verify-seals")[0] == 0
    history(world)
    assert bpm("seal")[0] == 0
    engine.tick("timers", {"fired": 1})
    history(world, 1)
    sealing.seal(commits=1)
    status, said = bpm("verify-seals", "--write-head", tmp_path / "head.json")
    assert status == 0, said
    assert json.loads((tmp_path / "head.json").read_text())["hash"] in said
    assert bpm("verify-seals", "--head", tmp_path / "head.json")[0] == 0


# Raw SQL, the code of what is found, and what is named.
TAMPERINGS = (
    ("UPDATE token_events SET node_id = 'X' WHERE event_type = 'TOKEN_FORKED'", "changed", "TOKEN_FORKED"),
    ("UPDATE runtime_commit SET actor = 'eve' WHERE command = 'StartInstance'", "changed", "StartInstance"),
    ("UPDATE runtime_commit SET at = at + interval '1 us' WHERE command = 'Deploy'", "changed", "Deploy"),
    ("UPDATE runtime_state_command SET value = '1' WHERE name = 'n'", "changed", "SET n"),
    ("UPDATE runtime_state_command SET stated_reason = '' WHERE name = 'n'", "changed", "SET n"),
    ("DELETE FROM external_task_events WHERE event_type = 'TASK_LOCKED'", "removed", "external_task_events"),
    ("DELETE FROM engine_events WHERE event_type = 'ENGINE_TICK'", "removed", "engine_events"),
    ("DELETE FROM runtime_commit WHERE command = 'FetchAndLock'", "removed", "runtime_commit"),
    (
        "UPDATE token_events e SET ordinal = 1 - ordinal WHERE ordinal < 2 AND commit_sequence ="
        " (SELECT max(commit_sequence) FROM token_events WHERE event_type = 'TOKEN_JOINED')",
        "changed",
        "token_events",
    ),
    (
        "INSERT INTO token_events (at, instance_id, event_type, payload, actor, engine_version, format, xid,"
        " commit_sequence, ordinal) SELECT at, instance_id, 'TOKEN_CREATED', '{}', 'eve', engine_version, format,"
        " xid, commit_sequence, 99 FROM token_events LIMIT 1",
        "inserted",
        "TOKEN_CREATED",
    ),
    ("UPDATE token_events SET xid = '9000000000'::xid8 WHERE event_type = 'TOKEN_FORKED'", "impossible", "FORKED"),
    ("DELETE FROM runtime_seal WHERE number = 2", "seal-missing", "2 is missing"),
    ("UPDATE runtime_seal SET commits = 0 WHERE number = 2", "seal-changed", "commits"),
    ("UPDATE runtime_seal SET body = replace(body, '\"', '') WHERE number = 2", "seal-changed", "seal 2"),
    ("UPDATE runtime_seal SET hash = repeat('0', 64) WHERE number = 2", "chain-broken", "seal 3"),
    ("UPDATE runtime_seal_epoch SET server = 'x'", "seal-changed", "epoch 1"),
)
# The same for definitions.
DEFINITIONS = (
    (
        "UPDATE process_definitions SET graph = jsonb_set(graph, '{nodes,A,name}', '\"else\"')",
        "changed: definition order 1: its model: not",
    ),
    ("UPDATE process_definitions SET source = source || ' '", "changed: definition order 1: its source: not"),
    ("UPDATE process_definitions SET version = 7", "changed: definition order 7: its id or version: not"),
    ("UPDATE process_definitions SET reads = '[\"n\"]'", "changed: definition order 1: what is beside them: not"),
    ("UPDATE process_definitions SET graph_hash = ''", "changed: definition order 1: the hash of its model: not"),
    ("UPDATE process_definitions SET commit_version = 7", "stray: definition order 1 names commit 7"),
    ("UPDATE process_definitions SET key = 'other'", "stray: definition other 1: commit"),
    ("DELETE FROM process_definitions", "missing: definition order, which commit"),
    ("UPDATE decision_definitions SET decisions = '{}'", "changed: decision tier 1: its model: not"),
    ("UPDATE decision_definitions SET source = ''", "changed: decision tier 1: its source: not"),
    ("UPDATE decision_definitions SET name = 'else'", "changed: decision tier 1: what is beside them: not"),
    ("DELETE FROM decision_definitions", "missing: decision tier, which commit"),
)


@pytest.fixture
def undo(observer: Any) -> Callable[[str], None]:
    """undo(sql): the tables that the statement names are as they were when they were first asked for."""
    tables = [table.name for table in FORMS[FORM]]
    tables += ["runtime_seal", "runtime_seal_epoch", "process_definitions", "decision_definitions"]
    observer.execute("SET session_replication_role = replica")
    kept = False

    def undo(statement: str) -> None:
        nonlocal kept
        for table in tables:
            if not kept:
                observer.execute(f"CREATE TEMPORARY TABLE kept_{table} AS SELECT * FROM {table}")
            elif table in statement:
                observer.execute(f"DELETE FROM {table}")
                observer.execute(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM kept_{table}")
        kept = True

    return undo


def test_tampering_is_found_and_named(world, bpm, tamper, undo):
    history(world)
    engine.tick("timers", {"fired": 1})
    sealing.seal(commits=8)
    for spoiling, code, named in TAMPERINGS:
        undo(spoiling)
        assert bpm("verify-seals")[0] == 0
        tamper(spoiling)
        status, said = bpm("verify-seals")
        assert status == 1, spoiling
        assert any(line.startswith(code) and named in line for line in said.splitlines()), (spoiling, said)
        undo(spoiling)


def test_a_definition_that_was_changed_is_found_and_named(world, bpm, tamper, undo):
    engine.deploy({"tier.dmn": tiers(), "order.bpmn": ORDER}, actor="tester")
    status, told = bpm("verify-seals")
    assert status == 0 and "2 definitions verified" in told, told
    sealing.seal()
    for spoiling, said in DEFINITIONS:
        undo(spoiling)
        status, told = bpm("verify-seals")
        assert status == 0 and "2 definitions verified" in told, told
        tamper(spoiling)
        status, told = bpm("verify-seals")
        assert status == 1 and f"definition-{said}" in told, (spoiling, told)
        undo(spoiling)


def test_definitions_of_older_versions_are_held_against_their_hash(world, bpm, tamper):
    world.deploy(ORDER)
    tamper("UPDATE runtime_commit SET arguments = arguments - 'digests' WHERE command = 'Deploy'")
    sealing.seal()
    assert bpm("verify-seals")[0] == 0
    tamper("UPDATE process_definitions SET graph = jsonb_set(graph, '{nodes,A,name}', '\"else\"')")
    assert "definition order 1: its model does not have its hash" in bpm("verify-seals")[1]


def test_what_was_inserted_into_the_past_is_a_stray_even_when_it_is_sealed(world, bpm, tamper):
    """A row of today's transaction that claims to be part of an old commit."""
    history(world)
    sealing.seal()
    tamper(
        "INSERT INTO token_events (at, instance_id, event_type, payload, actor, engine_version, format,"
        " commit_sequence, ordinal) SELECT at, instance_id, 'TOKEN_CREATED', '{}', 'eve', engine_version, format,"
        " commit_sequence, 99 FROM token_events LIMIT 1"
    )
    sealing.seal()
    status, said = bpm("verify-seals")
    assert status == 1 and said.startswith("stray: seal 2: token_events"), said


def test_a_chain_that_was_made_anew_does_not_hold_the_head_kept_elsewhere(world, bpm, tamper, tmp_path):
    history(world)
    sealing.seal()
    bpm("verify-seals", "--write-head", tmp_path / "head.json")
    tamper("UPDATE runtime_commit SET actor = 'eve' WHERE command = 'StartInstance'")
    tamper("DELETE FROM runtime_seal")
    sealing.seal()
    assert bpm("verify-seals")[0] == 0
    status, said = bpm("verify-seals", "--head", tmp_path / "head.json")
    assert status == 1 and said.startswith("head-differs: seal 1"), said
    tamper("DELETE FROM runtime_seal")
    assert "no such seal" in bpm("verify-seals", "--head", tmp_path / "head.json")[1]
    (tmp_path / "none.json").write_text("{}")
    assert bpm("verify-seals", "--head", tmp_path / "none.json")[0] == 2


def test_a_transaction_held_open_delays_seals(world, observer):
    history(world)
    sealing.seal()
    observer.execute("BEGIN")
    observer.execute("SELECT pg_current_xact_id()")
    history(world, 1)
    assert sealing.seal() == {"seals": 0, "sealed_commits": 0}
    shown = Client().get("/metrics").content.decode()
    delays = dict(re.findall(r"^tokentrail_(seal_delay|oldest_transaction)_seconds (\S+)$", shown, re.MULTILINE))
    assert 0 < float(delays["seal_delay"]) <= float(delays["oldest_transaction"])
    behind = sealing.delay()
    assert behind.seconds > 0 and behind.oldest_transaction >= behind.seconds
    observer.execute("ROLLBACK")
    assert sealing.seal()["seals"] == 1
    assert sealing.delay().seconds == 0


def test_what_commits_late_is_not_lost(world, observer, bpm):
    """A transaction that began before others and commits after them, its commit numbered before theirs."""
    history(world, 1)
    sealing.seal()
    observer.execute("BEGIN")
    observer.execute(
        "INSERT INTO engine_events (at, entity, event_type, payload, actor, engine_version, format)"
        " VALUES (now(), 'engine', 'ENGINE_TICK', '{}', 'late', '0', 1)"
    )
    engine.tick("timers", {"fired": 1})
    assert sealing.seal()["seals"] == 0
    observer.execute("COMMIT")
    assert sealing.seal()["seals"] == 1
    assert whole_chain()[-1].events == 2
    assert bpm("verify-seals")[0] == 0


def test_one_seals_at_a_time_and_never_inside_of_a_transaction(world, observer):
    history(world, 1)
    observer.execute("SELECT pg_advisory_lock(hashtextextended('tokentrail seals', 0))")
    assert sealing.seal()["seals"] == 0
    observer.execute("SELECT pg_advisory_unlock_all()")
    with transaction.atomic(), pytest.raises(sealing.NotSealed):
        sealing.seal()
    assert sealing.seal()["seals"] == 1


def test_seals_refuse_to_be_changed(world):
    history(world, 1)
    sealing.seal()
    for statement in ("UPDATE runtime_seal SET hash = ''", "DELETE FROM runtime_seal", "TRUNCATE runtime_seal_epoch"):
        with pytest.raises(Exception, match=r"only grows|never truncated"), connection.cursor() as cursor:
            cursor.execute(statement)


def test_the_canonical_form_has_every_column_and_is_read_back(world):
    history(world)
    engine.tick("timers", {"fired": 1})
    with histories.snapshot() as channel:
        prepare(channel)
        for table in FORMS[FORM]:
            asked = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
            columns = {name for (name,) in channel.raw.execute(asked, [table.name])}
            assert columns == set(table.columns)
            for line in stored_lines(channel, table, sql.SQL("true")):
                assert line_of(table, fields(table, line)) == line
