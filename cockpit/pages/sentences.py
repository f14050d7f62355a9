"""Events in human words: a table of event types with icon, tone and sentence.

A sentence names places by their name in the diagram. `{place}`, `{origin}`, `{worker}`, `{user}`, `{topic}`, ... are
filled from the event; what it lacks is said in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from bpm.audit.trace import TraceEvent

# event type -> (icon, tone, sentence)
SENTENCES: dict[str, tuple[str, str, str]] = {
    "INSTANCE_STARTED": ("play_arrow", "blue", gettext_noop("{actor} started the instance at {place}")),
    "INSTANCE_COMPLETED": ("check_circle", "green", gettext_noop("The instance completed")),
    "INSTANCE_FAILED": ("cancel", "red", gettext_noop("The instance failed")),
    "INSTANCE_CANCELLED": ("block", "grey", gettext_noop("{actor} cancelled the instance")),
    "INSTANCE_SUSPENDED": ("pause_circle", "amber", gettext_noop("{actor} suspended the instance")),
    "INSTANCE_RESUMED": ("play_circle", "blue", gettext_noop("{actor} resumed the instance")),
    "INSTANCE_RESTARTED": ("restart_alt", "blue", gettext_noop("{actor} began a new run of the instance")),
    "INSTANCE_MODIFIED": ("edit_location", "amber", gettext_noop("{actor} moved tokens by hand")),
    "INSTANCE_MIGRATED": ("upgrade", "violet", gettext_noop("{actor} moved the instance to another version")),
    "TOKEN_CREATED": ("add_circle", "blue", gettext_noop("A token appeared at {place}")),
    "TOKEN_MOVED": ("arrow_forward", "blue", gettext_noop("The token went from {origin} to {place}")),
    "TOKEN_STATE_CHANGED": ("hourglass_empty", "grey", gettext_noop("The token at {place} is now {state}")),
    "TOKEN_FORKED": ("call_split", "violet", gettext_noop("The token split at {place} into {number} branches")),
    "TOKEN_JOINED": ("call_merge", "violet", gettext_noop("The branches joined at {place}")),
    "TOKEN_COMPLETED": ("done", "green", gettext_noop("The token ended at {place}")),
    "TOKEN_FAILED": ("cancel", "red", gettext_noop("The token failed at {place}")),
    "TOKEN_CANCELLED": ("block", "grey", gettext_noop("The token at {place} was cancelled")),
    "TASK_CREATED": ("deployed_code", "blue", gettext_noop("Work for {topic} is ready at {place}")),
    "TASK_LOCKED": ("lock", "blue", gettext_noop("{worker} took {place}")),
    "TASK_EXTENDED": ("more_time", "grey", gettext_noop("{worker} asked for more time for {place}")),
    "TASK_UNLOCKED": ("lock_open", "grey", gettext_noop("{worker} gave {place} back")),
    "TASK_TIMED_OUT": ("timer_off", "amber", gettext_noop("The lock of {worker} on {place} ran out")),
    "TASK_COMPLETED": ("task_alt", "green", gettext_noop("{worker} completed {place}")),
    "TASK_ERROR_THROWN": ("report", "amber", gettext_noop("{worker} reported the error {code} at {place}")),
    "TASK_FAILED": ("error", "red", gettext_noop("{worker} failed at {place}; retries left: {retries}")),
    "TASK_RETRIED": ("replay", "amber", gettext_noop("{place} is ready again; retries left: {retries}")),
    "TASK_RETRIES_SET": ("replay", "grey", gettext_noop("{actor} set the retries of {place}: {retries}")),
    "TASK_CANCELLED": ("block", "grey", gettext_noop("The work at {place} is not needed any more")),
    "TIMER_SCHEDULED": ("schedule", "blue", gettext_noop("{place} is due {due}")),
    "TIMER_FIRED": ("alarm_on", "violet", gettext_noop("The time of {place} came")),
    "TIMER_CANCELLED": ("alarm_off", "grey", gettext_noop("The time of {place} does not matter any more")),
    "USER_TASK_CREATED": ("person_add", "blue", gettext_noop("{place} waits for a person")),
    "USER_TASK_CLAIMED": ("person_check", "blue", gettext_noop("{user} took {place}")),
    "USER_TASK_UNCLAIMED": ("person_remove", "grey", gettext_noop("{actor} gave {place} back")),
    "USER_TASK_ASSIGNED": ("person_pin", "blue", gettext_noop("{actor} gave {place} to {user}")),
    "USER_TASK_DELEGATED": ("forward", "violet", gettext_noop("{actor} delegated {place} to {user}")),
    "USER_TASK_RESOLVED": ("assignment_return", "green", gettext_noop("{actor} resolved {place} for its owner")),
    "USER_TASK_COMPLETED": ("task_alt", "green", gettext_noop("{user} completed {place}")),
    "USER_TASK_CANCELLED": ("block", "grey", gettext_noop("{place} is not needed any more")),
    "TICKET_OPENED": ("mail", "blue", gettext_noop("{place} waits for {awaited}")),
    "TICKET_ADVANCED": ("mail", "blue", gettext_noop("{place} received a part of what it waits for")),
    "TICKET_CONSUMED": ("mark_email_read", "green", gettext_noop("{place} received what it waited for")),
    "TICKET_CANCELLED": ("block", "grey", gettext_noop("{place} does not wait any more")),
    "INCIDENT_OPENED": ("warning", "red", gettext_noop("An incident at {place} waits for an operator")),
    "INCIDENT_RESOLVED": ("build_circle", "green", gettext_noop("{actor} resolved the incident at {place}")),
    "MESSAGE_SENT": ("send", "violet", gettext_noop("{place} sent {awaited}")),
    "MESSAGE_DELIVERED": ("mark_email_read", "green", gettext_noop("What {place} sent has been received")),
    "MESSAGE_EXPIRED": ("timer_off", "amber", gettext_noop("Nobody took what {place} sent in its time")),
    "TOKEN_MIGRATED": ("upgrade", "violet", gettext_noop("The token stands at {place} of the new version")),
    "TASK_MIGRATED": ("upgrade", "violet", gettext_noop("The work belongs to {place} of the new version")),
    "TIMER_MIGRATED": ("upgrade", "violet", gettext_noop("The timer belongs to {place} of the new version")),
    "USER_TASK_MIGRATED": ("upgrade", "violet", gettext_noop("The work belongs to {place} of the new version")),
    "TICKET_MIGRATED": ("upgrade", "violet", gettext_noop("It is {place} of the new version that waits")),
    "INCIDENT_MIGRATED": ("upgrade", "violet", gettext_noop("The incident is at {place} of the new version")),
    "DECISION_EVALUATED": ("table_chart", "violet", gettext_noop("{place} asked the decision {decision}")),
    "VARIABLE_SET": ("data_object", "grey", gettext_noop("{variable} was set")),
    "VARIABLE_UNSET": ("data_object", "grey", gettext_noop("{variable} was removed")),
}

# Waiting and going on read differently from other changes of state: (type, new state) -> sentence.
BY_STATE: dict[tuple[str, str], tuple[str, str, str]] = {
    ("TOKEN_STATE_CHANGED", "WAITING"): ("hourglass_empty", "grey", gettext_noop("The token waits at {place}")),
    ("TOKEN_STATE_CHANGED", "ACTIVE"): ("arrow_forward", "blue", gettext_noop("The token at {place} goes on")),
}

# An incident whose token ended took its end from that: nobody repaired anything.
ENDED = ("block", "grey", gettext_noop("The incident at {place} ended with its token"))

REASONS: dict[str, str] = {
    "start": gettext_noop("start"),
    "flow": gettext_noop("sequence flow"),
    "fork": gettext_noop("fork"),
    "join": gettext_noop("join"),
    "loop": gettext_noop("loop"),
    "end": gettext_noop("end"),
    "children": gettext_noop("branches ended"),
    "work": gettext_noop("work"),
    "retry": gettext_noop("retry"),
    "timeout": gettext_noop("timeout"),
    "compensation": gettext_noop("compensation"),
    "signal": gettext_noop("signal"),
    "message": gettext_noop("message"),
    "timer": gettext_noop("timer"),
    "condition": gettext_noop("condition"),
    "error": gettext_noop("error"),
    "escalation": gettext_noop("escalation"),
    "terminate": gettext_noop("terminate end"),
    "cancel": gettext_noop("cancel"),
    "call": gettext_noop("call"),
    "incident": gettext_noop("incident"),
    "operator": gettext_noop("operator"),
    "interrupted": gettext_noop("interrupted"),
    "left": gettext_noop("activity left"),
}

AWAITED: dict[str, str] = {
    "MESSAGE": gettext_noop("the message {name}"),
    "SIGNAL": gettext_noop("the signal {name}"),
    "CALL": gettext_noop("the called process {name}"),
    "CONDITION": gettext_noop("a condition"),
    "LOOP": gettext_noop("the rounds of its loop"),
    "COMPENSATION": gettext_noop("being compensated"),
}

STATES: dict[str, str] = {
    "RUNNING": gettext_noop("Running"),
    "SUSPENDED": gettext_noop("Suspended"),
    "COMPLETED": gettext_noop("Completed"),
    "FAILED": gettext_noop("Failed"),
    "CANCELLED": gettext_noop("Cancelled"),
    "ACTIVE": gettext_noop("Active"),
    "WAITING": gettext_noop("Waiting"),
    "READY": gettext_noop("Ready"),
    "LOCKED": gettext_noop("In work"),
    "DONE": gettext_noop("Done"),
    "SCHEDULED": gettext_noop("Scheduled"),
    "FIRED": gettext_noop("Fired"),
    "CLAIMED": gettext_noop("Claimed"),
    "OPEN": gettext_noop("Open"),
    "CONSUMED": gettext_noop("Consumed"),
    "RESOLVED": gettext_noop("Resolved"),
    "PENDING": gettext_noop("Pending"),
    "DELIVERED": gettext_noop("Delivered"),
    "EXPIRED": gettext_noop("Expired"),
    "OPENING": gettext_noop("Opening of an epoch"),
    "XIDS": gettext_noop("Commits"),
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """An event as a person reads it."""

    icon: str
    tone: str
    text: SafeString


def sentences_of(events: Sequence[TraceEvent], name_of: Callable[[str], str]) -> list[Sentence]:
    """The events of one commit in words."""
    gone = {event.token_id for event in events if event.type == "TOKEN_CANCELLED"}
    return [sentence_of(event, name_of, ended=event.token_id in gone) for event in events]


def sentence_of(event: TraceEvent, name_of: Callable[[str], str], *, ended: bool = False) -> Sentence:
    """The event in words; `name_of` turns a node's id into its name, `ended`: its token was cancelled with it."""
    known = BY_STATE.get((event.type, event.to_state or ""), SENTENCES.get(event.type))
    if event.type == "INCIDENT_RESOLVED" and (ended or event.reason != "operator"):
        known = ENDED
    icon, tone, template = known or ("circle", "grey", event.type)
    return Sentence(icon, tone, format_html(_(template), **_words(event, name_of)))


