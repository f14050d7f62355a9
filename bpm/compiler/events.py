"""Events: start, intermediate catch and throw, boundary, end."""

from __future__ import annotations

from bpm.compiler.activities import waits
from bpm.compiler.document import flag, tag
from bpm.compiler.mappings import mappings, refuse, zeebe_outputs
from bpm.compiler.place import Place, node
from bpm.compiler.triggers import definitions, trigger
from bpm.compiler.users import form
from bpm.compiler.work import bound_work
from bpm.graph import Mapping, Node


def start(place: Place) -> Node:
    """startEvent. `interrupting` speaks in event subprocesses; a form on it is the form to start the process with."""
    refuse(place)
    return node(
        place,
        "start",
        trigger=trigger(place),
        outputs=mappings(place)[1],
        outputs_only=zeebe_outputs(place),
        interrupting=flag(place.element, "isInterrupting", default=True),
        user=form(place),
        **waits(place),
    )


def catch(place: Place) -> Node:
    """intermediateCatchEvent."""
    return _event(place, "catch")


def throw(place: Place) -> Node:
    """intermediateThrowEvent; a message may be bound to a worker that sends it."""
    return _sending(place, "throw")


def end(place: Place) -> Node:
    """endEvent; a message may be bound to a worker that sends it."""
    return _sending(place, "end")


def boundary(place: Place) -> Node:
    """boundaryEvent, interrupting unless cancelActivity is false."""
    refuse(place)
    return _event(
        place,
        "boundary",
        attached_to=place.element.get("attachedToRef", ""),
        interrupting=flag(place.element, "cancelActivity", default=True),
    )


def _sending(place: Place, kind: str) -> Node:
    """A throwing event. The work of a message is bound at its definition (camunda family) or at the event
    (zeebe:taskDefinition)."""
    for definition in definitions(place, place.element):
        bound = bound_work(place, definition) if tag(definition) == "messageEventDefinition" else None
        if bound is not None:
            return _event(place, kind, bound.inputs, bound.outputs, work=bound.work)
    return _event(place, kind)


def _event(
    place: Place, kind: str, inputs: tuple[Mapping, ...] = (), outputs: tuple[Mapping, ...] = (), **fields: object
) -> Node:
    mapped_in, mapped_out = mappings(place)
    return node(
        place,
        kind,
        trigger=trigger(place),
        inputs=mapped_in + inputs,
        outputs=outputs + mapped_out,
        outputs_only=zeebe_outputs(place),
        **waits(place),
        **fields,
    )
