"""Begin a new run of an instance that has ended."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import versions
from cockpit.access import actor_of
from cockpit.actions.answering import Refused, done, reason_in, variables_in, verb


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST keep (end, start, none), before (a node; "" for the start), variables (a JSON object), reason."""
    keep = request.POST.get("keep", "end")
    if keep not in versions.KEEPS:
        raise Refused(_("Please choose the variables that it begins with."))
    before = request.POST.get("before", "").strip()
    versions.restart_instance(
        id,
        actor=actor_of(request),
        keep=cast(Any, keep),
        start_before=[before] if before else [],
        variables=variables_in(request),
        reason=reason_in(request),
    )
    return done(request, _("A new run of the instance has begun."), "cockpit:instance", id)
