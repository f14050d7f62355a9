"""A worker says which variables it wants: the database reads and sends no others."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from bpm import engine
from bpm.engine import Topic
from bpm.engine.external_tasks import MOST_NAMES
from bpm.engine.step import MEMORY
from bpm.engine.variables import NAME_LIMIT
from bpm.jobs import handlers, running
from bpm.jobs.handlers import external_task
from tests.database.engine.drawing import end, flows, model, service, start

INNER = """<bpmn:extensionElements><camunda:inputOutput>
  <camunda:inputParameter name="n">${n + 10}</camunda:inputParameter>
  <camunda:inputParameter name="what">inner</camunda:inputParameter>
</camunda:inputOutput></bpmn:extensionElements>"""
ROW = model(start(), service("pay"), service("pack", inner=INNER), end(), flows("start -> pay -> pack -> end"))
# Rows of variables that the transaction has looked at, by an index or without.
READ = """
SELECT pg_stat_get_xact_tuples_fetched('variables'::regclass) + pg_stat_get_xact_tuples_returned('variables'::regclass)
       + (SELECT sum(pg_stat_get_xact_tuples_fetched(indexrelid)) FROM pg_index
          WHERE indrelid = 'variables'::regclass)::integer
"""
LARGE = list(range(10_000))
ALL = {"n": 1, "order": {"a": 1}, "large": LARGE}


@pytest.fixture
def row(world) -> UUID:
    world.deploy(ROW)
    return world.start(variables=ALL)


def fetch(names: Any, topic: str = "pay", **said: Any) -> engine.LockedTask:
    (task,) = engine.fetch_and_lock({topic: Topic(variables=names)}, worker="w", **said)
    return task


@pytest.mark.parametrize(
    ("names", "given"),
    [
        (None, ALL),
        ([], {}),
        (["n"], {"n": 1}),
        (("order", "n", "n"), {"n": 1, "order": {"a": 1}}),
        (["nobody's", "N"], {}),
        (["nobody's", "large"], {"large": LARGE}),
    ],
)
def test_a_fetch_gives_what_was_named(world, row, names, given):
    assert fetch(names).variables == given


def test_the_nearest_of_a_name_is_given(world, row):
    engine.complete_task(fetch([]).id, worker="w")
    task = fetch(["n", "what"], "pack")
    assert task.variables == {"n": 11, "what": "inner"}
    assert world.ask("SELECT bpm_sees(instance_id, token_id) ->> 'n' FROM external_tasks WHERE id = %s", task.id) == [
        ("11",)
    ], "what an older program calls is still there"


def test_each_topic_has_its_own(world):
    ways = [model(start(), service(topic), end(), flows(f"start -> {topic} -> end")) for topic in ("a", "b", "c")]
    for way in ways:
        world.deploy(way)
        world.start(variables={"x": 1, "y": 2})
    topics = {"a": Topic(lock_seconds=5, variables=["x"]), "b": 7, "c": Topic(variables=[])}
    found = {task.topic: task for task in engine.fetch_and_lock(topics, worker="w", max=10, lock_seconds=90)}
    assert {topic: task.variables for topic, task in found.items()} == {"a": {"x": 1}, "b": {"x": 1, "y": 2}, "c": {}}
    until = {topic: task.lock_expire_at for topic, task in found.items()}
    assert [(until[topic] - until["a"]).total_seconds() for topic in "abc"] == [0, 2, 85]


def test_the_database_sends_no_others(world, row):
    task = fetch(["n"])

    def size(names: list[str] | None) -> int:
        return world.ask("SELECT length(bpm_sees(%s, %s, %s)::text)", row, task.token_id, names)[0][0]

    assert size(None) > 50_000
    assert (size(["n"]), size([])) == (len('{"n": 1}'), len("{}"))


def test_others_are_not_even_read(world, row):
    token = fetch([]).token_id
    engine.set_variables(row, {f"v{number}": number for number in range(200)}, actor="ann")

    def rows(names: list[str] | None) -> int:
        """So many rows of variables are looked at."""
        with transaction.atomic():
            before = world.ask(READ)[0][0]
            world.ask("SELECT bpm_sees(%s, %s, %s)", row, token, names)
            return world.ask(READ)[0][0] - before

    assert (rows(["n", "v1", "nobody's"]), rows([]), rows(None)) == (2, 0, 203)


@pytest.mark.parametrize("forgetful", [False, True])
def test_the_next_task_comes_with_what_was_named(world, row, forgetful):
    task = fetch([])
    if forgetful:
        MEMORY.forget(row)
    topics = {"pack": Topic(variables=["n", "nobody's", "what"])}
    _, pack = engine.complete_and_lock_next(task.id, topics, worker="w", key="k")
    assert pack is not None and pack.variables == {"n": 11, "what": "inner"}
    MEMORY.forget(row)
    again, same = engine.complete_and_lock_next(task.id, topics, worker="w", key="k")
    assert (again.repeated, same) == (True, pack)
    # Other names change nothing in the instance, so that the key stands for the same.
    again, fewer = engine.complete_and_lock_next(task.id, {"pack": Topic(variables=["n"])}, worker="w", key="k")
    assert again.repeated and fewer is not None and fewer.variables == {"n": 11}


def test_a_fetch_asked_again_gives_the_same(world, row):
    task = fetch(["order"], key="k")
    assert task.variables == {"order": {"a": 1}}
    assert fetch(["order"], key="k") == task
    for other in (["n"], [], None):
        with pytest.raises(engine.KeyConflict):
            fetch(other, key="k")


def test_a_list_and_its_key_mean_what_they_did(world, row):
    (task,) = engine.fetch_and_lock(["pay"], worker="w", key="k")
    assert task.variables == ALL
    assert engine.fetch_and_lock(["pay"], worker="w", key="k") == [task]


@pytest.mark.parametrize(
    "names",
    [
        "order", b"order", 5, {"order": 1}, ["order", 5], [None], [["order"]], [""], ["a\x00b"], ["\ud800"],
        ["x" * (NAME_LIMIT + 1)], [f"v{number}" for number in range(MOST_NAMES + 1)],
    ],
)  # fmt: skip
def test_names_that_make_no_sense(world, row, names):
    with pytest.raises(engine.Invalid, match="variable"):
        fetch(names)
    task = fetch([])
    with pytest.raises(engine.Invalid, match="variable"):
        engine.complete_and_lock_next(task.id, {"pack": Topic(variables=names)}, worker="w")
    assert world.where(row) == ["pay"]


@pytest.mark.parametrize("how", ["60", 0, True, Topic(lock_seconds=0), Topic(lock_seconds="60"), ["order"]])
def test_topics_that_make_no_sense(world, row, how):
    with pytest.raises(engine.Invalid, match="lock_seconds"):
        engine.fetch_and_lock({"pay": how}, worker="w")


def test_any_text_is_a_name(world):
    names = ["{a,b}", 'say "x"', "NULL", "a\\b", "', 1); --", "x" * NAME_LIMIT, " ", "ä"]
    world.deploy(ROW)
    world.start(variables={name: place for place, name in enumerate(names)} | {"n": 1})
    assert fetch(names).variables == {name: place for place, name in enumerate(names)}


def test_a_handler_names_what_it_needs(world, row, monkeypatch):
    monkeypatch.setattr(handlers, "_HANDLERS", {})
    seen: dict[str, dict[str, Any]] = {}

    @external_task("pay", variables=["order"])
    def pay(task):
        seen["pay"] = dict(task.variables)
        return {"n": 2}

    @external_task("pack", variables=[])
    def pack(task):
        seen["pack"] = dict(task.variables)

    assert running.run_one("pay", beside=("pay", "pack")) == 2
    assert seen == {"pay": {"order": {"a": 1}}, "pack": {}}
    assert world.variables(row)["large"] == LARGE


@pytest.mark.parametrize("names", ["order", [5], [""], ["\x00"], ["x" * 256], [f"v{number}" for number in range(101)]])
def test_a_handler_whose_names_make_no_sense_is_not_registered(names):
    with pytest.raises(ValueError, match="variables of the handler of 'tests-named' must be"):
        external_task("tests-named", variables=names)
    assert handlers.handler("tests-named") is None
