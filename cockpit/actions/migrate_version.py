"""Let all open instances of a version go on with another one: some at a time, as often as the browser asks.

Where it stands is carried by the form that asks again: the last instance that was looked at, and the counts. Closing
the page stops it; begun again, it finds those that are left.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from bpm.engine import batches
from bpm.queries import instances
from cockpit.access import actor_of
from cockpit.actions.answering import Refused, number_in, reason_in, verb
from cockpit.pages.migration import TO, asked_in
from cockpit.pages.shown import Shown

# Instances of one request: a few seconds at the most.
AT_ONCE = 20


@verb
def view(request: HttpRequest, id: UUID) -> Any:
    """POST version, to:NODE, drop, reason, total; of a request that goes on also after, done and refused."""
    asked = asked_in(request.POST, number_in(request, "version"))
    reason = reason_in(request)
    ids = instances.open_ids(id, after=_after(request), limit=AT_ONCE)
    came = batches.migrate_each(
        ids, actor=actor_of(request), version=asked.version, nodes=asked.nodes, drop=asked.drop, reason=reason
    )
    done = number_in(request, "done", least=0) + len(came.done)
    refused = number_in(request, "refused", least=0) + len(came.refused)
    context = {
        "again": reverse("cockpit:migrate-version", args=[id]),
        "fields": [(name, value) for name, value in request.POST.items() if name.startswith(TO)],
        "asked": asked,
        "reason": reason,
        "after": ids[-1] if len(ids) == AT_ONCE else None,
        "done": done,
        "refused": refused,
        "total": max(number_in(request, "total", least=0), done + refused),
        "refusals": came.refused,
    }
    return Shown("cockpit/migrate_progress.html", context=context, fragment=True)


def _after(request: HttpRequest) -> UUID | None:
    """The last instance that was looked at. Raises Refused."""
    text = request.POST.get("after", "")
    try:
        return UUID(text) if text else None
    except ValueError:
        raise Refused(_("Instances are named by their ids.")) from None
