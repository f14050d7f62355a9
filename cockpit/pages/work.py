"""Work that waits: user tasks for people, external tasks for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bpm.queries import instances, overview, work
from bpm.queries.paging import tag_of
from cockpit.access import may_operate
from cockpit.pages.shown import Shown, first, kept, page_of

COUNTED = 10_000  # of each topic
TASK_STATES = {
    "": (gettext_lazy("Open"), work.OPEN_EXTERNAL),
    "ready": (gettext_lazy("Ready"), ("READY",)),
    "locked": (gettext_lazy("In work"), ("LOCKED",)),
    "failed": (gettext_lazy("Failed"), ("FAILED",)),
}


def user_tasks(request: HttpRequest) -> Shown:
    """User tasks: all open ones, mine, or those I may claim; asked by htmx: the rows alone."""
    whose = first(request, "whose")
    name = request.user.get_username()
    groups = list(request.user.groups.values_list("name", flat=True))
    wanted: dict[str, dict[str, Any]] = {
        "mine": {"assignee": name},
        "claimable": {"candidate": name, "candidate_groups": groups, "unassigned": True},
        "unassigned": {"unassigned": True},
    }
    page = page_of(work.list_user_tasks, request, **wanted.get(whose, {}))
    choices = (
        ("", _("All open")),
        ("mine", _("Mine")),
        ("claimable", _("I may claim")),
        ("unassigned", _("Unassigned")),
    )
    context = {"page": page, "whose": whose, "choices": choices, "query": kept(request, "whose"), "me": name}
    tag = tag_of(page, may_operate(request))
    if request.headers.get("HX-Request"):
        return Shown("cockpit/user_tasks_rows.html", context=context, fragment=True, tag=tag)
    return Shown("cockpit/user_tasks.html", _("User tasks"), context, tag=tag)


def user_task(request: HttpRequest, id: UUID) -> Shown:
    """One user task with the variables of its instance, and the form that completes it."""
    task = work.get_user_task(id)
    if task is None:
        raise Http404(_("There is no such user task."))
    instance = instances.get_instance(task.instance_id)
    context = {
        "task": task,
        "fields": [_field(field) for field in task.form_fields],
        "instance": instance,
        "variables": instances.variables_of(task.instance_id),
        "me": request.user.get_username(),
        "is_open": task.state in work.OPEN_USER,
    }
    return Shown("cockpit/user_task.html", task.node_name, context)


def _field(field: Mapping[str, Any]) -> dict[str, Any]:
    """A form field for a template, which would take `values` of a dict for its method."""
    return {**field, "choices": list(field.get("values", {}).items())}


def external_tasks(request: HttpRequest) -> Shown:
    """External tasks by topic and state; asked by htmx: the rows alone."""
    chosen = first(request, "state")
    _title, states = TASK_STATES.get(chosen, TASK_STATES[""])
    page = page_of(work.list_external_tasks, request, topic=first(request, "topic") or None, states=states)
    context = {
        "page": page,
        "chosen": chosen,
        "choices": [(name, title) for name, (title, _states) in TASK_STATES.items()],
        "topic": first(request, "topic"),
        "query": kept(request, "state", "topic"),
        "query_without_state": kept(request, "topic"),
    }
    tag = tag_of(page, may_operate(request))
    if request.headers.get("HX-Request"):
        return Shown("cockpit/external_tasks_rows.html", context=context, fragment=True, tag=tag)
    topics = overview.ready_by_topic(8, COUNTED)
    return Shown("cockpit/external_tasks.html", _("External tasks"), {**context, "topics": topics}, tag=tag)
