"""Deploy BPMN and DMN files: what cannot be run is refused with everything that was found."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bpm.engine import deploying
from bpm.engine.errors import DeployRefused
from cockpit.access import actor_of
from cockpit.actions.answering import Refused, done, verb

LARGEST = 20 * 1024 * 1024
MOST_SHOWN = 12


@verb
def view(request: HttpRequest) -> HttpResponse:
    """POST files."""
    files = {file.name or "model.bpmn": file.read() for file in request.FILES.getlist("files") if file.size}
    if not files:
        raise Refused(_("There is no file to deploy."))
    if sum(len(content) for content in files.values()) > LARGEST:
        raise Refused(_("The files are too large."))
    try:
        deployed = deploying.deploy(files, actor=actor_of(request))
    except DeployRefused as refused:
        for diagnostic in refused.diagnostics[:MOST_SHOWN]:
            messages.error(request, str(diagnostic))
        return redirect("cockpit:definitions")
    said = []
    if deployed.definitions:
        number = len(deployed.definitions)
        said.append(
            ngettext("%(number)d process is deployed.", "%(number)d processes are deployed.", number)
            % {"number": number}
        )
    if deployed.decisions:
        number = len(deployed.decisions)
        said.append(
            ngettext("%(number)d decision is deployed.", "%(number)d decisions are deployed.", number)
            % {"number": number}
        )
    page = "cockpit:definitions" if deployed.definitions else "cockpit:decisions"
    return done(request, " ".join(said), page)
