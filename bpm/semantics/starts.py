"""Where a process starts."""

from __future__ import annotations

from bpm.graph import Node, Process
from bpm.semantics.work import Refused


def start_node(graph: Process, id: str | None) -> Node:
    """The start event of that id; without an id the none start event, or, where a process has none but exactly one
    message start event, that (as Camunda does). Refused where there is no such start.
    """
    starts = [graph.node(one) for one in graph.scopes[graph.id].starts]
    if id is not None:
        named = graph.nodes.get(id)
        if named is None or named not in starts:
            raise Refused("invalid", f"{graph.id} does not start at {id}")
        return named
    plain = [one for one in starts if one.trigger is None or one.trigger.kind == "none"]
    if len(plain) == 1:
        return plain[0]
    if not plain and len(starts) == 1 and starts[0].trigger and starts[0].trigger.kind == "message":
        return starts[0]
    raise Refused("invalid", f"{graph.id} has {len(plain)} plain start events: it cannot be started by its key alone")
