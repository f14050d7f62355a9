"""Incidents: what stopped, why, and how often; one by one or all of a kind at once."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from bpm.queries import definitions, incidents
from bpm.queries.paging import tag_of
from cockpit.access import may_operate
from cockpit.pages.shown import Shown, exact, first, kept, page_of

FILTERS = ("process", "node", "message", "state")


def listing(request: HttpRequest) -> Shown:
    """One page of incidents; asked by htmx: the rows alone."""
    state = "RESOLVED" if first(request, "state") == "resolved" else "OPEN"
    page = page_of(
        incidents.list_incidents,
        request,
        definition_key=first(request, "process") or None,
        node=first(request, "node") or None,
        message=exact(first(request, "message")),
        state=state,
    )
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
    extra = {"processes": definitions.keys_with_names(), "groups": incidents.grouped() if state == "OPEN" else []}
    return Shown("cockpit/incidents.html", _("Incidents"), {**context, **extra}, tag=tag)
