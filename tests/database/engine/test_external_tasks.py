"""External tasks: who gets them, who may answer, and what a failure leads to."""

from __future__ import annotations

from uuid import uuid4

import pytest

from bpm import engine
from bpm.store import ids
from tests.database.engine.drawing import boundary, end, error, flows, model, service, start

ERROR = '<bpmn:error id="no" errorCode="NO"/>'
PAY = model(
    start(),
    service("pay"),
    boundary("declined", "pay", error("no")),
    end(),
    end("rejected"),
    flows("start -> pay -> end", "declined -> rejected"),
    before=ERROR,
)


@pytest.fixture
def pay(world):
    world.deploy(PAY)
    return world.start(variables={"amount": 5})


def fetch(worker="w", seconds=60.0):
    (task,) = engine.fetch_and_lock(["pay"], worker=worker, lock_seconds=seconds)
    return task


def test_a_task_is_done_and_the_token_goes_on(world, pay):
    task = fetch()
    assert (task.topic, task.node_id, task.instance_id, task.variables) == ("pay", "pay", pay, {"amount": 5})
    record = engine.complete_task(task.id, worker="w", variables={"paid": True})
    assert world.state(pay) == "COMPLETED"
    assert world.variables(pay) == {"amount": 5, "paid": True}
    assert world.ask("SELECT actor FROM runtime_commit WHERE sequence = %s", record.sequence) == [("w",)]
    assert world.events(pay, "TASK_CREATED", "TASK_LOCKED", "TASK_COMPLETED") == [
        "TASK_CREATED",
        "TASK_LOCKED",
        "TASK_COMPLETED",
    ]


def test_the_more_urgent_goes_first_then_the_older(world):
    task = service("pay", attributes='camunda:taskPriority="${urgent}"')
    world.deploy(model(start(), task, end(), flows("start -> pay -> end")))
    first, second, third = (world.start(variables={"urgent": urgent}) for urgent in (0, 7, 7))
    found = [fetch().instance_id for _ in range(3)]
    assert found == [second, third, first]
    assert engine.fetch_and_lock(["pay"], worker="w") == []


def test_nobody_gets_a_task_twice(world, pay):
    fetch("one")
    assert engine.fetch_and_lock(["pay"], worker="two") == []


@pytest.mark.parametrize("verb", ["complete", "fail", "error", "extend"])
def test_only_the_holder_answers(world, pay, verb):
    task = fetch("one")
    refused(verb, task.id, "two", "wrong_worker")
    assert world.where(pay) == ["pay"]


@pytest.mark.parametrize("verb", ["complete", "fail", "error", "extend"])
def test_a_lock_that_ran_out_counts_for_nothing(world, pay, verb):
    task = fetch(seconds=10)
    world.move_clock(11)
    refused(verb, task.id, "w", "lock_expired")
    assert engine.release_expired_locks() == {"locks": 1}
    refused(verb, task.id, "w", "not_locked")
    assert world.events(pay, "TASK_TIMED_OUT") == ["TASK_TIMED_OUT"]
    again = fetch("other")
    engine.complete_task(again.id, worker="other")
    assert world.state(pay) == "COMPLETED"
    refused(verb, task.id, "other", "not_running", "wrong_state")


def test_extending_holds_it_longer(world, pay):
    task = fetch(seconds=10)
    engine.extend_lock(task.id, worker="w", seconds=100)
    world.move_clock(50)
    assert engine.release_expired_locks() == {"locks": 0}
    engine.complete_task(task.id, worker="w")
    assert world.events(pay, "TASK_EXTENDED") == ["TASK_EXTENDED"]


def test_giving_it_back_makes_it_ready(world, pay):
    task = fetch("one")
    with pytest.raises(engine.Refused):
        engine.unlock_task(task.id, worker="two", actor="two")
    engine.unlock_task(task.id, worker="one", actor="one")
    assert fetch("two").id == task.id
    engine.unlock_task(task.id, actor="operator")
    assert fetch("three").id == task.id


def test_failures_count_down_to_an_incident_and_an_operator_lets_it_go_on(world, pay):
    for left in (2, 1, 0):
        engine.fail_task(fetch().id, worker="w", message="timeout", details="trace")
        assert world.ask("SELECT retries FROM external_tasks") == [(left,)]
    assert engine.fetch_and_lock(["pay"], worker="w") == []
    incident = world.only("incidents", pay, state="OPEN")
    assert world.ask("SELECT message FROM incidents") == [("timeout",)]
    engine.retry_incident(incident, retries=2, actor="operator", reason="gateway is back")
    world.work("pay")
    assert world.state(pay) == "COMPLETED"
    assert world.events(pay, "TASK_FAILED", "TASK_RETRIED") == ["TASK_FAILED", "TASK_RETRIED"] * 3
    with pytest.raises(engine.Refused):
        engine.retry_incident(incident, actor="operator")


