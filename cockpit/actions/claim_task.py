"""Take a user task."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import user_tasks
from cockpit.access import actor_of
from cockpit.actions.answering import done, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST."""
    user_tasks.claim_task(id, actor_of(request))
    return done(request, _("The task is yours."))
