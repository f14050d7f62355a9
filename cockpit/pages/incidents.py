"""Incidents: what stopped, why, and how often; one by one or all of a kind at once."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from bpm.queries import definitions, incidents
from bpm.queries.paging import tag_of
from cockpit.access import may_operate
from cockpit.pages.shown import Shown, exact, first, kept, page_of

# So many are retried at once.
MOST = 500
FILTERS = ("process", "node", "message", "state")


def listing(request: HttpRequest) -> Shown:
    """One page of incidents; asked by htmx: the rows alone."""
    state = "RESOLVED" if first(request, "state") == "resolved" else "OPEN"
    wanted = {
        "definition_key": first(request, "process") or None,
        "node": first(request, "node") or None,
        "message": exact(first(request, "message")),
    }
    page = page_of(incidents.list_incidents, request, state=state, **wanted)
    context = {
        "page": page,
        "state": state,
        "process": first(request, "process"),
        "node": first(request, "node"),
        "message": first(request, "message"),
        "after": first(request, "after"),
        "query": kept(request, *FILTERS),
        "narrowed": any(first(request, name) for name in ("process", "node", "message")),
    }
    tag = tag_of(page, may_operate(request))
    if request.headers.get("HX-Request"):
        return Shown("cockpit/incidents_rows.html", context=context, fragment=True, tag=tag)
    number = len(incidents.open_ids(MOST + 1, **wanted)) if state == "OPEN" and may_operate(request) else 0
    extra: dict[str, Any] = {"number": min(number, MOST), "more": number > MOST}
    extra |= {"processes": definitions.keys_with_names(), "groups": incidents.grouped() if state == "OPEN" else []}
    return Shown("cockpit/incidents.html", _("Incidents"), {**context, **extra}, tag=tag)