def reason_of(event: TraceEvent) -> str:
    """Why it happened, in a word or two; "" where there is nothing to say."""
    return _(REASONS[event.reason]) if event.reason in REASONS else ""


def awaited_of(kind: str, name: str) -> SafeString:
    """What a ticket waits for, or a message is."""
    return format_html(_(AWAITED[kind]) if kind in AWAITED else "{name}", name=_bold(name or "?"))


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
        "actor": _bold(event.actor or _("Somebody")),
        "user": _bold(payload.get("user") or event.actor or _("Somebody")),
        "code": _bold(payload.get("code") or "?"),
        "decision": _evaluation(event),
        "retries": payload.get("retries", 0),
        "due": _moment(payload.get("fire_at")),
        "awaited": awaited_of(str(payload.get("kind", "")), str(payload.get("name") or "")),
        "variable": _bold(", ".join(event.variables) or "?"),
    }


def _evaluation(event: TraceEvent) -> SafeString:
    """The decision's key, leading to how it was made."""
    key = _bold(event.payload.get("key") or "?")
    if event.entity != "decision" or event.entity_id is None:
        return key
    return format_html(
        '<a class="tt-link" href="{}">{}</a>', reverse("cockpit:evaluation", args=[event.entity_id]), key
    )


def _bold(text: str) -> SafeString:
    return format_html("<b>{}</b>", text)


def _moment(text: Any) -> SafeString | str:
    moment = parse_datetime(text) if isinstance(text, str) else text
    if not isinstance(moment, datetime):
        return "?"
    return format_html(
        '<time datetime="{}" data-as="full">{}</time>', moment.isoformat(), moment.isoformat(" ", "seconds")
    )
