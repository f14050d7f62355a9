"""Ask for an export of history: a worker carries it out."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from bpm.audit.export import requests
from bpm.audit.export.masking import Masking
from bpm.audit.export.running import FORMATS
from bpm.audit.export.selection import NothingSuch, Selection
from cockpit.access import actor_of
from cockpit.actions.answering import Refused, audit_verb, done, reason_in


@audit_verb
def view(request: HttpRequest) -> HttpResponse:
    """POST format, definition, state, since, until, instances, workers, users, mask, without, reason."""
    format = request.POST.get("format", "")
    if format not in FORMATS:
        raise Refused(_("Please choose a format."))
    selection = Selection(
        definitions=_listed(request, "definition"),
        instances=_ids(request),
        states=_listed(request, "state"),
        since=_moment(request, "since"),
        until=_moment(request, "until"),
        workers=_listed(request, "workers"),
        users=_listed(request, "users"),
    )
    masking = Masking(names=frozenset(_listed(request, "mask")), everything=bool(request.POST.get("without")))
    try:
        requests.ask_export(selection, format, masking=masking, actor=actor_of(request), reason=reason_in(request))
    except (NothingSuch, requests.NoPlace) as refused:
        raise Refused(str(refused)) from None
    return done(request, _("The export is asked for; a worker will write it."), "cockpit:exports")


def _listed(request: HttpRequest, name: str) -> tuple[str, ...]:
    """The texts of a field, which may hold several with commas."""
    parts = (part.strip() for text in request.POST.getlist(name) for part in text.replace("\x00", "").split(","))
    return tuple(part for part in parts if part)


def _ids(request: HttpRequest) -> tuple[UUID, ...]:
    try:
        return tuple(UUID(text) for text in _listed(request, "instances"))
    except ValueError:
        raise Refused(_("Instances are named by their ids.")) from None


def _moment(request: HttpRequest, name: str) -> datetime | None:
    """A time of the form, which is UTC."""
    text = request.POST.get(name, "").strip()
    if not text:
        return None
    try:
        found = parse_datetime(text)
        if found is not None:
            # Of zones PostgreSQL knows fewer than Python.
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass
    raise Refused(_("{text} is no time.").format(text=text))
