"""Deployed processes: the list, and one of them with its diagram."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from bpm.queries import definitions, diagram, instances
from bpm.queries.nodes import nodes_of
from cockpit.pages.shown import Shown, first, kept, page_of


def listing(request: HttpRequest) -> Shown:
    """The latest versions with what runs of each."""
    search = first(request, "q")
    found = page_of(definitions.list_definitions, request, search=search or None, counts=True)
    context = {"page": found, "search": search, "query": kept(request, "q")}
    return Shown("cockpit/definitions.html", _("Processes"), context)


def page(request: HttpRequest, id: UUID) -> Shown:
    """One version: the diagram with what stands where, its other versions, its newest instances."""
    definition = definitions.get_definition(id, counts=True)
    if definition is None:
        raise Http404(_("There is no such process definition."))
    context = {
        "definition": definition,
        "versions": definitions.versions_of(definition.key),
        "marks": diagram.marks_of_definition(definition),
        "nodes": nodes_of(id).values(),
        "instances": instances.list_instances(definition_key=definition.key, definition_id=id, size=10),
    }
    return Shown("cockpit/definition.html", definition.title, context)
