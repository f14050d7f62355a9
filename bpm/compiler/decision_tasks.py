"""Business rule tasks: a DMN decision that the engine evaluates, or work outside.

camunda:decisionRef with decisionRefBinding, decisionRefVersion, decisionRefVersionTag, mapDecisionResult and
resultVariable (Camunda 7, "Business Rule Task"); zeebe:calledDecision with decisionId, bindingType, versionTag and
resultVariable."""

from __future__ import annotations

from typing import Final

from bpm.compiler import formulas
from bpm.compiler.activities import activity
from bpm.compiler.calls import binding
from bpm.compiler.place import Place
from bpm.compiler.work import result_name, service
from bpm.compiler.xml import Element
from bpm.decisions.results import MAPPINGS
from bpm.graph import DecisionSpec, Formula, Node

# What becomes of the result where mapDecisionResult is absent (Camunda 7).
_USUAL_MAPPING: Final = "resultList"


def rule(place: Place) -> Node:
    """businessRuleTask. Reported: an unknown binding or mapping, a version that is not said."""
    called = place.extensions.zeebe.get("calledDecision")
    if called is not None:
        return activity(place, "decision", decision=_zeebe(place, called))
    if place.extensions.get("decisionRef"):
        return activity(place, "decision", decision=_camunda(place))
    return service(place)


def _camunda(place: Place) -> DecisionSpec:
    said = place.extensions
    mapping = said.get("mapDecisionResult") or _USUAL_MAPPING
    if mapping not in MAPPINGS:
        place.report("value-wrong", f"mapDecisionResult is {mapping!r}, which is none of {', '.join(MAPPINGS)}.")
    bound = binding(place, said.get("decisionRefBinding") or "latest")
    version = said.get({"version": "decisionRefVersion", "version_tag": "decisionRefVersionTag"}.get(bound, ""))
    return DecisionSpec(
        target=formulas.formula(place, said.get("decisionRef")) or Formula(),
        binding=bound,
        version=_version(place, bound, version),
        result_variable=result_name(said),
        mapping=mapping,
    )


def _zeebe(place: Place, element: Element) -> DecisionSpec:
    target = formulas.formula(place, element.get("decisionId"), at=element)
    if target is None:
        place.report("called-element-missing", "The task says no decision to call: set decisionId.", at=element)
    bound = binding(place, element.get("bindingType", "latest"))
    name = element.get("resultVariable", "").strip()
    if not name:
        place.report("value-wrong", "The called decision needs a resultVariable.", at=element)
    return DecisionSpec(
        target=target or Formula(),
        binding=bound,
        version=_version(place, bound, element.get("versionTag")),
        result_variable=name or None,
    )


def _version(place: Place, bound: str, said: str | None) -> Formula | None:
    if bound not in ("version", "version_tag"):
        return None
    found = formulas.formula(place, said)
    if found is None:
        place.report("value-wrong", f"The decision is bound by its {bound.replace('_', ' ')}, and none is said.")
    return found
