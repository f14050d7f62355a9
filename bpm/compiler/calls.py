"""Call activities: which process, which version of it, and what passes between caller and called instance.

camunda:in / out (Camunda 7, "Call Activity"): `variables="all"`, `source`, `sourceExpression`, `businessKey`, `local`.
zeebe:calledElement: all variables go in and, with propagateAllChildVariables (the default), all come back."""

from __future__ import annotations

from typing import Final

from bpm.compiler import formulas
from bpm.compiler.activities import activity
from bpm.compiler.mappings import everything, passed
from bpm.compiler.place import Place
from bpm.compiler.xml import Element
from bpm.graph import CallSpec, Formula, Node

# camunda:calledElementBinding and zeebe's bindingType -> ours
_BINDINGS: Final = {
    "latest": "latest",
    "deployment": "deployment",
    "version": "version",
    "versionTag": "version_tag",
}


def call(place: Place) -> Node:
    """The node of a callActivity. Reported: no called element, an unknown binding."""
    zeebe = place.extensions.zeebe.get("calledElement")
    spec = _camunda(place) if zeebe is None else _zeebe(place, zeebe)
    return activity(place, "call", call=spec)


def _camunda(place: Place) -> CallSpec:
    said = place.extensions
    target = formulas.formula(place, place.element.get("calledElement"))
    if target is None and said.get("caseRef") is None:
        finding = "The call activity says no process to call: set calledElement to a process id."
        place.report("called-element-missing", finding)
    if said.get("calledElementType") not in (None, "key"):
        finding = "A called process is named by its key: calledElementType must be key, or left out."
        place.report("unsupported-extension", finding)
    bound = said.get("calledElementBinding") or ("deployment" if said.flag("sameDeployment") else "latest")
    version = said.get("calledElementVersion") or said.get("calledElementVersionTag")
    inputs = [passed(place, item) for item in said.all("in")]
    if said.flag("inheritVariables"):
        inputs.insert(0, everything())
    return CallSpec(
        target=target or Formula(),
        binding=binding(place, bound),
        version=formulas.formula(place, version),
        inputs=tuple(inputs),
        outputs=tuple(passed(place, item) for item in said.all("out")),
    )


def _zeebe(place: Place, element: Element) -> CallSpec:
    target = formulas.formula(place, element.get("processId"), at=element)
    if target is None:
        place.report("called-element-missing", "The call activity says no process to call: set processId.", at=element)
        target = Formula()
    passes_all = element.get("propagateAllParentVariables", "true") != "false"
    return CallSpec(
        target=target,
        binding=binding(place, element.get("bindingType", "latest")),
        version=formulas.formula(place, element.get("versionTag"), at=element),
        # Without them, what the inputs of the activity and its loop have set is passed still.
        inputs=(everything(local=not passes_all),),
        propagate_all_outputs=element.get("propagateAllChildVariables", "true") != "false",
    )


def binding(place: Place, said: str) -> str:
    """Which version a call or a decision is bound to, as the engine calls it. Reported: an unknown word."""
    if said not in _BINDINGS:
        place.report("value-wrong", f"The binding {said!r} is none of {', '.join(_BINDINGS)}.")
    return _BINDINGS.get(said, "latest")
