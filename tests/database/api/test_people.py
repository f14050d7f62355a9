"""User tasks over HTTP: all that the model says of one, and its form."""

from __future__ import annotations

from uuid import UUID

from bpm import engine
from bpm.models import UserTask
from tests.database.engine.test_people import MODEL


def begun() -> tuple[UUID, UUID]:
    """An instance, and its user task."""
    engine.deploy({"p.bpmn": MODEL}, actor="dora")
    instance = engine.start("p", actor="ann").thread_id
    return instance, UserTask.objects.get(instance_id=instance).id


def test_all_that_the_model_says_of_a_task_is_shown(operator):
    _, id = begun()
    shown = operator.get(f"/user-tasks/{id}").body
    said = {name: shown[name] for name in ("assignee", "owner", "due", "follow_up", "priority", "form_key")}
    assert said == {
        "assignee": "ann", "owner": None, "due": "2030-01-02T03:04:05Z", "follow_up": "2030-01-01", "priority": 7,
        "form_key": "f.html",
    }  # fmt: skip
    (field,) = shown["form_fields"]
    assert (field["id"], field["required"], field["constraints"]) == ("amount", True, {"min": "2"})


def test_a_form_is_checked_where_it_is_submitted(operator):
    instance, id = begun()
    refused = operator.post(f"/user-tasks/{id}/complete", {"variables": {"amount": 1}})
    assert refused.status == 422 and "amount must be at least 2" in str(refused.body)
    assert operator.post(f"/user-tasks/{id}/complete", {"variables": {"amount": 2}}).status == 200
    assert operator.get(f"/instances/{instance}").body["state"] == "COMPLETED"
