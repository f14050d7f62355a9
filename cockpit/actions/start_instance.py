"""Start an instance of the latest version of a process."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import starting
from bpm.queries import definitions
from cockpit.access import actor_of
from cockpit.actions.answering import done, variables_in, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST business_key, variables (a JSON object)."""
    definition = definitions.get_definition(id)
    if definition is None:
        raise Http404(_("There is no such process definition."))
    started = starting.start(
        definition.key,
        actor=actor_of(request),
        business_key=request.POST.get("business_key", "").strip() or None,
        variables=variables_in(request),
    )
    return done(request, _("The instance is started."), "cockpit:instance", started.thread_id)
