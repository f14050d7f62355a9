"""A worker that goes on with the next task of the same instance: locked by the commit that completes the last one."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from bpm import engine
from bpm.audit.replaying import replay_stored
from bpm.engine import acting
from bpm.engine.step import MEMORY
from bpm.jobs import running
from bpm.jobs.handlers import TaskContext, external_task
from bpm.jobs.queues import consumed, queue_of
from bpm.store import claims
from tests.database.engine.drawing import catch, end, flows, model, parallel, service, signal, start, throw

INPUT = """<bpmn:extensionElements><camunda:inputOutput>
  <camunda:inputParameter name="what">${n + 1}</camunda:inputParameter>
</camunda:inputOutput></bpmn:extensionElements>"""
ROW = model(
    start(), service("pay"), service("pack", inner=INPUT), service("ship"), end(),
    flows("start -> pay -> pack -> ship -> end"),
)  # fmt: skip
TOPICS = ("pay", "pack", "ship")


@pytest.fixture
def row(world) -> UUID:
    world.deploy(ROW)
    return world.start(variables={"n": 1, "order": {"b": [1.50], "a": None}}, business_key="o-1")


def first(worker: str = "w") -> engine.LockedTask:
    (task,) = engine.fetch_and_lock(["pay"], worker=worker)
    return task


def on(task: engine.LockedTask, **said: Any) -> engine.LockedTask:
    """The task that the worker goes on with."""
    _, following = engine.complete_and_lock_next(task.id, TOPICS, worker=task.worker, **said)
    assert following is not None
    return following


def commits(world) -> list[str]:
    return [command for (command,) in world.ask("SELECT command FROM runtime_commit ORDER BY sequence")]


@pytest.mark.parametrize("forgetful", [False, True])
def test_one_commit_completes_the_one_and_locks_the_other(world, row, forgetful):
    task = first()
    if forgetful:
        MEMORY.forget(row)
    record, pack = engine.complete_and_lock_next(task.id, {"pack": 30, "ship": 5}, worker="w", variables={"n": 2})
    assert pack is not None
    assert (pack.topic, pack.worker, pack.version, pack.sequence) == ("pack", "w", 1, record.sequence)
    assert pack.variables == {"n": 2, "what": 3, "order": {"b": [engine.loads("1.50")], "a": None}}
    assert (pack.lock_expire_at - record.at).total_seconds() == 30
    assert world.events(row, "TASK_CREATED", "TASK_LOCKED", "TASK_COMPLETED") == [
        "TASK_CREATED", "TASK_LOCKED", "TASK_COMPLETED", "TASK_CREATED", "TASK_LOCKED",
    ]  # fmt: skip
    assert record.topics == ()
    assert [one for one in world.announced if "pack" in one.topics] == []

    # What it says is what a fetch says.
    engine.unlock_task(pack.id, worker="w", actor="w")
    (fetched,) = engine.fetch_and_lock(["pack"], worker="w", lock_seconds=30)
    changed = ("version", "sequence", "lock_expire_at")
    assert replace(pack, **{name: getattr(fetched, name) for name in changed}) == fetched
    assert list(pack.variables) == list(fetched.variables)


def test_the_lock_is_real(world, row):
    pack = on(first())
    assert engine.fetch_and_lock(TOPICS, worker="other") == []
    with pytest.raises(engine.Refused) as refused:
        engine.complete_task(pack.id, worker="other")
    assert refused.value.code == "wrong_worker"
    world.move_clock(61)
    assert engine.release_expired_locks() == {"locks": 1}
    (again,) = engine.fetch_and_lock(["pack"], worker="other")
    assert again.id == pack.id


def test_to_the_end_it_takes_a_commit_a_task_and_replays(world, row):
    ship = on(on(first(), variables={"n": 5}))
    assert engine.complete_and_lock_next(ship.id, TOPICS, worker="w")[1] is None
    assert world.state(row) == "COMPLETED"
    assert commits(world)[-4:] == ["FetchAndLock", *["CompleteExternalTask"] * 3]
    (outcome,) = replay_stored([row], again=True)
    assert outcome.problems == ()
    with connection.cursor() as cursor:
        cursor.execute("SELECT arguments ->> 'next_topics' FROM runtime_commit WHERE command = 'CompleteExternalTask'")
        assert engine.loads(cursor.fetchone()[0]) == dict.fromkeys(TOPICS, 60)


def test_who_asks_again_gets_the_same_task_while_it_is_held(world, row):
    task = first()
    record, pack = engine.complete_and_lock_next(task.id, TOPICS, worker="w", key="k")
    MEMORY.forget(row)
    again, same = engine.complete_and_lock_next(task.id, TOPICS, worker="w", key="k")
    assert (again.repeated, again.sequence, same) == (True, record.sequence, pack)
    with pytest.raises(engine.KeyConflict):
        engine.complete_and_lock_next(task.id, ["ship"], worker="w", key="k")
    assert pack is not None
    engine.complete_task(pack.id, worker="w")
    assert engine.complete_and_lock_next(task.id, TOPICS, worker="w", key="k")[1] is None


def asked_for(world) -> Any:
    """The topics to go on with, as the log keeps them."""
    said = world.ask("SELECT arguments ->> 'next_topics' FROM runtime_commit WHERE command = 'CompleteExternalTask'")
    return None if said[0][0] is None else engine.loads(said[0][0])


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"pack": 30, "elsewhere": 5, "ship": 2.5}, {"pack": 30, "ship": engine.loads("2.5")}),
        ({"elsewhere": 5}, None),
    ],
)
def test_the_log_keeps_the_topics_that_the_process_has(world, row, asked, kept):
    _, pack = engine.complete_and_lock_next(first().id, asked, worker="w")
    assert (asked_for(world), pack is not None) == (kept, "pack" in asked)
    (outcome,) = replay_stored([row], again=True)
    assert outcome.problems == ()


def test_a_topic_that_is_computed_may_be_any(world):
    tasks = [service("pay"), service("pack", topic="${which}")]
    world.deploy(model(start(), *tasks, end(), flows("start -> pay -> pack -> end")))
    world.start(variables={"which": "by hand"})
    _, pack = engine.complete_and_lock_next(first().id, {"by hand": 7, "elsewhere": 5}, worker="w")
    assert pack is not None and pack.topic == "by hand"
    assert asked_for(world) == {"by hand": 7, "elsewhere": 5}


def test_who_asks_again_after_a_migration_is_known(world, row):
    task = first()
    asked = {"pack": 30, "wrap": 5, "elsewhere": 5}
    record, pack = engine.complete_and_lock_next(task.id, asked, worker="w", key="k")
    world.deploy(ROW.replace(b'topic="ship"', b'topic="wrap"'))
    engine.migrate_instance(row, actor="ann")
    again, same = engine.complete_and_lock_next(task.id, asked, worker="w", key="k")
    assert (again.repeated, again.sequence, same and same.id) == (True, record.sequence, pack and pack.id)
    with pytest.raises(engine.KeyConflict):
        engine.complete_and_lock_next(task.id, {"pack": 30}, worker="w", key="k")
    assert pack is not None
    _, wrap = engine.complete_and_lock_next(pack.id, asked, worker="w")
    assert wrap is not None and wrap.topic == "wrap"


SIGNAL = '<bpmn:signal id="over" name="over"/>'


@pytest.fixture
def told(world) -> UUID:
    """Completing the one tells of it, and whoever hears that ends the instance."""
    one = (service("pay"), throw("told", signal("over")), service("pack"), end())
    other = (catch("heard", signal("over")), end("all", '<bpmn:terminateEventDefinition id="now"/>'))
    ways = flows("start -> f -> pay -> told -> pack -> end", "f -> heard -> all")
    world.deploy(model(start(), parallel("f"), *one, *other, ways, before=SIGNAL))
    return world.start()


def test_a_task_that_what_followed_took_away_is_not_told_of(world, told):
    record, pack = engine.complete_and_lock_next(first().id, TOPICS, worker="w")
    assert "TASK_LOCKED" in [event.type for event in record.events]
    assert (pack, world.state(told)) == (None, "COMPLETED")


@pytest.mark.parametrize(("seconds", "held"), [(59, True), (61, False)])
def test_a_lock_that_ran_out_while_others_were_served_is_not_told_of(world, told, monkeypatch, seconds, held):
    monkeypatch.setattr(acting, "follow", lambda *_, **__: world.move_clock(seconds))
    _, pack = engine.complete_and_lock_next(first().id, TOPICS, worker="w")
    assert (pack is not None) == held


def test_where_nothing_follows_nothing_is_asked(world, handled, monkeypatch):
    monkeypatch.delattr(claims, "still_locked")
    assert running.run_one("next.a", beside=LOCAL) == 3


def test_what_is_cut_off_locks_nothing(world, row):
    task = first()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        assert on(task).topic == "pack"
        raise ZeroDivisionError
    assert world.ask("SELECT node_id, state FROM external_tasks") == [("pay", "LOCKED")]
    with transaction.atomic():
        pack = on(task)
    assert world.ask("SELECT state FROM external_tasks WHERE id = %s", pack.id) == [("LOCKED",)]


@pytest.mark.parametrize("topics", [[], "pack", {}, {"pack": 0}, {"pack": "long"}, {"": 5}, [7], {"pack": 1e9}])
def test_topics_that_make_no_sense_are_refused(world, row, topics):
    task = first()
    with pytest.raises(engine.Invalid):
        engine.complete_and_lock_next(task.id, topics, worker="w")
    assert world.where(row) == ["pay"]


DONE: list[str] = []
FAULTS: dict[str, Exception] = {}
LOCAL = ("next.a", "next.b", "next.c")


def handle(task: TaskContext) -> dict[str, Any]:
    DONE.append(task.topic)
    if task.topic in FAULTS:
        raise FAULTS.pop(task.topic)
    return {"last": task.topic}


for topic in LOCAL:
    external_task(topic, lock_seconds=20)(handle)


@pytest.fixture
def handled(world) -> UUID:
    tasks = [service(name, topic=f"next.{name}") for name in "abc"]
    world.deploy(model(start(), *tasks, end(), flows("start -> a -> b -> c -> end")))
    DONE.clear()
    FAULTS.clear()
    return world.start()


def test_handlers_follow_each_other_in_one_go(world, handled):
    before = len(commits(world))
    assert running.run_one("next.a", beside=LOCAL) == 3
    assert (DONE, world.state(handled)) == (list(LOCAL), "COMPLETED")
    assert commits(world)[before:] == ["FetchAndLock", *["CompleteExternalTask"] * 3]
    assert world.variables(handled) == {"last": "next.c"}
    said = world.ask("SELECT arguments ->> 'next_topics' FROM runtime_commit WHERE command = 'CompleteExternalTask'")
    assert engine.loads(said[0][0]) == dict.fromkeys(LOCAL, 20)


def test_a_failure_in_the_middle_ends_the_row(world, handled):
    FAULTS["next.b"] = RuntimeError("no paper")
    assert running.run_one("next.a", beside=LOCAL) == 2
    assert world.where(handled) == ["b"]
    assert world.ask("SELECT state, retries FROM external_tasks WHERE node_id = 'b'") == [("READY", 2)]
    assert running.run_one("next.b", beside=LOCAL) == 2
    assert world.state(handled) == "COMPLETED"


def test_a_topic_that_is_not_this_workers_is_left_to_others(world, handled):
    assert running.run_one("next.a", beside=("next.a", "next.c")) == 1
    assert world.ask("SELECT state FROM external_tasks WHERE node_id = 'b'") == [("READY",)]
    assert "next.b" in world.announced[-1].topics
    assert running.run_one("next.b", beside=("next.c",)) == 2
    assert world.state(handled) == "COMPLETED"


@pytest.mark.parametrize(("limit", "value", "done"), [("IN_A_ROW", 2, 2), ("ROW_SECONDS", 0.0, 1)])
def test_a_row_is_not_for_ever(world, handled, monkeypatch, limit, value, done):
    monkeypatch.setattr(running, limit, value)
    assert running.run_one("next.a", beside=LOCAL) == done
    # The next one is ready, and told of.
    assert engine.fetch_and_lock([LOCAL[done]], worker="other") != []
    assert LOCAL[done] in world.announced[-1].topics


def test_a_row_ends_with_the_round(world, handled):
    assert running.run_one("next.a", beside=LOCAL, until=time.monotonic() - 1) == 1
    assert running.run_one("next.b", beside=LOCAL, until=time.monotonic() + 60) == 2
    assert (DONE, world.state(handled)) == (list(LOCAL), "COMPLETED")


def test_who_is_told_to_stop_ends_the_row_with_the_task_at_hand(world, handled):
    assert running.run_one("next.a", beside=LOCAL, stopped=lambda: "next.b" in DONE) == 2
    assert world.ask("SELECT state FROM external_tasks WHERE node_id = 'c'") == [("READY",)]


def test_a_worker_that_dies_in_a_row_holds_a_lock_that_runs_out(world, handled):
    FAULTS["next.b"] = SystemExit(-15)
    with pytest.raises(SystemExit):
        running.run_one("next.a", beside=LOCAL)
    assert world.ask("SELECT state FROM external_tasks WHERE node_id = 'b'") == [("LOCKED",)]
    world.move_clock(21)
    assert engine.release_expired_locks() == {"locks": 1}
    assert running.run_one("next.b", beside=LOCAL) == 2
    assert world.state(handled) == "COMPLETED"


def test_a_worker_goes_on_with_what_it_was_given_alone():
    class App:
        class amqp:
            class queues:
                consume_from = {queue_of("next.a"): None, queue_of("next.c"): None, queue_of("nobody's"): None}

    assert consumed(App) == ("next.a", "next.c")
