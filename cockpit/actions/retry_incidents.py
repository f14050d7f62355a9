"""Retry all open incidents of a list, each in a transaction of its own."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bpm.engine import operators
from bpm.engine.errors import EngineError
from bpm.queries import incidents
from cockpit.access import actor_of
from cockpit.actions.answering import back, done, reason_in, retries_in, text_in, verb
from cockpit.pages.shown import exact

# One request stays short; who has more presses again.
MOST = 500


@verb
def view(request: HttpRequest) -> HttpResponse:
    """POST process, node, message (the list's filter), reason, retries."""
    reason, retries, actor = reason_in(request), retries_in(request), actor_of(request)
    wanted = {
        "definition_key": text_in(request, "process") or None,
        "node": text_in(request, "node") or None,
        "message": exact(request.POST.get("message", "").replace("\x00", "")),
    }
    retried, refused = 0, ""
    for id in incidents.open_ids(MOST, **wanted):
        try:
            operators.retry_incident(id, actor=actor, retries=retries, reason=reason)
            retried += 1
        except EngineError as problem:
            refused = problem.message
    if refused:
        messages.warning(request, _("Some were refused: {reason}").format(reason=refused))
    if not retried:
        return back(request)
    said = ngettext("%(number)d incident is retried.", "%(number)d incidents are retried.", retried)
    return done(request, said % {"number": retried}, "cockpit:incidents")
