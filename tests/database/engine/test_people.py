"""User tasks through the engine: delegated, assigned, their forms checked; and it replays."""

from __future__ import annotations

import pytest

from bpm import engine
from bpm.audit.replaying import replay_stored
from bpm.queries import work
from tests.database.engine.drawing import end, flows, model, start

FORM = (
    '<bpmn:userTask id="look" camunda:assignee="ann" camunda:dueDate="2030-01-02T03:04:05Z"'
    ' camunda:followUpDate="2030-01-01" camunda:priority="7" camunda:formKey="f.html"><bpmn:extensionElements>'
    '<camunda:formData><camunda:formField id="amount" type="long" label="Amount"><camunda:validation>'
    '<camunda:constraint name="required"/><camunda:constraint name="min" config="2"/></camunda:validation>'
    "</camunda:formField></camunda:formData></bpmn:extensionElements></bpmn:userTask>"
)
MODEL = model(start(), FORM, end(), flows("start -> look -> end"))


def test_a_task_from_its_assignee_to_another_and_back(world):
    world.deploy(MODEL)
    instance = world.start()
    id = world.only("user_tasks", instance)

    engine.delegate_user_task(id, "bob", actor="ann", reason="on holiday")
    found = work.get_user_task(id)
    assert (found.assignee, found.owner, found.delegation) == ("bob", "ann", "PENDING")
    with pytest.raises(engine.Refused, match="resolved, not completed"):
        engine.complete_user_task(id, actor="bob")
    engine.resolve_user_task(id, actor="bob", variables={"checked": True})
    engine.assign_user_task(id, "cleo", actor="boss")
    found = work.get_user_task(id)
    assert (found.assignee, found.owner, found.delegation) == ("cleo", "ann", "RESOLVED")

    engine.complete_user_task(id, actor="cleo")
    assert world.variables(instance) == {"checked": True}
    assert replay_stored([instance], again=True)[0].problems == ()
