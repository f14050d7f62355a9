"""Operators: what they do is done at once, kept with who and why, and refused with a reason where it makes no sense."""

from __future__ import annotations

from uuid import uuid4

import pytest

from bpm import engine
from tests.database.engine.drawing import end, flows, model, parallel, service, start, user

LOOK = model(start(), user("look", 'camunda:candidateGroups="office"'), end(), flows("start -> look -> end"))


@pytest.fixture
def look(world):
    world.deploy(LOOK)
    return world.start()


def test_a_person_claims_gives_back_and_completes(world, look):
    task = world.only("user_tasks", look)
    engine.claim_task(task, "anna")
    with pytest.raises(engine.Refused) as refusal:
        engine.claim_task(task, "bert")
    assert refusal.value.code == "wrong_user"
    engine.unclaim_task(task, actor="anna")
    engine.claim_task(task, "bert")
    engine.complete_user_task(task, actor="bert", variables={"ok": True})
    assert world.state(look) == "COMPLETED"
    with pytest.raises(engine.Refused):
        engine.complete_user_task(task, actor="bert")


def test_a_suspended_instance_stands_still(world):
    world.deploy(model(start(), service("pay"), end(), flows("start -> pay -> end")))
    instance = world.start()
    engine.suspend_instance(instance, actor="operator", reason="audit")
    assert world.state(instance) == "SUSPENDED"
    assert engine.fetch_and_lock(["pay"], worker="w") == []
    with pytest.raises(engine.Refused):
        engine.suspend_instance(instance, actor="operator")
    engine.resume_instance(instance, actor="operator")
    world.work("pay")
    assert world.state(instance) == "COMPLETED"


def test_cancelling_ends_everything_and_keeps_who_and_why(world):
    ways = flows("start -> fork", "fork -> a -> join", "fork -> b -> join", "join -> end")
    world.deploy(model(start(), parallel("fork"), parallel("join"), service("a"), user("b"), end(), ways))
    instance = world.start()
    record = engine.cancel_instance(instance, actor="operator", reason="sent twice")
    assert world.state(instance) == "CANCELLED"
    assert world.where(instance) == []
    said = world.ask("SELECT actor, stated_reason FROM runtime_commit WHERE sequence = %s", record.sequence)
    assert said == [("operator", "sent twice")]
    with pytest.raises(engine.Refused) as refusal:
        engine.cancel_instance(instance, actor="operator")
    assert refusal.value.code == "not_running"


def test_variables_are_set_and_unset(world, look):
    engine.set_variables(look, {"a": 1, "b": 2}, actor="operator")
    engine.set_variables(look, {"a": 3}, unset=["b"], actor="operator")
    assert world.variables(look) == {"a": 3}
    with pytest.raises(engine.InvalidVariables):
        engine.set_variables(look, {"a": float("inf")}, actor="operator")


@pytest.mark.parametrize(
    "verb",
    [
        lambda id: engine.cancel_instance(id, actor="o"),
        lambda id: engine.suspend_instance(id, actor="o"),
        lambda id: engine.resume_instance(id, actor="o"),
        lambda id: engine.set_variables(id, {"a": 1}, actor="o"),
        lambda id: engine.retry_incident(id, actor="o"),
        lambda id: engine.claim_task(id, "o"),
        lambda id: engine.complete_user_task(id, actor="o"),
    ],
)
def test_unknown_ids_are_not_found(world, verb):
    for id in (uuid4(), "nonsense"):
        with pytest.raises(engine.NotFound):
            verb(id)


def test_nobody_acts_without_a_name(world, look):
    for nobody in ("", "\x00", "x" * 1000):
        with pytest.raises(engine.Invalid):
            engine.cancel_instance(look, actor=nobody)
    assert world.state(look) == "RUNNING"
