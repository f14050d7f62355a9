"""What the engine cannot do, each time it tries: an incident after a bounded number of tries, and nobody else waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from bpm import engine
from bpm.engine import external_tasks, follow, relay, timers, trying
from bpm.engine.acting import Entity
from bpm.jobs import running, schedule
from bpm.jobs.handlers import Registered
from bpm.semantics.commands import CompleteExternalTask
from tests.database.engine.drawing import (
    boundary,
    call,
    catch,
    cycle,
    duration,
    end,
    flows,
    message,
    model,
    parallel,
    service,
    signal,
    start,
    throw,
    user,
)

TIMER = model(start(), catch("pause", duration("PT1S")), user("look"), end(), flows("start -> pause -> look -> end"))
PAID = '<bpmn:message id="m1" name="Paid"/>'
MAIL = model(start(), catch("wait", message("m1")), end(), flows("start -> wait -> end"), before=PAID)
GO = model(
    start(), catch("hear", signal("s1")), end(), flows("start -> hear -> end"),
    before='<bpmn:signal id="s1" name="Go"/>',
)  # fmt: skip
CALLER = model(start(), call("c", "child"), end(), flows("start -> c -> end"))
CHILD = model(start(), service("pay"), end(), flows("start -> pay -> end"), id="child")
FORK = model(
    start(), parallel("fork"), service("a"), service("b"), end(), end("too"),
    flows("start -> fork", "fork -> a -> end", "fork -> b -> too"),
)  # fmt: skip
TASK = model(start(), service("pay"), end(), flows("start -> pay -> end"))
LONG = trying.TRIES + 2
SOME_TIME = datetime(2030, 1, 1, tzinfo=UTC)


@contextmanager
def poisoned(monkeypatch, module: Any, fault: Callable[[], Exception], *instances: UUID) -> Iterator[list]:
    """Steps that this module makes of these instances raise each time; how often that was."""
    step, times = module.step, []

    def fail(thread: UUID, make: Any, **said: Any) -> Any:
        if thread in instances:
            times.append(thread)
            raise fault()
        return step(thread, make, **said)

    with monkeypatch.context() as patch:
        patch.setattr(module, "step", fail)
        yield times


def incidents(world, instance: UUID, state: str = "OPEN") -> list[tuple[str, str, str]]:
    return world.ask(
        "SELECT kind, node_id, message FROM incidents WHERE instance_id = %s AND state = %s", instance, state
    )


def resolve(world, instance: UUID) -> None:
    for (incident,) in world.ask("SELECT id FROM incidents WHERE instance_id = %s AND state = 'OPEN'", instance):
        engine.retry_incident(incident, actor="olga", reason="mended")


def gone() -> Exception:
    """What the database says when the process's connection ended in the middle."""
    return OperationalError("server closed the connection unexpectedly")


def test_a_timer_that_cannot_fire(world, monkeypatch):
    world.deploy(TIMER)
    bad, good = world.start(), world.start()
    world.move_clock(5)
    with poisoned(monkeypatch, timers, ZeroDivisionError, bad) as times:
        engine.fire_due_timers(limit=1)
        assert engine.fire_due_timers(limit=1) == {"timers": 1}
        engine.fire_due_timers()
    assert len(times) == 1
    assert world.where(good) == ["look"]
    assert world.where(bad) == ["pause"]
    ((kind, node, said),) = incidents(world, bad)
    assert (kind, node) == ("blocked", "pause")
    assert "ZeroDivisionError" in said
    resolve(world, bad)
    assert engine.fire_due_timers() == {"timers": 1}
    assert world.where(bad) == ["look"]


def test_a_boundary_timer_that_cannot_fire_lets_the_task_be_done(world, monkeypatch):
    world.deploy(model(start(), service("pay"), boundary("late", "pay", duration("PT1S")), end(), end("over"),
                       flows("start -> pay -> end", "late -> over")))  # fmt: skip
    instance = world.start()
    world.move_clock(5)
    with poisoned(monkeypatch, timers, ZeroDivisionError, instance):
        engine.fire_due_timers()
    assert [node for _, node, _ in incidents(world, instance)] == ["late"]
    world.work("pay")
    assert world.state(instance) == "COMPLETED"
    assert incidents(world, instance) == []


