"""What history says of a way through the model: which node an event passes, which end event it reaches."""

from __future__ import annotations

from bpm.graph import Process
from bpm.semantics.events import Event

# End events that end more than their token; when they do, the token may not count as passed.
ENDING_TRIGGERS = ("error", "cancel", "terminate")


def passes(event: Event) -> str | None:
    """The node that a token has passed with this event; None where it passed none.

    A node is passed when a token leaves it: by a flow, by several, or by ending there. A joining gateway is so passed
    once each time it fires, and an activity that is interrupted not at all.
    """
    match event.type:
        case "TOKEN_MOVED":
            origin: str | None = event.payload["origin"] if event.payload.get("left") else None
            return origin
        case "TOKEN_FORKED":
            return event.node
        case "TOKEN_COMPLETED":
            return event.node if event.payload.get("passed") else None
    return None


def reaches_end(graph: Process, event: Event) -> str | None:
    """The end event that a token has reached with this event, also where throwing ended its own scope."""
    node = graph.nodes.get(passes(event) or event.node or "")
    if node is None or node.kind != "end":
        return None
    if passes(event) == node.id:
        return node.id
    thrown = node.trigger is not None and node.trigger.kind in ENDING_TRIGGERS
    return node.id if thrown and event.type in ("TOKEN_FAILED", "TOKEN_CANCELLED") else None
