"""Complete a user task with what the person brings back; one that was delegated goes back to its owner."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import keep_file, user_tasks
from bpm.engine.files import size_limit
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
        if kind == "file" and (upload := request.FILES.get(FIELD + name)):
            found[name] = _file(upload)
            continue
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
        elif kind == "date":
            found[name] = _date(text)
        else:
            found[name] = text
    return found


def _file(upload: UploadedFile) -> dict[str, Any]:
    """What was chosen, kept. Raises Refused."""
    if (upload.size or 0) > size_limit():
        raise Refused(_("{name} is too large.").format(name=upload.name))
    media_type = (upload.content_type or "application/octet-stream").lower()
    return keep_file(upload.read(), name=str(upload.name), media_type=media_type)


def _date(text: str) -> date | str:
    """A day as browsers send it; what is none is the engine's to judge."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text
