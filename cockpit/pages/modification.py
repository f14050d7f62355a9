"""Putting the tokens of an instance elsewhere: choose on the diagram or in lists, see what would happen, then do it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict
from django.utils.translation import gettext as _

from bpm.engine import versions
from bpm.engine.errors import EngineError
from bpm.engine.variables import loads
from bpm.queries import diagram, instances
from bpm.queries.nodes import nodes_of
from cockpit.access import actor_of, operators_only
from cockpit.pages.rehearsal import Rehearsal, rehearsed
from cockpit.pages.shown import Shown, first

# Field of the form -> argument of the verb; all but the last take ids of nodes.
FIELDS = {"before": "start_before", "after": "start_after", "end": "cancel_at", "token": "cancel_tokens"}


@operators_only
def page(request: HttpRequest, id: UUID) -> Shown:
    """The form with what was chosen so far, and what it would bring about."""
    instance = instances.get_instance(id)
    if instance is None:
        raise Http404(_("There is no such instance."))
    nodes = nodes_of(instance.definition_id)
    chosen = chosen_in(request.GET)
    verb, node = request.GET.get("verb", ""), request.GET.get("node", "")
    if verb in ("before", "after", "end") and node in nodes and node not in chosen[verb]:
        chosen[verb].append(node)
    marks = diagram.marks_of_instance(instance.id, instance.started_at)
    context: dict[str, Any] = {
        "instance": instance,
        "nodes": nodes.values(),
        "verb": verb or "before",
        "chosen": [
            (field, node, nodes[node].name if node in nodes else node)
            for field in ("before", "after", "end")
            for node in chosen[field]
        ],
        "tokens": [(token, str(token.id) in chosen["token"]) for token in instances.open_work(instance).tokens],
        "variables": request.GET.get("variables", "").strip(),
        "reason": first(request, "reason"),
        "marks": replace(marks, starts=_counted([*chosen["before"], *chosen["after"]]), ends=_counted(chosen["end"])),
    }
    if instance.is_open and (any(chosen.values()) or context["variables"]):
        context["rehearsal"] = _rehearsed(request, id, instance.definition_id, chosen, context["variables"])
    return Shown("cockpit/modify.html", _("Modify the instance"), context)


def chosen_in(sent: QueryDict) -> dict[str, list[str]]:
    """What was chosen, by field."""
    return {field: list(dict.fromkeys(value for value in sent.getlist(field) if value)) for field in FIELDS}


def arguments_of(chosen: dict[str, list[str]], variables: str) -> dict[str, Any]:
    """The arguments of the verb. Raises EngineError for variables that are none."""
    found = loads(variables or "{}")
    return {argument: chosen[field] for field, argument in FIELDS.items()} | {"variables": found}


def _rehearsed(
    request: HttpRequest, id: UUID, definition_id: UUID, chosen: dict[str, list[str]], variables: str
) -> Rehearsal:
    try:
        arguments = arguments_of(chosen, variables)
    except EngineError as refused:
        return Rehearsal(refused=refused.message)
    return rehearsed(lambda: versions.modify_instance(id, actor=actor_of(request), **arguments), definition_id)


def _counted(nodes: list[str]) -> dict[str, int]:
    return {node: nodes.count(node) for node in nodes}