def test_a_pause_after_a_failure(world, pay):
    engine.fail_task(fetch().id, worker="w", message="busy", retry_after=30)
    assert engine.fetch_and_lock(["pay"], worker="w") == []
    world.move_clock(31)
    assert fetch().retries == 2


def test_the_models_own_pauses(world):
    cycle = "<camunda:failedJobRetryTimeCycle>PT10S,PT5M</camunda:failedJobRetryTimeCycle>"
    cycle = f"<bpmn:extensionElements>{cycle}</bpmn:extensionElements>"
    world.deploy(model(start(), service("pay", inner=cycle), end(), flows("start -> pay -> end")))
    world.start()
    engine.fail_task(fetch().id, worker="w")
    world.move_clock(9)
    assert engine.fetch_and_lock(["pay"], worker="w") == []
    world.move_clock(11)
    assert fetch().retries >= 1


def test_an_error_takes_its_path_and_an_unknown_one_fails_the_instance(world, pay):
    engine.throw_task_error(fetch().id, worker="w", code="NO", message="declined", variables={"why": "limit"})
    assert world.state(pay) == "COMPLETED"
    assert world.variables(pay)["why"] == "limit"
    other = world.start()
    engine.throw_task_error(fetch().id, worker="w", code="WHAT")
    assert world.state(other) == "FAILED"


def test_a_receipt_makes_completing_twice_harmless(world, pay):
    task = fetch()
    first = engine.complete_task(task.id, worker="w", variables={"n": 1}, key="k")
    again = engine.complete_task(task.id, worker="w", variables={"n": 1}, key="k")
    assert again.sequence == first.sequence
    with pytest.raises(engine.KeyConflict):
        engine.complete_task(task.id, worker="w", variables={"n": 2}, key="k")


def test_an_expression_that_fails_afterwards_does_not_undo_the_completion(world):
    both = flows("start -> pay -> end", "pay -> other", pay_end="${wanted > 1}", pay_other="${wanted &lt; 1}")
    world.deploy(model(start(), service("pay"), end(), end("other"), both))
    instance = world.start()
    engine.complete_task(fetch().id, worker="w", variables={"paid": True})
    assert world.variables(instance) == {"paid": True}
    assert world.events(instance, "TASK_COMPLETED", "INCIDENT_OPENED") == ["TASK_COMPLETED", "INCIDENT_OPENED"]
    engine.set_variables(instance, {"wanted": 3}, actor="operator")
    engine.retry_incident(world.only("incidents", instance), actor="operator")
    assert world.state(instance) == "COMPLETED"


@pytest.mark.parametrize("verb", ["complete", "fail", "error", "extend"])
def test_unknown_ids(world, pay, verb):
    refused(verb, uuid4(), "w", "not_found")
    refused(verb, ids.entity(pay, 999), "w", "not_found")
    refused(verb, "no id", "w", "not_found")


def test_variables_that_are_none_leave_the_task_with_its_worker(world, pay):
    task = fetch()
    before = world.ask("SELECT count(*) FROM runtime_commit")
    for wrong in ({"x": float("nan")}, {"x": "\x00"}, {"x": object()}, {"x": "y" * 5_000_000}, ["no map"]):
        with pytest.raises(engine.InvalidVariables):
            engine.complete_task(task.id, worker="w", variables=wrong)
    assert world.ask("SELECT count(*) FROM runtime_commit") == before
    engine.complete_task(task.id, worker="w")


@pytest.mark.parametrize(
    "said",
    [
        {"topics": []},
        {"topics": "pay"},
        {"worker": ""},
        {"worker": "\x00"},
        {"max": 0},
        {"max": 10_000},
        {"lock_seconds": 0},
        {"lock_seconds": float("inf")},
        {"lock_seconds": float("nan")},
    ],
)
def test_senseless_fetches(world, said):
    with pytest.raises(engine.Invalid):
        engine.fetch_and_lock(**({"topics": ["pay"], "worker": "w"} | said))


def refused(verb, id, worker, *codes):
    """The verb is refused with one of the codes."""
    verbs = {
        "complete": lambda: engine.complete_task(id, worker=worker),
        "fail": lambda: engine.fail_task(id, worker=worker, message="no"),
        "error": lambda: engine.throw_task_error(id, worker=worker, code="NO"),
        "extend": lambda: engine.extend_lock(id, worker=worker),
    }
    with pytest.raises(engine.EngineError) as refusal:
        verbs[verb]()
    assert refusal.value.code in codes
    assert refusal.value.message
