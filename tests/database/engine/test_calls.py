"""Call activities: the called instance is one of its own, and what passes between the two passes once."""

from __future__ import annotations

import pytest

from bpm import engine
from tests.database.engine.drawing import boundary, call, end, error, flows, model, service, start, user

IN_OUT = '<camunda:in source="amount" target="sum"/><camunda:out source="paid" target="receipt"/>'
ERROR = '<bpmn:error id="no" errorCode="NO"/>'
CALLER = model(
    start(),
    call("c", "child", IN_OUT),
    boundary("failed", "c", error()),
    end(),
    user("look"),
    end("looked"),
    flows("start -> c -> end", "failed -> look -> looked"),
)
CHILD = model(start(), service("pay"), end(), flows("start -> pay -> end"), id="child")
FAILING = model(start(), service("pay"), end(inner=error("no")), flows("start -> pay -> end"), id="child", before=ERROR)


def child_of(world, instance):
    ((found,),) = world.ask("SELECT id FROM process_instances WHERE parent_instance_id = %s", instance)
    return found


def test_variables_go_in_and_come_back(world):
    world.deploy(CALLER, CHILD)
    instance = world.start(variables={"amount": 7, "secret": 1})
    assert world.where(instance) == ["c"]
    child = child_of(world, instance)
    assert world.variables(child) == {"sum": 7}
    world.work("pay", paid="yes")
    assert world.state(child) == "COMPLETED"
    assert world.state(instance) == "COMPLETED"
    assert world.variables(instance) == {"amount": 7, "secret": 1, "receipt": "yes"}


def test_an_error_that_the_child_does_not_catch_reaches_the_callers_boundary(world):
    world.deploy(CALLER, FAILING)
    instance = world.start()
    child = child_of(world, instance)
    world.work("pay")
    assert world.state(child) == "FAILED"
    assert world.where(instance) == ["look"]


def test_cancelling_the_caller_cancels_the_child(world):
    world.deploy(CALLER, CHILD)
    instance = world.start()
    child = child_of(world, instance)
    engine.cancel_instance(instance, actor="operator", reason="not wanted")
    assert world.state(instance) == "CANCELLED"
    assert world.state(child) == "CANCELLED"
    assert engine.fetch_and_lock(["pay"], worker="w") == []


def test_cancelling_the_child_leaves_an_incident_and_a_retry_calls_again(world):
    world.deploy(CALLER, CHILD)
    instance = world.start()
    first = child_of(world, instance)
    engine.cancel_instance(first, actor="operator")
    incident = world.only("incidents", instance, state="OPEN")
    engine.retry_incident(incident, actor="operator")
    world.work("pay", paid=1)
    assert world.state(instance) == "COMPLETED"
    assert world.ask("SELECT count(*) FROM process_instances WHERE parent_instance_id = %s", instance) == [(2,)]


def test_a_process_that_is_not_there_is_an_incident_until_it_is(world):
    world.deploy(CALLER)
    instance = world.start()
    assert world.ask("SELECT kind, message FROM incidents") == [("call", "there is no process child")]
    world.deploy(CHILD)
    engine.retry_incident(world.only("incidents", instance, state="OPEN"), actor="operator")
    world.work("pay")
    assert world.state(instance) == "COMPLETED"


def test_what_was_told_is_delivered_once_however_often_it_is_delivered(world, monkeypatch):
    """The process dies between sending and delivering; then two schedulers deliver."""
    monkeypatch.setattr("bpm.engine.follow.outbox.sent_by", lambda *_: [])
    world.deploy(CALLER, CHILD)
    instance = world.start(variables={"amount": 1})
    assert world.ask("SELECT count(*) FROM process_instances") == [(1,)]
    engine.deliver_pending()
    engine.deliver_pending()
    assert world.ask("SELECT count(*) FROM process_instances") == [(2,)]
    world.work("pay", paid=1)
    assert world.where(instance) == ["c"]
    engine.deliver_pending()
    engine.deliver_pending()
    assert world.state(instance) == "COMPLETED"


def test_a_child_of_a_child(world):
    middle = model(start(), call("d", "child", IN_OUT), end(), flows("start -> d -> end"), id="middle")
    outer = model(
        start(),
        call("c", "middle", '<camunda:in variables="all"/><camunda:out variables="all"/>'),
        end(),
        flows("start -> c -> end"),
    )
    world.deploy(outer, middle, CHILD)
    instance = world.start(variables={"amount": 3})
    world.work("pay", paid=3)
    assert world.state(instance) == "COMPLETED"
    assert world.variables(instance) == {"amount": 3, "receipt": 3}


def test_a_model_that_calls_itself_for_ever_holds_nothing(world):
    world.deploy(model(start(), call("c", "p"), end(), flows("start -> c -> end")))
    world.start()
    started = world.ask("SELECT count(*) FROM process_instances")[0][0]
    assert 1 < started < 150


@pytest.mark.parametrize("binding", ["version", "deployment"])
def test_a_call_may_be_bound_to_a_version(world, binding):
    attributes = 'camunda:calledElementBinding="deployment"'
    if binding == "version":
        attributes = 'camunda:calledElementBinding="version" camunda:calledElementVersion="1"'
    caller = model(start(), call("c", "child", "", attributes), end(), flows("start -> c -> end"))
    world.deploy(caller, CHILD)
    world.deploy(model(start(), user("other"), end(), flows("start -> other -> end"), id="child"))
    instance = world.start()
    assert world.where(child_of(world, instance)) == ["pay"]


def test_a_called_process_that_a_deployment_left_as_it_was_is_deployed_with_its_caller(world):
    caller = model(
        start(), call("c", "child", attributes='camunda:calledElementBinding="deployment"'), end(),
        flows("start -> c -> end"),
    )  # fmt: skip
    world.deploy(CHILD)
    world.deploy(caller, CHILD)
    instance = world.start()
    child = child_of(world, instance)
    assert world.where(child) == ["pay"]
    # A later version is not what the caller was deployed with.
    world.deploy(FAILING)
    second = child_of(world, world.start())
    versions = world.ask(
        "SELECT d.version FROM process_instances p JOIN process_definitions d ON d.id = p.process_def_id"
        " WHERE p.id = ANY (%s)",
        [child, second],
    )
    assert versions == [(1,), (1,)]


def test_a_process_that_calls_itself_ends_in_an_incident(world, settings):
    settings.BPM_DEEPEST_CALL = 3
    world.deploy(model(start(), call("c", "p"), end(), flows("start -> c -> end")))
    world.start()

    assert world.ask("SELECT count(*) FROM process_instances") == [(4,)]
    ((said, state),) = world.ask("SELECT message, state FROM incidents")
    assert (said, state) == ("calls go 4 levels deep, and at most 3 are allowed", "OPEN")
