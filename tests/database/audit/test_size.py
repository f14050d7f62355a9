"""History in amounts: what is generated is history like any other, and the statements that read it read by index."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from django.db import connection

from bpm.audit import trace
from bpm.audit.canonical import FORM, FORMS
from bpm.audit.export import Selection, export
from bpm.audit.places import place
from bpm.audit.statements import all_statements
from bpm.store.statements import sql as store_sql


@pytest.fixture
def many(world, bpm) -> int:
    """Some 20,000 events over three months."""
    status, said = bpm("generate", "--events", 20_000, "--months", 3)
    assert status == 0, said
    return int(said.split()[2])


def test_what_is_generated_is_history_like_any_other(world, bpm, many):
    assert bpm("seal")[0] == 0
    assert bpm("verify-seals")[0] == 0
    status, said = bpm("check-invariants", "--sample", 20)
    assert status == 0, said
    status, said = bpm("replay", "--all")
    assert status == 0, said
    ((instances, events),) = world.ask("SELECT count(DISTINCT thread_id), count(*) FROM runtime_event")
    assert said.startswith(f"{instances} instances replayed") and events >= many
    ((months,),) = world.ask("SELECT count(DISTINCT date_trunc('month', at)) FROM token_events")
    assert months >= 3


def test_it_is_refused_where_there_is_other_history(world, bpm):
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE tokentrail_test_database")
    status, said = bpm("generate", "--events", 100)
    assert status == 2 and "for tests only" in said


def some_instance(world):
    """One whose history lies in an old month."""
    return world.ask("SELECT thread_id, at FROM runtime_commit WHERE version = 1 ORDER BY at LIMIT 1 OFFSET 50")[0]


def scans(statement: str, arguments: dict) -> list[str]:
    """The tables that a statement scans from end to end, though they hold rows."""
    found = []

    def walk(node):
        if node["Node Type"] == "Seq Scan" and node["Plan Rows"] > 1 and "Relation Name" in node:
            found.append(node["Relation Name"])
        for inner in node.get("Plans", ()):
            walk(inner)

    with connection.cursor() as cursor:
        cursor.execute("SET plan_cache_mode = force_generic_plan")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", arguments)
        plan = cursor.fetchone()[0]
        cursor.execute("RESET plan_cache_mode")
    walk((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])
    return found


def test_histories_are_read_by_index(world, many):
    instance, since = some_instance(world)
    asked = {"thread": instance, "since": since}
    pages = {"after": 0, "until": 1 << 60, "limit": 500}
    for name in ("own_commits", "events_between"):
        assert scans(store_sql(name), asked | pages) == [], name
    assert scans(store_sql("commits_numbered"), {"sequences": [5, 6], "since": since}) == []
    conditions = trace.Wanted(node="pack")
    with connection.execute_wrapper(seen := Statements()):
        assert trace.trace(instance, conditions).events
    for statement, arguments in seen.found:
        if "runtime_event" in statement or "runtime_commit" in statement:
            assert scans(statement, arguments) == [], statement


class Statements:
    def __init__(self):
        self.found = []

    def __call__(self, execute, statement, arguments, many, context):
        self.found.append((statement, arguments))
        return execute(statement, arguments, many, context)


def test_seals_and_reports_are_read_by_index(world, many):
    for table in FORMS[FORM]:
        statement = f"SELECT * FROM {table.name} WHERE xid >= '900000'::xid8 AND xid < '900100'::xid8 ORDER BY xid"
        assert scans(statement, {}) == []
    asked = {"after": 10, "since": None, "until": None, "users": None, "instances": None, "definitions": None}
    asked |= {"everything": False, "limit": 100, "workers": None}
    for name in ("acts", "failures"):
        assert [one for one in scans(all_statements()[name], asked) if one.startswith(("runtime", "external"))] == [], (
            name
        )


def test_an_export_does_not_grow_in_memory(world, many, tmp_path):
    def peak(selection: Selection, name: str) -> tuple[int, int]:
        tracemalloc.start()
        done = export(selection, "csv", place(str(tmp_path)), name, actor="auditor")
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used, done.manifest["events"]

    ((middle,),) = world.ask("SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY at) FROM runtime_commit")
    export(Selection(until=middle), "csv", place(str(tmp_path)), "warm.csv", actor="auditor")
    little, few = peak(Selection(until=middle), "few.csv")
    much, all_ = peak(Selection(), "all.csv")
    assert all_ > 2 * few
    assert much < 1.2 * little + 500_000
