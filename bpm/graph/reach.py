"""Which nodes can still send a token to an incoming flow of a joining gateway.

Source of the rule: BPMN 2.0.2, 13.4.3 (inclusive gateway): a path that does not visit the gateway itself. A boundary
event counts as a path out of its activity, a link throw as a path to the link catch of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable

from bpm.graph.model import Node, Process


def reach(process: Process, gateway: Node, *, itself: bool = False) -> dict[str, tuple[str, ...]]:
    """For each incoming flow of the gateway: ids of the nodes of its scope that can reach it, in scope order.

    `itself`: leave out the paths through non-interrupting boundary events, which another token takes.
    """
    members = process.scopes[gateway.scope].nodes
    back = _predecessors(process, members, itself)
    found: dict[str, tuple[str, ...]] = {}
    for flow in gateway.incoming:
        reached = _walk_back(process.flows[flow].source, back, stop=gateway.id)
        found[flow] = tuple(id for id in members if id in reached)
    return found


def _predecessors(process: Process, members: Iterable[str], itself: bool) -> dict[str, list[str]]:
    """node -> the nodes from which a token can step to it."""
    back: dict[str, list[str]] = {id: [] for id in members}
    nodes = [process.nodes[id] for id in back]
    for node in nodes:
        for flow in process.outgoing(node):
            back[flow.target].append(node.id)
        for boundary in node.boundary:
            if process.nodes[boundary].interrupting or not itself:
                back[boundary].append(node.id)
        if _links(node, "throw"):
            for catch in nodes:
                if _links(catch, "catch") and _name(catch) == _name(node):
                    back[catch.id].append(node.id)
    return back


def _links(node: Node, kind: str) -> bool:
    return node.kind == kind and node.trigger is not None and node.trigger.kind == "link"


def _name(node: Node) -> str:
    return node.trigger.name.text if node.trigger and node.trigger.name else ""


def _walk_back(start: str, back: dict[str, list[str]], *, stop: str) -> frozenset[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        id = todo.pop()
        if id == stop or id in seen:
            continue
        seen.add(id)
        todo.extend(back[id])
    return frozenset(seen)
