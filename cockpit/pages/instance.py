"""One instance: where it is, why, what it waits for, and how it came here."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from bpm.audit import trace
from bpm.queries import diagram, instances, integrity
from bpm.queries.nodes import name_of, nodes_of
from bpm.queries.paging import tag_of
from bpm.queries.rows import Instance
from cockpit.access import may_audit, may_operate
from cockpit.pages import timeline
from cockpit.pages.sentences import sentence_of
from cockpit.pages.shown import Shown


def page(request: HttpRequest, id: UUID) -> Shown:
    """The whole page."""
    tag = state(request, id)
    instance = found(id)
    context = {
        **live_context(instance),
        "subtitle": instance.business_key,
        "may_audit": may_audit(request),
        "nodes": nodes_of(instance.definition_id).values(),
        **timeline.context(request, instance),
    }
    return Shown("cockpit/instance.html", instance.title, context, tag=tag)


def live(request: HttpRequest, id: UUID) -> Shown:
    """What changes while one looks: htmx asks for it every few seconds and puts each part in its place."""
    tag = state(request, id)
    return Shown("cockpit/instance_live.html", context=lambda: live_context(found(id)), fragment=True, tag=tag)


def state(request: HttpRequest, id: UUID) -> str:
    """A name of the state that the live parts are of, or 404. Asked before they are read, so that it is never newer."""
    known = instances.state_of(id)
    if known is None:
        raise Http404(_("There is no such instance."))
    return tag_of(known, may_operate(request))


def found(id: UUID) -> Instance:
    """The instance, or 404."""
    instance = instances.get_instance(id)
    if instance is None:
        raise Http404(_("There is no such instance."))
    return instance


# What brought an instance into the states that somebody or something must have brought it into.
BROUGHT_BY = {
    "SUSPENDED": ("INSTANCE_SUSPENDED",),
    "CANCELLED": ("INSTANCE_CANCELLED",),
    "FAILED": ("INSTANCE_FAILED",),
}


def brought(instance: Instance) -> dict[str, Any] | None:
    """Who or what brought it into its state, and what was said to that; None for a state that explains itself, and
    where its history lies elsewhere.
    """
    if instance.state not in BROUGHT_BY:
        return None
    wanted = trace.Wanted(types=BROUGHT_BY[instance.state], entities=("instance",))
    thread = trace.find_thread(instance.id, instance.started_at)
    page = trace.trace(instance.id, wanted, newest_first=True, size=1, thread=thread)
    if page is None or not page.events:
        return None
    event = page.events[0]
    said = (event.payload.get(name) for name in ("code", "message") if event.type == "INSTANCE_FAILED")
    sentence = sentence_of(event, lambda node: name_of(instance.definition_id, node))
    return {"event": event, "sentence": sentence, "error": " ".join(str(part) for part in said if part)}


def live_context(instance: Instance) -> dict[str, Any]:
    """What the live parts say."""
    parent = instances.get_instance(instance.parent_instance_id) if instance.parent_instance_id else None
    return {
        "instance": instance,
        "work": instances.open_work(instance),
        "variables": instances.variables_of(instance.id),
        "called": instances.called_by(instance.id),
        "violations": integrity.list_violations(instance_id=instance.id, size=5).items,
        "parent": parent,
        "brought": brought(instance),
        "marks": diagram.marks_of_instance(instance.id, instance.started_at),
    }
