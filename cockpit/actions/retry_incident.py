"""Let the work behind an incident be tried again."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import operators
from cockpit.access import actor_of
from cockpit.actions.answering import done, reason_in, retries_in, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST reason, retries."""
    retries = retries_in(request)
    operators.retry_incident(id, actor=actor_of(request), retries=retries, reason=reason_in(request))
    return done(request, _("The incident is resolved; the work is tried again."))
