"""Give a user task to somebody, or to nobody."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import user_tasks
from cockpit.access import actor_of
from cockpit.actions.answering import done, reason_in, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST user ("" for nobody), reason."""
    user = request.POST.get("user", "").strip() or None
    user_tasks.assign_user_task(id, user, actor=actor_of(request), reason=reason_in(request))
    return done(request, _("{user} has the task.").format(user=user) if user else _("The task is nobody's."))