@pytest.mark.parametrize("what", ["token", "timer", "message", "result"])
def test_what_kills_whoever_tries_it_is_given_up(world, monkeypatch, what):
    """The process ends, or its connection: nothing is left that could count, but history."""
    world.deploy(*{"token": [FORK], "timer": [TIMER], "message": [MAIL], "result": [CALLER, CHILD]}[what])
    with monkeypatch.context() as patch:
        if what == "token":
            # Whoever begins them leaves them ACTIVE.
            patch.setattr(follow.Following, "run", lambda *_: None)
        bad, good = world.start(business_key="bad"), world.start(business_key="good")
    module = {"token": follow, "timer": timers, "message": relay, "result": relay}[what]
    with poisoned(monkeypatch, module, gone, bad) as times:
        if what == "message":
            for key in ("bad", "good"):
                engine.publish("Paid", business_key=key, actor="bank", ttl=86_400)
        elif what == "result":
            world.work("pay")
        world.move_clock(60)
        for _ in range(LONG):
            for job in ("tokens", "timers", "messages"):
                schedule.run_job(job)
    found = incidents(world, bad)
    assert {kind for kind, _, _ in found} == {"engine" if what == "token" else "blocked"}
    assert all(f"in {trying.TRIES} tries" in said for _, _, said in found)
    # The message is tried once at once, when nothing is overdue yet.
    assert len(times) == trying.TRIES * len(found) + (what in ("message", "result"))
    assert incidents(world, good) == []
    after = {"token": ["fork", "a", "b"], "timer": ["look"], "message": [], "result": []}[what]
    assert world.where(good) == after
    resolve(world, bad)
    for job in ("tokens", "timers", "messages"):
        schedule.run_job(job)
    assert incidents(world, bad) == []
    assert world.where(bad) == after


@pytest.mark.parametrize("models", [[MAIL], [GO]], ids=["message", "signal"])
def test_a_message_that_cannot_be_taken(world, monkeypatch, models):
    world.deploy(*models)
    bad, good = world.start(business_key="bad"), world.start(business_key="good")
    with poisoned(monkeypatch, relay, ZeroDivisionError, bad):
        if models == [GO]:
            engine.throw_signal("Go", actor="bank")
        else:
            for key in ("bad", "good"):
                engine.publish("Paid", business_key=key, actor="bank")
        for _ in range(3):
            schedule.run_job("messages")
    assert world.state(good) == "COMPLETED"
    ((kind, _, said),) = incidents(world, bad)
    assert kind == "blocked"
    assert "ZeroDivisionError" in said
    resolve(world, bad)
    schedule.run_job("messages")
    assert world.state(bad) == "COMPLETED"


def test_a_process_that_cannot_be_started_is_told_to_its_caller(world, monkeypatch):
    world.deploy(CALLER, CHILD)
    step = relay.step

    def fail(thread: UUID, make: Any, *, definition: Any = None, **said: Any) -> Any:
        if definition is not None:
            raise ZeroDivisionError("cannot begin")
        return step(thread, make, **said)

    with monkeypatch.context() as patch:
        patch.setattr(relay, "step", fail)
        instance = world.start()
    ((_, node, said),) = incidents(world, instance)
    assert (node, "cannot begin" in said) == ("c", True)
    resolve(world, instance)
    world.work("pay")
    assert world.state(instance) == "COMPLETED"


def test_an_answer_that_the_engine_cannot_take_fails_the_task(world, monkeypatch):
    world.deploy(TASK)
    instance, other = world.start(), world.start()
    act, calls = external_tasks.act, []

    def fail(about: Entity, make: Any, **said: Any) -> Any:
        if about.instance == instance and isinstance(make(SOME_TIME), CompleteExternalTask):
            raise ZeroDivisionError("a fault of ours")
        return act(about, make, **said)

    def handle(task: Any) -> None:
        calls.append(task.instance_id)

    monkeypatch.setattr(running, "handler", lambda topic: Registered(topic, handle, 60, lambda left: 0))
    with monkeypatch.context() as patch:
        patch.setattr(external_tasks, "act", fail)
        while running.run_one("pay"):
            assert len(calls) < 20
    # As often as the task has tries, and no more; the other one is done.
    assert (calls.count(instance), calls.count(other)) == (3, 1)
    assert world.state(other) == "COMPLETED"
    ((_, _, said),) = incidents(world, instance)
    assert "a fault of ours" in said
    resolve(world, instance)
    assert running.run_one("pay")
    assert world.state(instance) == "COMPLETED"


