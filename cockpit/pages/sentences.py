"""Events in human words: a table of event types with icon, tone and sentence.

A sentence names places by their name in the diagram. `{place}`, `{origin}`, `{worker}`, `{user}`, `{topic}`, ... are
filled from the event; what it lacks is said in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as N_

from bpm.audit.trace import TraceEvent

# event type -> (icon, tone, sentence)
SENTENCES: dict[str, tuple[str, str, str]] = {
    "INSTANCE_STARTED": ("play_arrow", "blue", N_("The instance started at {place}")),
    "INSTANCE_COMPLETED": ("check_circle", "green", N_("The instance completed")),
    "INSTANCE_FAILED": ("cancel", "red", N_("The instance failed")),
    "INSTANCE_CANCELLED": ("block", "grey", N_("The instance was cancelled")),
    "INSTANCE_SUSPENDED": ("pause_circle", "amber", N_("The instance was suspended")),
    "INSTANCE_RESUMED": ("play_circle", "blue", N_("The instance was resumed")),
    "TOKEN_CREATED": ("add_circle", "blue", N_("A token appeared at {place}")),
    "TOKEN_MOVED": ("arrow_forward", "blue", N_("The token went from {origin} to {place}")),
    "TOKEN_STATE_CHANGED": ("hourglass_empty", "grey", N_("The token at {place} is now {state}")),
    "TOKEN_FORKED": ("call_split", "violet", N_("The token split at {place} into {number} branches")),
    "TOKEN_JOINED": ("call_merge", "violet", N_("The branches joined at {place}")),
    "TOKEN_COMPLETED": ("done", "green", N_("The token ended at {place}")),
    "TOKEN_FAILED": ("cancel", "red", N_("The token failed at {place}")),
    "TOKEN_CANCELLED": ("block", "grey", N_("The token at {place} was cancelled")),
    "TASK_CREATED": ("deployed_code", "blue", N_("Work for {topic} is ready at {place}")),
    "TASK_LOCKED": ("lock", "blue", N_("{worker} took {place}")),
    "TASK_EXTENDED": ("more_time", "grey", N_("{worker} asked for more time for {place}")),
    "TASK_UNLOCKED": ("lock_open", "grey", N_("{worker} gave {place} back")),
    "TASK_TIMED_OUT": ("timer_off", "amber", N_("The lock of {worker} on {place} ran out")),
    "TASK_COMPLETED": ("task_alt", "green", N_("{worker} completed {place}")),
    "TASK_ERROR_THROWN": ("report", "amber", N_("{worker} reported the error {code} at {place}")),
    "TASK_FAILED": ("error", "red", N_("{worker} failed at {place}; retries left: {retries}")),
    "TASK_RETRIED": ("replay", "amber", N_("{place} is ready again; retries left: {retries}")),
    "TASK_CANCELLED": ("block", "grey", N_("The work at {place} is not needed any more")),
    "TIMER_SCHEDULED": ("schedule", "blue", N_("{place} is due {due}")),
    "TIMER_FIRED": ("alarm_on", "violet", N_("The time of {place} came")),
    "TIMER_CANCELLED": ("alarm_off", "grey", N_("The time of {place} does not matter any more")),
    "USER_TASK_CREATED": ("person_add", "blue", N_("{place} waits for a person")),
    "USER_TASK_CLAIMED": ("person_check", "blue", N_("{user} took {place}")),
    "USER_TASK_UNCLAIMED": ("person_remove", "grey", N_("{place} was given back")),
    "USER_TASK_COMPLETED": ("task_alt", "green", N_("{user} completed {place}")),
    "USER_TASK_CANCELLED": ("block", "grey", N_("{place} is not needed any more")),
    "TICKET_OPENED": ("mail", "blue", N_("{place} waits for {awaited}")),
    "TICKET_CONSUMED": ("mark_email_read", "green", N_("{place} received what it waited for")),
    "TICKET_CANCELLED": ("block", "grey", N_("{place} does not wait any more")),
    "INCIDENT_OPENED": ("warning", "red", N_("An incident at {place} waits for an operator")),
    "INCIDENT_RESOLVED": ("build_circle", "green", N_("The incident at {place} was resolved")),
    "MESSAGE_SENT": ("send", "violet", N_("{place} sent {awaited}")),
    "VARIABLE_SET": ("data_object", "grey", N_("{variable} was set")),
    "VARIABLE_UNSET": ("data_object", "grey", N_("{variable} was removed")),
}

# Waiting and going on read differently from other changes of state: (type, new state) -> sentence.
BY_STATE: dict[tuple[str, str], tuple[str, str, str]] = {
    ("TOKEN_STATE_CHANGED", "WAITING"): ("hourglass_empty", "grey", N_("The token waits at {place}")),
    ("TOKEN_STATE_CHANGED", "ACTIVE"): ("arrow_forward", "blue", N_("The token at {place} goes on")),
}

REASONS: dict[str, str] = {
    "start": N_("start"),
    "flow": N_("sequence flow"),
    "fork": N_("fork"),
    "join": N_("join"),
    "loop": N_("loop"),
    "end": N_("end"),
    "children": N_("branches ended"),
    "work": N_("work"),
    "retry": N_("retry"),
    "timeout": N_("timeout"),
    "compensation": N_("compensation"),
    "signal": N_("signal"),
    "message": N_("message"),
    "timer": N_("timer"),
    "condition": N_("condition"),
    "error": N_("error"),
    "escalation": N_("escalation"),
    "terminate": N_("terminate end"),
    "cancel": N_("cancel"),
    "call": N_("call"),
    "incident": N_("incident"),
    "operator": N_("operator"),
    "interrupted": N_("interrupted"),
    "left": N_("activity left"),
}

AWAITED: dict[str, str] = {
    "MESSAGE": N_("the message {name}"),
    "SIGNAL": N_("the signal {name}"),
    "CALL": N_("the called process {name}"),
    "CONDITION": N_("a condition"),
    "COMPENSATION": N_("being compensated"),
}

STATES: dict[str, str] = {
    "RUNNING": N_("Running"),
    "SUSPENDED": N_("Suspended"),
    "COMPLETED": N_("Completed"),
    "FAILED": N_("Failed"),
    "CANCELLED": N_("Cancelled"),
    "ACTIVE": N_("Active"),
    "WAITING": N_("Waiting"),
    "READY": N_("Ready"),
    "LOCKED": N_("In work"),
    "DONE": N_("Done"),
    "SCHEDULED": N_("Scheduled"),
    "FIRED": N_("Fired"),
    "CLAIMED": N_("Claimed"),
    "OPEN": N_("Open"),
    "CONSUMED": N_("Consumed"),
    "RESOLVED": N_("Resolved"),
    "PENDING": N_("Pending"),
    "DELIVERED": N_("Delivered"),
    "EXPIRED": N_("Expired"),
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """An event as a person reads it."""

    icon: str
    tone: str
    text: SafeString


def sentence_of(event: TraceEvent, name_of: Callable[[str], str]) -> Sentence:
    """The event in words; `name_of` turns a node's id into its name."""
    known = BY_STATE.get((event.type, event.to_state or ""), SENTENCES.get(event.type))
    icon, tone, template = known or ("circle", "grey", event.type)
    return Sentence(icon, tone, format_html(_(template), **_words(event, name_of)))


