"""What all activities share, and the ones that need nothing else: undefined and manual task, receive task,
subprocesses."""

from __future__ import annotations

from typing import Any

from bpm.compiler import formulas
from bpm.compiler.document import child, flag
from bpm.compiler.loops import loop
from bpm.compiler.mappings import mappings, refuse, zeebe_outputs
from bpm.compiler.place import Place, node
from bpm.compiler.triggers import message
from bpm.graph import Formula, Mapping, Node


def activity(
    place: Place, kind: str, *, inputs: tuple[Mapping, ...] = (), outputs: tuple[Mapping, ...] = (), **fields: Any
) -> Node:
    """The node of an activity; `inputs` come after those that the model maps, `outputs` before."""
    mapped_in, mapped_out = mappings(place)
    return node(
        place,
        kind,
        inputs=mapped_in + inputs,
        outputs=outputs + mapped_out,
        outputs_only=zeebe_outputs(place),
        loop=loop(place),
        for_compensation=flag(place.element, "isForCompensation"),
        start_quantity=_quantity(place, "startQuantity"),
        completion_quantity=_quantity(place, "completionQuantity"),
        **waits(place),
        **fields,
    )


def _quantity(place: Place, name: str) -> int:
    """How many tokens begin the activity, or leave it by each flow (BPMN 2.0.2, table 10.3): one, if not said."""
    said = place.element.get(name, "1").strip()
    if not said.isdecimal() or int(said) < 1:
        place.report("value-wrong", f"{name} is {said!r}, not a whole number of at least 1.")
        return 1
    return int(said)


def waits(place: Place) -> dict[str, bool]:
    """camunda:asyncBefore and asyncAfter (activiti:async is the former): a transaction of its own before or after the
    node."""
    said = place.extensions
    return {"async_before": said.flag("asyncBefore") or said.flag("async"), "async_after": said.flag("asyncAfter")}


def passing(place: Place) -> Node:
    """task and manualTask: the token goes through (BPMN 2.0.2, 13.3.3; a manual task is done outside of any engine)."""
    return activity(place, "pass")


def receive(place: Place) -> Node:
    """receiveTask: waits for its message. One without a message waits until an operator lets it go on."""
    if place.element.get("messageRef") is None:
        place.report("receive-without-message", "The receive task names no message: only an operator can let it go on.")
    trigger = message(place, place.element, required=place.element.get("messageRef") is not None)
    return activity(place, "receive", trigger=trigger, instantiate=flag(place.element, "instantiate"))


def _active(place: Place) -> Formula | None:
    """zeebe:adHoc: which elements of an ad-hoc subprocess begin. Its outputCollection is refused."""
    said = place.extensions.zeebe.get("adHoc")
    if said is None:
        return None
    if said.get("outputCollection"):
        finding = "An ad-hoc subprocess gathers no outputs here: let its activities write variables."
        place.report("unsupported-extension", finding, at=said)
    return formulas.formula(place, said.get("activeElementsCollection"), at=said)


def subprocess(place: Place) -> Node:
    """subProcess, transaction, adHocSubProcess; their content is lowered as a scope of its own (`lowering`)."""
    element = place.element
    if flag(element, "triggeredByEvent"):
        refuse(place)
        return activity(place, "event_subprocess")
    if place.tag == "adHocSubProcess":
        done = child(element, "completionCondition")
        return activity(
            place,
            "subprocess",
            ad_hoc=True,
            ad_hoc_active=_active(place),
            ad_hoc_completion=None
            if done is None
            else formulas.condition(place, done, what="The completion condition"),
            cancel_remaining=flag(element, "cancelRemainingInstances", default=True),
        )
    return activity(place, "subprocess", transaction=place.tag == "transaction")
