"""The instance as it was: the diagram and the variables after one of its commits."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext as _

from bpm.audit.past import NoPast, past_of
from bpm.queries.rows import Marks
from cockpit.pages.instance import found
from cockpit.pages.shown import Shown, first


def part(request: HttpRequest, id: UUID) -> Shown:
    """What the slider under the diagram asks for. At the last commit there is nothing to say: that is now."""
    instance = found(id)
    text = first(request, "version")
    version = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else instance.version
    context: dict[str, Any] = {"instance": instance, "version": version}
    if version < instance.version:
        try:
            past = past_of(id, version)
        except NoPast as problem:
            return Shown("cockpit/past.html", context={**context, "trouble": str(problem)}, fragment=True)
        if past is None:
            context["trouble"] = _("History knows no such commit.")
        else:
            context["past"] = past
            context["other"] = past.definition_id != instance.definition_id
            context["marks"] = Marks(tokens=past.tokens, incidents=past.incidents, passed=past.passed, flows=past.flows)
    return Shown("cockpit/past.html", context=context, fragment=True)
