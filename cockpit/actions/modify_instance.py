"""Put the tokens of an instance elsewhere, in one step."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import versions
from cockpit.access import actor_of
from cockpit.actions.answering import done, reason_in, verb
from cockpit.pages.modification import arguments_of, chosen_in


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST before, after, end (nodes), token (ids), variables (a JSON object), reason."""
    reason = reason_in(request)
    arguments = arguments_of(chosen_in(request.POST), request.POST.get("variables", "").strip())
    versions.modify_instance(id, actor=actor_of(request), reason=reason, **arguments)
    return done(request, _("The instance is modified."), "cockpit:instance", id)
