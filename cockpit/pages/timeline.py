"""The timeline of an instance: its history as steps, one a commit, the newest first.

A step is headed by the first event that is more than a consequence: what was asked for, or what the engine did. What
it brought about stands below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bpm.audit import trace
from bpm.queries import instances
from bpm.queries.nodes import name_of
from bpm.queries.rows import Instance
from cockpit.pages.sentences import Sentence, reason_of, sentences_of
from cockpit.pages.shown import Shown, first, kept

SHOWN = 60

# What the segments above the timeline choose: name -> (title, entities).
CHOICES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "": (gettext_lazy("Everything"), ()),
    "work": (gettext_lazy("Work"), ("task", "user_task", "decision")),
    "tokens": (gettext_lazy("Tokens"), ("token",)),
    "waiting": (gettext_lazy("Timers and messages"), ("timer", "ticket", "message")),
    "variables": (gettext_lazy("Variables"), ("variable",)),
    "trouble": (gettext_lazy("Incidents"), ("incident",)),
    "instance": (gettext_lazy("Instance"), ("instance",)),
}


# What somebody did to the whole instance: whatever else ended with it came of that.
ASKED = ("INSTANCE_CANCELLED", "INSTANCE_MODIFIED", "INSTANCE_MIGRATED", "INSTANCE_SUSPENDED", "INSTANCE_RESUMED")

# Consequences that never head a step where something else happened, too.
QUIET = ("TIMER_SCHEDULED", "TIMER_CANCELLED", "TICKET_CANCELLED", "TASK_CANCELLED", "USER_TASK_CANCELLED")


@dataclass(frozen=True, slots=True)
class Line:
    """One event of a step."""

    event: trace.TraceEvent
    sentence: Sentence
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """What one commit brought about."""

    head: Line
    lines: tuple[Line, ...]
    variables: dict[str, Any]

    @property
    def at(self) -> datetime:
        """When it was committed."""
        return self.head.event.at

    @property
    def error(self) -> str:
        """What went wrong, in the words of whoever noticed."""
        for line in (self.head, *self.lines):
            said = line.event.error or (line.event.payload.get("message") if line.sentence.tone == "red" else None)
            if said:
                return str(said)
        return ""

    @property
    def details(self) -> str:
        """A stack trace, where the worker sent one."""
        return str(self.head.event.payload.get("details") or "")


@dataclass(frozen=True, slots=True)
class Day:
    """The steps of one day."""

    day: date
    steps: tuple[Step, ...]

    @property
    def at(self) -> datetime:
        """A moment of that day."""
        return self.steps[0].at


def part(request: HttpRequest, id: UUID) -> Shown:
    """The timeline alone, for htmx: filtered, refreshed, or its next page."""
    instance = instances.get_instance(id)
    if instance is None:
        raise Http404(_("There is no such instance."))
    template = "cockpit/timeline_days.html" if first(request, "after") else "cockpit/timeline.html"
    return Shown(template, context={"instance": instance, **context(request, instance)}, fragment=True)


def context(request: HttpRequest, instance: Instance) -> dict[str, Any]:
    """What the timeline's template needs."""
    definition_id = instance.definition_id
    chosen = first(request, "kind")
    _title, entities = CHOICES.get(chosen, CHOICES[""])
    node = first(request, "node")
    wanted = trace.Wanted(entities=entities, node=node or None, worker=first(request, "worker") or None)
    try:
        page = trace.trace(
            instance.id,
            wanted,
            newest_first=True,
            after=first(request, "after") or None,
            size=SHOWN,
            thread=trace.find_thread(instance.id, instance.started_at),
        ) or trace.TracePage(())
    except trace.BadCursor:
        page = trace.TracePage(())
    return {
        "days": days_of(page.events, definition_id),
        "timeline_after": page.after,
        "timeline_kinds": [(name, title) for name, (title, _entities) in CHOICES.items()],
        "timeline_kind": chosen,
        "timeline_node": node,
        "timeline_worker": first(request, "worker"),
        "timeline_node_name": name_of(definition_id, node) if node else "",
        "timeline_query": kept(request, "kind", "node", "worker"),
    }


def days_of(events: Iterable[trace.TraceEvent], definition_id: UUID) -> list[Day]:
    """Events, the newest first, as days of steps."""
    steps = [
        step_of(sorted(group, key=lambda event: event.ordinal), definition_id)
        for _sequence, group in groupby(events, key=lambda event: event.commit_sequence)
    ]
    return [Day(day, tuple(group)) for day, group in groupby(steps, key=lambda step: step.at.date())]


def step_of(events: list[trace.TraceEvent], definition_id: UUID) -> Step:
    """The events of one commit, in order, as a step."""

    def named(node: str) -> str:
        return name_of(definition_id, node)

    said = sentences_of(events, named)
    lines = [Line(event, sentence, reason_of(event)) for event, sentence in zip(events, said, strict=True)]
    variables: dict[str, Any] = {}
    for event in events:
        variables.update(event.variables)
    # Variables have a table of their own below the step, unless they are all there is.
    told = [line for line in lines if line.event.entity != "variable"] or lines[:1]
    asked = next((line for line in told if line.event.type in ASKED), None)
    head = asked or next((line for line in told if line.event.type not in QUIET), told[0])
    return Step(head, tuple(line for line in told if line is not head), variables)
