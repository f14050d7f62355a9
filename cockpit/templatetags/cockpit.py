"""How the cockpit's templates show states, times and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django import template
from django.template.defaultfilters import filesizeformat
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from bpm.expressions.typed import as_file, is_typed, text_of
from bpm.queries.rows import Marks
from bpm.store import values
from cockpit.pages.sentences import STATES, awaited_of

register = template.Library()

TONES: Mapping[str, str] = {
    "RUNNING": "blue", "SUSPENDED": "amber", "COMPLETED": "green", "FAILED": "red", "CANCELLED": "grey",
    "ACTIVE": "blue", "WAITING": "grey", "READY": "amber", "LOCKED": "blue", "DONE": "green", "CLAIMED": "blue",
    "OPEN": "red", "PENDING": "amber", "RESOLVED": "green", "SCHEDULED": "blue", "FIRED": "violet",
}  # fmt: skip
LIVE = ("RUNNING", "LOCKED")
SHORT = 120

CONDITIONS: Mapping[str, str] = {
    "definitions": gettext_noop("process"),
    "instances": gettext_noop("instance"),
    "states": gettext_noop("state"),
    "since": gettext_noop("from"),
    "until": gettext_noop("before"),
    "workers": gettext_noop("workers"),
    "users": gettext_noop("people"),
}

INCIDENT_KINDS: Mapping[str, str] = {
    "task": "deployed_code",
    "expression": "function",
    "no_flow": "alt_route",
    "call": "call_made",
    "timer": "schedule",
    "decision": "table_chart",
}


@register.simple_tag
def state(name: str) -> SafeString:
    """A state as a coloured badge, in the reader's language."""
    live = " tt-state-live" if name in LIVE else ""
    tone = TONES.get(name, "grey")
    return format_html('<span class="tt-state tt-{}{}">{}</span>', tone, live, _(STATES.get(name, name)))


@register.simple_tag
def icon(name: str, tone: str = "") -> SafeString:
    """A symbol of unfold's icon font; it says nothing to screen readers."""
    look = f"tt-icon tt-{tone}" if tone else "tt-icon"
    return format_html('<span class="{}" aria-hidden="true">{}</span>', look, name)


@register.simple_tag
def moment(at: datetime | None, form: str = "relative") -> SafeString | str:
    """A time: UTC text, which the browser turns into the reader's own ("relative", "clock", "full" or "day")."""
    if at is None:
        return ""
    text = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return format_html('<time datetime="{}" data-as="{}">{}</time>', at.isoformat(), form, text)


@register.filter
def isolated(text: Any) -> SafeString:
    """A value within a sentence: marks in it that turn the direction of text around end with it."""
    return format_html("<bdi>{}</bdi>", text)


@register.filter
def duration(start: datetime, end: datetime) -> str:
    """The time between two moments in its two largest units."""
    seconds = (end - start).total_seconds()
    if seconds < 1:
        return _("{number} ms").format(number=round(seconds * 1000))
    if seconds < 60:
        return _("{number} s").format(number=round(seconds, 1))
    units = ((86400, _("{number} d")), (3600, _("{number} h")), (60, _("{number} min")), (1, _("{number} s")))
    parts = []
    left = int(seconds)
    for size, text in units:
        number, left = divmod(left, size)
        if number:
            parts.append(text.format(number=number))
    return " ".join(parts[:2])


@register.filter
def seconds(number: float) -> str:
    """A number of seconds in its two largest units."""
    now = datetime.now(UTC)
    return duration(now - timedelta(seconds=number), now) if number >= 1 else _("{number} s").format(number=0)


@register.filter
def is_list(value: Any) -> bool:
    """Whether a value is a list of values."""
    return isinstance(value, list | tuple)


@register.filter
def selected_by(name: str) -> str:
    """A condition of an export, in words."""
    return _(CONDITIONS[name]) if name in CONDITIONS else name


@register.filter
def as_json(value: Any) -> str:
    """A variable's value on one line, as JSON with exact numbers; a date, time or duration as its text, a file as its
    name and size.
    """
    if (file := as_file(value)) is not None:
        return f"{file['name']} ({filesizeformat(file['size'])})"
    return text_of(value) or values.dumps(value)


@register.filter
def file_of(value: Any) -> Mapping[str, Any] | None:
    """What a variable says of its file; None where it is none."""
    return as_file(value)


@register.simple_tag
def file_link(instance: UUID, variable: Any) -> SafeString:
    """A file's name, which saves it, and its size and media type."""
    file = as_file(variable.value) or {}
    shown = f"{filesizeformat(file['size'])} · {file['mediaType']}"
    try:
        address = reverse("bpm-api:variable-file", args=[instance, variable.name])
    except NoReverseMatch:  # a name with a slash in it stands in no address
        return format_html('<bdi class="tt-mono">{}</bdi><span class="tt-sub">{}</span>', file["name"], shown)
    link = '<a class="tt-link" href="{}?scope={}" download><bdi>{}</bdi></a><span class="tt-sub">{}</span>'
    return format_html(link, address, variable.scope, file["name"], shown)


@register.filter
def pretty(value: Any) -> str:
    """A variable's value as JSON over several lines."""
    return _laid_out(value, "\n")


@register.filter
def is_long(value: Any) -> bool:
    """Whether a value does not fit on a line."""
    return not is_typed(value) and (isinstance(value, dict | list) or len(values.dumps(value)) > SHORT)


@register.filter
def marks_json(marks: Marks) -> dict[str, Any]:
    """The marks for `json_script`."""
    return asdict(marks)


@register.filter
def awaited(ticket: Any) -> SafeString:
    """What a ticket waits for, in words."""
    return awaited_of(ticket.kind, ticket.name)


@register.filter
def incident_icon(kind: str) -> str:
    """The symbol of an incident's kind."""
    return INCIDENT_KINDS.get(kind, "error")


def _laid_out(value: Any, line: str) -> str:
    if not value or not isinstance(value, dict | list):
        return values.dumps(value)
    inner = line + "  "
    if isinstance(value, list):
        return "[" + inner + f",{inner}".join(_laid_out(item, inner) for item in value) + line + "]"
    pairs = [f"{values.dumps(name)}: {_laid_out(item, inner)}" for name, item in value.items()]
    return "{" + inner + f",{inner}".join(pairs) + line + "}"