def reason_of(event: TraceEvent) -> str:
    """Why it happened, in a word or two; "" where there is nothing to say."""
    return _(REASONS[event.reason]) if event.reason in REASONS else ""


def awaited_of(kind: str, name: str) -> SafeString:
    """What a ticket waits for, or a message is."""
    return format_html(_(AWAITED.get(kind, N_("{name}"))), name=_bold(name or "?"))


def _words(event: TraceEvent, name_of: Callable[[str], str]) -> Mapping[str, Any]:
    payload = event.payload
    place = event.node_name or (name_of(event.node) if event.node else "")
    origin = payload.get("origin")
    return {
        "place": _bold(place or _("the process")),
        "origin": _bold(name_of(origin) if origin else _("its place")),
        "state": _(STATES.get(event.to_state or "", event.to_state or "")),
        "number": len(payload.get("flows", ())),
        "topic": _bold(event.topic or payload.get("topic") or "?"),
        "worker": _bold(event.worker or _("A worker")),
        "user": _bold(payload.get("user") or event.actor or _("Somebody")),
        "code": _bold(payload.get("code") or "?"),
        "retries": payload.get("retries", 0),
        "due": _moment(payload.get("fire_at")),
        "awaited": awaited_of(str(payload.get("kind", "")), str(payload.get("name") or "")),
        "variable": _bold(", ".join(event.variables) or "?"),
    }


def _bold(text: str) -> SafeString:
    return format_html("<b>{}</b>", text)


def _moment(text: Any) -> SafeString | str:
    moment = parse_datetime(text) if isinstance(text, str) else text
    if not isinstance(moment, datetime):
        return "?"
    return format_html(
        '<time datetime="{}" data-as="full">{}</time>', moment.isoformat(), moment.isoformat(" ", "seconds")
    )
