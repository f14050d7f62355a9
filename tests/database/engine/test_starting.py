"""Starting: once for each key, together with what the caller's transaction does, and refused with the reason."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from bpm import engine
from tests.database.engine.drawing import end, flows, model, parallel, service, start, user

ONE_TASK = model(start(), service("pay"), end(), flows("start -> pay -> end"))
UNKNOWN = "0b331559-f839-4cf0-b4a8-384ea57ace86"


def test_an_instance_starts_and_waits(world):
    world.deploy(ONE_TASK)
    record = engine.start("p", variables={"amount": 1.10}, business_key="A-1", actor="anna", reason="asked by phone")
    assert world.state(record.thread_id) == "RUNNING"
    assert world.where(record.thread_id) == ["pay"]
    assert str(world.variables(record.thread_id)["amount"]) == "1.1"
    said = world.ask(
        "SELECT actor, stated_reason, command FROM runtime_commit WHERE thread_id = %s ORDER BY version",
        record.thread_id,
    )
    assert said[0] == ("anna", "asked by phone", "StartInstance")
    assert "pay" in [topic for announcement in world.announced for topic in announcement.topics]


def test_the_newest_version_is_started_unless_another_is_named(world):
    world.deploy(ONE_TASK)
    world.deploy(model(start(), user("look"), end(), flows("start -> look -> end")))
    assert world.where(world.start()) == ["look"]
    assert world.where(world.start(version=1)) == ["pay"]
    for none in (0, -1, 3, 10**30):
        with pytest.raises(engine.NotFound):
            world.start(version=none)


def test_the_same_key_starts_once(world):
    world.deploy(ONE_TASK)
    first = engine.start("p", variables={"x": 1}, actor="anna", key="request-1")
    again = engine.start("p", variables={"x": 1}, actor="anna", key="request-1")
    assert (again.thread_id, again.sequence) == (first.thread_id, first.sequence)
    assert world.ask("SELECT count(*) FROM process_instances")[0][0] == 1
    other = engine.start("p", variables={"x": 1}, actor="bert", key="request-1")
    assert other.thread_id != first.thread_id


def test_the_same_key_with_other_content_is_refused(world):
    world.deploy(ONE_TASK)
    engine.start("p", variables={"x": 1}, actor="anna", key="request-1")
    with pytest.raises(engine.KeyConflict):
        engine.start("p", variables={"x": 2}, actor="anna", key="request-1")


def test_two_at_once_with_one_key_are_one_instance(world):
    world.deploy(ONE_TASK)
    found, both = [], threading.Barrier(2)

    def begin() -> None:
        both.wait()
        try:
            found.append(engine.start("p", actor="anna", key="at once").thread_id)
        finally:
            connection.close()

    threads = [threading.Thread(target=begin) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert len(set(found)) == 1
    assert world.ask("SELECT count(*) FROM process_instances")[0][0] == 1


@pytest.mark.parametrize(
    ("process", "said", "code"),
    [
        ("nothing", {}, "not_found"),
        ("p", {"version": 9}, "not_found"),
        (UNKNOWN, {}, "not_found"),
        ("p", {"variables": {"x": float("nan")}}, "invalid_variables"),
        ("p", {"variables": {"x": "\x00"}}, "invalid_variables"),
        ("p", {"business_key": "\x00"}, "invalid"),
        ("p", {"business_key": "x" * 10_000}, "invalid"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(world, process, said, code):
    world.deploy(ONE_TASK)
    before = world.ask("SELECT count(*) FROM runtime_commit")
    with pytest.raises(engine.EngineError) as refusal:
        engine.start(process, actor="anna", **said)
    assert refusal.value.code == code
    assert world.ask("SELECT count(*) FROM runtime_commit") == before


def test_order_and_instance_succeed_together(world):
    world.deploy(ONE_TASK)
    with transaction.atomic():
        Group.objects.create(name="order")
        instance = world.start()
        assert world.announced == []
    assert world.announced != []
    assert world.state(instance) == "RUNNING"
    assert world.where(instance) == ["pay"]


def test_order_and_instance_fail_together(world):
    world.deploy(ONE_TASK)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        Group.objects.create(name="order")
        world.start()
        1 / 0  # noqa: B018
    assert not Group.objects.filter(name="order").exists()
    assert world.ask("SELECT count(*) FROM process_instances")[0][0] == 0
    assert world.announced == []


def test_a_block_touches_one_instance_and_may_publish(world):
    world.deploy(ONE_TASK)
    with pytest.raises(engine.EngineError, match="instance") as refusal, transaction.atomic():
        world.start()
        world.start()
    assert refusal.value.code == "second_instance"
    with transaction.atomic():
        instance = world.start()
        engine.publish("anything", actor="anna", ttl=60)
    assert world.state(instance) == "RUNNING"


def test_a_large_instance_goes_on_where_the_process_stopped(world):
    """What is not advanced at once is announced, and the schedulers find it without being told."""
    names = [f"t{n}" for n in range(40)]
    fork = ['<bpmn:parallelGateway id="fork"/>', '<bpmn:parallelGateway id="join"/>']
    tasks = [service(name, "same") for name in names]
    ways = [f"fork -> {name} -> join" for name in names]
    world.deploy(model(start(), *fork, *tasks, end(), flows("start -> fork", *ways, "join -> end")))
    instance = world.start()
    while engine.advance_left_behind(older_than=0)["tokens"]:
        pass
    assert sorted(world.where(instance)) == sorted(["fork", *names])
    assert world.work("same") == 40
    while engine.advance_left_behind(older_than=0)["tokens"]:
        pass
    assert world.state(instance) == "COMPLETED"
    assert world.events(instance, "TOKEN_JOINED") == ["TOKEN_JOINED"]


@pytest.mark.django_db
def test_an_ordinary_test_of_a_user_needs_no_real_commit():
    """In Django's TestCase everything happens in one transaction that is taken back: what follows, follows at once."""
    fork = flows("start -> fork", "fork -> a -> join", "fork -> b -> join", "join -> end")
    engine.deploy(
        {"p.bpmn": model(start(), parallel("fork"), parallel("join"), service("a"), service("b"), end(), fork)},
        actor="t",
    )
    instances = {engine.start("p", actor="t").thread_id for _ in range(2)}
    found = engine.fetch_and_lock(["a", "b"], worker="w", max=10)
    assert {task.instance_id for task in found} == instances
    for task in found:
        engine.complete_task(task.id, worker="w")
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT state FROM process_instances")
        assert cursor.fetchall() == [("COMPLETED",)]
    connection.check_constraints()
