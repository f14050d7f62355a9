"""Deployed decisions: the list, one with its tables and a form to try inputs, and how one was made in an instance."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from bpm.engine.decisions import Evaluated, evaluate_decision
from bpm.engine.errors import EngineError
from bpm.engine.variables import loads
from bpm.queries import decision_tables, decisions, instances
from bpm.queries.nodes import name_of
from cockpit.pages.shown import Shown, first, kept, page_of


def listing(request: HttpRequest) -> Shown:
    """The latest versions."""
    search = first(request, "q")
    found = page_of(decisions.list_decisions, request, search=search or None)
    return Shown(
        "cockpit/decisions.html", _("Decisions"), {"page": found, "search": search, "query": kept(request, "q")}
    )


def page(request: HttpRequest, id: UUID) -> Shown:
    """One version: its table and those it requires; with ?variables= evaluated, and the rules that matched marked."""
    decision = decisions.get_decision(id)
    if decision is None:
        raise Http404(_("There is no such decision."))
    given = first(request, "variables")
    evaluated, refused = _tried(id, given) if given else (None, "")
    context = {
        "decision": decision,
        "versions": decisions.versions_of(decision.key),
        "parts": decision_tables.parts_of(id, evaluated.tables if evaluated else ()),
        "given": given,
        "names": dict.fromkeys(decision_tables.variables_of(id)),
        "evaluated": evaluated,
        "refused": refused,
    }
    return Shown("cockpit/decision.html", decision.title, context)


def evaluation(request: HttpRequest, id: UUID) -> Shown:
    """How a decision was made in an instance: as history has it, in the tables of the version that was meant."""
    made = decisions.get_evaluation(id)
    decision = None if made is None else decisions.get_decision(made.definition_id)
    if made is None or decision is None:
        raise Http404(_("History knows no such decision."))
    instance = instances.get_instance(made.instance_id)
    context: dict[str, Any] = {
        "decision": decision,
        "evaluated": made,
        "instance": instance,
        "place": name_of(instance.definition_id, made.node_id) if instance else made.node_id,
        "parts": decision_tables.parts_of(decision.id, made.tables),
    }
    return Shown("cockpit/evaluation.html", decision.title, context)


def _tried(id: UUID, given: str) -> tuple[Evaluated | None, str]:
    """The evaluation with the variables of the form, or why there is none."""
    try:
        return evaluate_decision(id, loads(given)), ""
    except EngineError as refused:
        return None, refused.message
