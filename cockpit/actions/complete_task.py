"""Complete a user task with what the person brings back; one that was delegated goes back to its owner."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import user_tasks
from bpm.engine.variables import loads
from bpm.queries import work
from bpm.queries.rows import UserTask
from cockpit.access import actor_of
from cockpit.actions.answering import Refused, done, variables_in, verb

FIELD = "field:"


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST the form's fields (field:NAME) and variables (a JSON object, which wins)."""
    task = work.get_user_task(id)
    brought = {**(fields_in(request, task) if task else {}), **variables_in(request)}
    if task is not None and task.delegation == "PENDING":
        user_tasks.resolve_user_task(id, actor=actor_of(request), variables=brought)
        return done(request, _("The task is done and back with its owner."))
    user_tasks.complete_user_task(id, actor=actor_of(request), variables=brought, form=True)
    said = _("The task is done.")
    return done(request, said, "cockpit:instance", task.instance_id) if task else done(request, said)


def fields_in(request: HttpRequest, task: UserTask) -> dict[str, Any]:
    """The values of the model's form fields, each of its type. Raises Refused."""
    found: dict[str, Any] = {}
    for field in task.form_fields:
        name, kind = str(field["id"]), str(field.get("type", "string"))
        text = request.POST.get(FIELD + name, "").strip()
        if not text:
            continue
        if kind == "boolean":
            found[name] = text == "true"
        elif kind in ("long", "integer", "number", "double"):
            number = loads(text) if text.lstrip("-").replace(".", "", 1).isdigit() else None
            if number is None:
                raise Refused(_("{name} must be a number.").format(name=field.get("label") or name))
            found[name] = number
        else:
            found[name] = text
    return found
