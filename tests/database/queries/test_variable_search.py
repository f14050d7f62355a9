"""Instances found by the values of their variables, through the index, however many variables there are."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from bpm import engine
from bpm.queries import limits, variables
from bpm.queries.instances import list_instances
from bpm.queries.variables import LONGEST, BadFilter, condition
from tests.database.engine.drawing import end, flows, model, start, user

ROWS = 100_000
MODEL = model(start(), user("look"), end(), flows("start -> look -> end"))
VALUES: dict[str, dict[str, object]] = {
    "one": {"amount": 100, "customer": "Ada", "due": date(2026, 11, 29), "paid": True},
    "two": {"amount": Decimal("250.50"), "customer": "Adam", "paid": False, "note": None},
    "three": {"amount": "100", "customer": "Bob", "due": date(2026, 12, 1), "list": [1], "long": "x" * 5000},
    "four": {"amount": -5, "customer": "ada", "a:b": 1, "zip": "0815", "bean": {"$type": "a.B", "value": "foo"}},
}


@pytest.fixture
def found(transactional_db):
    """The names of the instances for which conditions hold, the newest first."""
    engine.deploy({"p.bpmn": MODEL}, actor="tester")
    for name, values in VALUES.items():
        engine.start("p", values, business_key=name, actor="tester")

    def ask(*texts: str) -> list[str | None]:
        rows = list_instances(variables=[condition(text) for text in texts]).items
        return [row.business_key for row in rows]

    return ask


@pytest.mark.parametrize("few", [variables.FEW, 1, 0])
def test_by_value(found, few, monkeypatch):
    """Whether all instances of a condition are looked up, or each instance is asked."""
    monkeypatch.setattr(variables, "FEW", few)
    expected = {
        "amount:eq:100": ["one"],
        "amount:eq:100.0": ["one"],
        'amount:eq:"100"': ["three"],
        "amount:neq:100": ["four", "three", "two"],
        "amount:gt:100": ["two"],
        "amount:gteq:100": ["two", "one"],
        "amount:lt:100": ["four"],
        "amount:lteq:250.5": ["four", "two", "one"],
        "customer:eq:Ada": ["one"],
        "customer=Ada": ["one"],
        "customer:startswith:Ad": ["two", "one"],
        "customer:like:%da": ["four", "one"],
        "customer:like:_o_": ["three"],
        "customer:like:\\A\\d%": ["two", "one"],
        "customer:like:Ada\\\\": [],
        "paid:eq:true": ["one"],
        "paid:lt:true": ["two"],
        "note:eq:null": ["two"],
        "note:exists": ["two"],
        "due:gteq:2026-11-30": ["three"],
        "due:eq:2026-11-29": ["one"],
        "list:exists": ["three"],
        "list:neq:1": ["three"],
        "long:exists": ["three"],
        "a:b:eq:1": ["four"],
        "zip:eq:0815": ["four"],
        # An object that only looks like a value of a type of ours.
        "bean:eq:foo": [],
        "bean:exists": ["four"],
        "nobody:exists": [],
    }
    assert {text: found(text) for text in expected} == expected
    assert found("amount:gt:0", "customer:startswith:A") == ["two", "one"]


def test_a_search_of_many_values_reads_no_further_than_it_must(found, monkeypatch):
    monkeypatch.setattr(variables, "FEW", 2)
    with CaptureQueriesContext(connection) as asked:
        found("amount:exists", "customer:eq:Ada")
    matches = [query["sql"] for query in asked if query["sql"].startswith("SELECT v.instance_id")]
    assert len(matches) == 2
    assert all(sql.endswith("LIMIT 3") for sql in matches)
    assert found("customer:eq:Ada", "customer:eq:Bob") == []


def test_what_takes_too_long_is_given_up(found):
    with pytest.raises(limits.TookTooLong), limits.at_most(0.02), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(5)")
    # Several statements have one limit, not one each.
    with pytest.raises(limits.TookTooLong), limits.at_most(0.2), connection.cursor() as cursor:
        for _ in range(10):
            cursor.execute("SELECT pg_sleep(0.05)")
    assert connection.get_autocommit()
    with transaction.atomic():
        with pytest.raises(limits.TookTooLong), limits.at_most(0.02), connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")
        with limits.at_most(2):
            assert found("customer=Ada") == ["one"]
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            assert cursor.fetchone()[0] == "0"


def test_the_command_line_lists_them(found, capsys):
    call_command("bpm", "instances", "--variable", "customer=Ada", "--variable", "amount:gteq:100")
    (line,) = capsys.readouterr().out.splitlines()
    assert " one " in line
    with pytest.raises(CommandError, match="write name:operator:value"):
        call_command("bpm", "instances", "--variable", "customer")


def test_what_is_unset_and_what_is_local_is_not_found(found):
    (row,) = list_instances(business_key="one").items
    engine.set_variables(row.id, unset=["customer"], actor="ann")
    assert found("customer:eq:Ada") == []


def test_pages_go_on_behind_the_last(found):
    wanted = [condition("amount:exists")]
    first = list_instances(variables=wanted, size=3)
    rest = list_instances(variables=wanted, size=3, after=first.after)
    assert [row.business_key for row in (*first.items, *rest.items)] == ["four", "three", "two", "one"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("amount", "write name:operator:value"),
        ("amount:is:1", "write name:operator:value"),
        ("amount:eq", "every other operator takes one"),
        ("amount:exists:1", "exists takes no value"),
        ("amount:eq:[1]", "single values"),
        ("amount:like:" + "x" * (LONGEST + 1), "lies in no index"),
        ("amount:eq:" + "x" * (LONGEST + 1), "lies in no index"),
        ("amount:eq:" + "9" * (LONGEST + 1), "lies in no index"),
        ("amount:eq:1e100000000", "lies in no index"),
        ("amount:like:a\\", "single backslash"),
        ("amount:like:a\\\\\\", "single backslash"),
        ("amount:eq:a\x00", "no variable holds"),
        ("a\x00:eq:a", "no name"),
        ("x" * 256 + ":eq:1", "no name"),
    ],
)
@pytest.mark.django_db
def test_what_makes_no_sense(text, why):
    with pytest.raises(BadFilter, match=why):
        list_instances(variables=[condition(text)])


@pytest.mark.django_db
def test_at_most_so_many_conditions():
    with pytest.raises(BadFilter, match="at most"):
        list_instances(variables=[condition("a:eq:1")] * 9)


@pytest.fixture
def many(transactional_db):
    """So many variables as half as many instances leave them, without their history."""
    engine.deploy({"p.bpmn": MODEL}, actor="tester")
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            """WITH instances AS (
                   INSERT INTO process_instances (id, ordinal, version, commit_version, commit_at, created_at,
                       process_def_id, definition_key, state, run_id, started_by, started_at)
                   SELECT gen_random_uuid(), 0, 1, 1, now(), now(), definitions.id, 'p', 'RUNNING',
                       gen_random_uuid(), 'ann', now() - n * interval '1 second'
                   FROM process_definitions definitions, generate_series(1, %s / 2) n
                   RETURNING id, extract(epoch FROM now() - started_at)::bigint AS n)
               INSERT INTO variables (id, ordinal, instance_id, version, commit_version, commit_at, created_at, scope,
                   name, value, present)
               SELECT gen_random_uuid(), n, id, 1, 1, now(), now(), 0, name, value, true
               FROM instances, LATERAL (VALUES
                   ('amount', to_jsonb(n)), ('customer', to_jsonb('customer ' || n))) AS given (name, value)""",
            [ROWS],
        )
        cursor.execute("RESET session_replication_role")
        cursor.execute("ANALYZE variables; ANALYZE process_instances")


def test_the_index_answers(many):
    for text in ("amount:eq:5000", "amount:gt:49990", "customer:eq:customer 77", "nobody:exists"):
        plan = plan_of(text)
        reads = [node for node in nodes(plan) if node.get("Relation Name") == "variables" or "Index Name" in node]
        assert "variables_by_value" in {node.get("Index Name") for node in reads}, plan
        assert not [node for node in reads if node["Node Type"] == "Seq Scan" and node["Relation Name"] == "variables"]
        ((key,),) = {(node["Index Cond"],) for node in reads if node.get("Index Name") == "variables_by_value"}
        assert text.endswith("exists") or "bpm_searchable" in key or "CASE" in key


def plan_of(text: str) -> dict:
    """The plan of the statement that lists the instances of which the condition holds."""
    with CaptureQueriesContext(connection) as asked:
        list_instances(variables=[condition(text)])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {asked[0]['sql']}".replace("%", "%%"))
        found = cursor.fetchone()[0]
    return (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def test_ids_are_those_of_instances(found):
    assert isinstance(list_instances(variables=[condition("amount:eq:100")]).items[0].id, UUID)
