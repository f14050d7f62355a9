"""The BPMN XML of a deployed process, as it was deployed."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.text import slugify
from django.utils.translation import gettext as _

from bpm.queries import definitions


def view(request: HttpRequest, id: UUID) -> HttpResponse:
    """The XML; with ?download=1 as a file. It never changes, so the browser may keep it."""
    source = definitions.source_of(id)
    definition = definitions.get_definition(id)
    if source is None or definition is None:
        raise Http404(_("There is no such process definition."))
    # Plain text where the browser would otherwise show a document of somebody else's making as one of ours.
    response = HttpResponse(source, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "private, max-age=86400, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    if request.GET.get("download"):
        name = f"{slugify(definition.key) or 'process'}-{definition.version}.bpmn"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
