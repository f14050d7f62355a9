"""Give a user task back to its candidates."""

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
    user_tasks.unclaim_task(id, actor=actor_of(request))
    return done(request, _("The task was given back."))
