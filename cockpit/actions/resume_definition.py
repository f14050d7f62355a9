"""Let a suspended version begin again."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import suspending
from cockpit.access import actor_of
from cockpit.actions.answering import done, reason_in, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST reason."""
    suspending.resume_definition(id, actor=actor_of(request), reason=reason_in(request))
    return done(request, _("The version may be started again."))
