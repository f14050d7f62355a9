"""Gateways: exclusive, parallel, inclusive, event-based, complex. Their flows are linked afterwards (`lowering`)."""

from __future__ import annotations

from bpm.compiler import formulas
from bpm.compiler.activities import waits
from bpm.compiler.document import child, flag
from bpm.compiler.place import Place, node
from bpm.graph import Node


def exclusive(place: Place) -> Node:
    """exclusiveGateway: the first flow whose condition holds, else the default."""
    return node(place, "exclusive", **waits(place))


def parallel(place: Place) -> Node:
    """parallelGateway: all flows; as a join, one token from each."""
    return node(place, "parallel", **waits(place))


def inclusive(place: Place) -> Node:
    """inclusiveGateway: each flow whose condition holds, else the default."""
    return node(place, "inclusive", **waits(place))


def event_based(place: Place) -> Node:
    """eventBasedGateway: the first of the events behind it decides; instantiating, it starts the process."""
    return node(
        place,
        "event_based",
        instantiate=flag(place.element, "instantiate"),
        parallel_events=place.element.get("eventGatewayType") == "Parallel",
        **waits(place),
    )


def complex_gateway(place: Place) -> Node:
    """complexGateway: its activationCondition says when the arriving tokens are enough."""
    asked = child(place.element, "activationCondition")
    found = None if asked is None else formulas.condition(place, asked, what="The activation condition")
    return node(place, "complex", activation_condition=found, **waits(place))
