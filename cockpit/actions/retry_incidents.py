"""Retry all open incidents of a list, each in a transaction of its own."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import ngettext

from bpm.engine import operators
from bpm.engine.errors import EngineError
from bpm.queries import incidents
from cockpit.access import actor_of
from cockpit.actions.answering import back, done, reason_in, retries_in, text_in, verb
from cockpit.pages.incidents import MOST
from cockpit.pages.shown import exact


@verb
def view(request: HttpRequest) -> HttpResponse:
    """POST process, node, message (the list's filter), reason, retries."""
    reason, retries, actor = reason_in(request), retries_in(request), actor_of(request)
    wanted = {
        "definition_key": text_in(request, "process") or None,
        "node": text_in(request, "node") or None,
        "message": exact(request.POST.get("message", "").replace("\x00", "")),
    }
    retried, refused, why = 0, 0, ""
    for id in incidents.open_ids(MOST, **wanted):
        try:
            operators.retry_incident(id, actor=actor, retries=retries, reason=reason)
            retried += 1
        except EngineError as problem:
            refused, why = refused + 1, problem.message
    if refused:
        told = ngettext("%(number)d was refused: %(reason)s", "%(number)d were refused, the last: %(reason)s", refused)
        messages.warning(request, told % {"number": refused, "reason": why})
    if not retried:
        return back(request)
    said = ngettext("%(number)d incident is retried.", "%(number)d incidents are retried.", retried)
    # Where some are left, the list stays as narrow as it was: pressed again, it retries no others.
    left = bool(incidents.open_ids(1, **wanted))
    return done(request, said % {"number": retried}, None if left else "cockpit:incidents")