def test_a_start_timer_that_cannot_start_says_so_and_goes_on(world, monkeypatch):
    world.deploy(
        model(start(inner=cycle("R/PT10S")), end(), flows("start -> end"), id="bad"),
        model(start(inner=cycle("R/PT10S")), end(), flows("start -> end"), id="good"),
    )
    step, busy = timers.step, iter([True, False])

    def fail(thread: UUID, make: Any, *, definition: UUID, **said: Any) -> Any:
        if world.ask("SELECT key FROM process_definitions WHERE id = %s", definition) == [("bad",)]:
            raise ZeroDivisionError("cannot begin")
        if next(busy, False):
            raise engine.Refused("others are faster", code="busy")
        return step(thread, make, definition=definition, **said)

    monkeypatch.setattr(timers, "step", fail)
    world.move_clock(11)
    assert engine.fire_start_timers() == {"started": 0}
    assert engine.fire_start_timers() == {"started": 1}
    ((said,),) = world.ask("SELECT payload ->> 'why' FROM engine_events WHERE payload ->> 'process' = 'bad'")
    assert "cannot begin" in said
    assert world.ask("SELECT count(*) FROM start_subscriptions WHERE state = 'OPEN'") == [(2,)]


def test_what_cannot_even_be_reported_blocks_nobody(world, monkeypatch):
    world.deploy(TIMER)
    bad, good = world.start(), world.start()
    world.move_clock(60)
    with poisoned(monkeypatch, timers, ZeroDivisionError, bad), poisoned(monkeypatch, trying, ZeroDivisionError, bad):
        engine.fire_due_timers(limit=1)
        assert engine.fire_due_timers(limit=1) == {"timers": 1}
    assert world.where(good) == ["look"]
    timers._RESTING.clear()
    assert engine.fire_due_timers() == {"timers": 1}


def test_a_suspended_receiver_is_no_poison(world):
    world.deploy(CALLER, CHILD)
    instance = world.start()
    engine.suspend_instance(instance, actor="olga")
    world.work("pay")
    world.move_clock(60)
    for _ in range(LONG):
        schedule.run_job("messages")
    assert world.ask("SELECT count(*) FROM engine_events WHERE payload ? 'try'") == [(0,)]
    engine.resume_instance(instance, actor="olga")
    schedule.run_job("messages")
    assert world.state(instance) == "COMPLETED"


def test_what_nobody_takes_expires(world, settings):
    thrower = model(start(), throw("tell", message("m1")), end(), flows("start -> tell -> end"), before=PAID)
    world.deploy(thrower)
    instance = world.start()
    assert world.state(instance) == "COMPLETED"
    assert world.ask("SELECT state, expires_at FROM runtime_message") == [("PENDING", None)]
    assert engine.expire_messages() == {"expired": 0}
    settings.BPM_MESSAGES_LIVE_DAYS = 2
    world.move_clock(3 * 86_400)
    assert engine.expire_messages() == {"expired": 1}
    assert world.events(instance, "MESSAGE_SENT", "MESSAGE_EXPIRED") == ["MESSAGE_SENT", "MESSAGE_EXPIRED"]


def test_messages_from_outside_leave_the_runtime_tables(world):
    world.deploy(MAIL)
    world.start(business_key="A")
    engine.publish("Paid", business_key="A", actor="bank")
    engine.publish("Paid", business_key="B", actor="bank", ttl=1)
    world.move_clock(60)
    engine.expire_messages()
    assert engine.sweep_messages() == {"swept_messages": 0}
    world.move_clock(8 * 86_400)
    assert engine.sweep_messages() == {"swept_messages": 2}
