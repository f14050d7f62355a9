"""Let another person do a user task; whoever had it stays its owner."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import user_tasks
from cockpit.access import actor_of
from cockpit.actions.answering import Refused, done, reason_in, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST user, reason."""
    user = request.POST.get("user", "").strip()
    if not user:
        raise Refused(_("Please say to whom."))
    user_tasks.delegate_user_task(id, user, actor=actor_of(request), reason=reason_in(request))
    return done(request, _("{user} does the task for its owner.").format(user=user))
