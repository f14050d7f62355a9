"""Let an instance go on with another version of its definition."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from bpm.engine import versions
from cockpit.access import actor_of
from cockpit.actions.answering import done, number_in, reason_in, verb
from cockpit.pages.migration import asked_in


@verb
def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """POST version, to:NODE (pairs), drop (events), reason."""
    asked = asked_in(request.POST, number_in(request, "version"))
    versions.migrate_instance(
        id,
        actor=actor_of(request),
        version=asked.version,
        nodes=asked.nodes,
        drop=asked.drop,
        reason=reason_in(request),
    )
    return done(request, _("The instance goes on with version {number}.").format(number=asked.version),
                "cockpit:instance", id)  # fmt: skip
