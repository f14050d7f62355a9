"""Where a process starts, and what the first tokens do.

A process starts at one of its start events; at a receive task or behind an event-based gateway that instantiates it
(BPMN 2.0.2, 10.3.3 and 10.6.6); or, without any of these, at every node that no flow leads to (10.5.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from bpm.graph import Node, Process, Trigger
from bpm.semantics.formulas import holds, text
from bpm.semantics.mappings import first_values, set_variable
from bpm.semantics.state import State
from bpm.semantics.tokens import create, move, take, wait
from bpm.semantics.view import Missing
from bpm.semantics.waiting import wait_for
from bpm.semantics.work import Refused, Stuck, Work


def beginnings(graph: Process) -> Iterator[tuple[Node, Trigger]]:
    """What can start the process without its key: the node to start at, and what it waits for. Any part of an event of
    several parts will do; one that needs all of them begins with any, too, and waits for the others.
    """
    for id in graph.scopes[graph.id].nodes:
        node = graph.node(id)
        if node.kind == "event_based" and node.instantiate:
            nodes = [graph.node(flow.target) for flow in graph.outgoing(node)]
        else:
            nodes = [node] if node.kind == "start" or node.instantiate else []
        for one in nodes:
            if one.trigger is not None and one.trigger.kind != "none":
                yield from ((one, part) for part in one.trigger.parts or (one.trigger,))


def condition_holds(graph: Process, node: str, variables: dict[str, Any], at: datetime) -> bool | None:
    """Whether a conditional start event happens with these variables at that time; one that fails does not. None where
    it asks for something that only an instance has (a bean).
    """
    trigger = graph.node(node).trigger or Trigger()
    work = Work(graph, State(), at)
    for part in trigger.parts or (trigger,):
        try:
            if part.condition is not None and holds(work, 0, part.condition, variables):
                return True
        except Stuck:
            continue
        except Missing:
            return None
    return False


def implicit_starts(graph: Process, scope: str) -> list[Node]:
    """The nodes of a scope that no flow leads to and that nothing else begins."""
    nodes = [graph.node(id) for id in graph.scopes[scope].nodes]
    return [node for node in nodes if not node.incoming and not node.for_compensation and not _begun_otherwise(node)]


def _begun_otherwise(node: Node) -> bool:
    link = node.kind == "catch" and node.trigger is not None and node.trigger.kind == "link"
    return link or node.kind in ("boundary", "event_subprocess")


def give(work: Work, node: Node | None, variables: dict[str, Any]) -> dict[str, Any]:
    """The first values of the process: those of its data objects and what the start brings. Of what a message brings to
    a start event that maps outputs (Zeebe), the process sees these alone: it is returned, to lie beside the token.
    """
    kept = variables if node is not None and node.outputs_only else {}
    given = {} if kept else variables
    for name, content in (first_values(work.graph.scopes[work.graph.id]) | given).items():
        set_variable(work, 0, name, content)
    return kept


def begin(work: Work, node: Node | None, reason: str) -> list[int]:
    """The first tokens of a run, ACTIVE, at the node that was found for its command (None: at every implicit start)."""
    if node is None:
        nodes = implicit_starts(work.graph, work.graph.id)
        return [create(work, one, scope=0, reason=reason) for one in nodes]
    gateway = _gateway_before(work.graph, node)
    if gateway is not None:
        return _begin_behind(work, gateway, node, reason)
    if node.kind != "start":
        return [create(work, node, scope=0, reason=reason, step="leave")]
    return [create(work, node, scope=0, reason=reason)]


def await_others(work: Work, token: int, trigger: str, name: str | None = None) -> None:
    """At a start event that needs several events, wait for those that have not come. Raises Stuck."""
    node = work.node(work.token(token))
    if node.kind == "start" and node.trigger is not None and node.trigger.kind == "parallel_multiple":
        came = _part(work, node.trigger, trigger, name)
        wait_for(work, token, node, tuple(part for part in node.trigger.parts if part is not came))
        wait(work, token, "none")


def _begin_behind(work: Work, gateway: Node, event: Node, reason: str) -> list[int]:
    """The event that came lets its token go on; where the gateway needs all its events, others wait for the rest."""
    token = create(work, gateway, scope=0, reason=reason)
    flows = work.graph.outgoing(gateway)
    if not gateway.parallel_events:
        flow = next(flow for flow in flows if flow.target == event.id)
        move(work, token, event.id, reason, flow=flow.id, step="leave")
        return [token]
    take(work, token, flows)
    children = sorted(work.state.index.get(("parent", token), ()))
    for child in children:
        if work.token(child).node == event.id:
            work.change("TOKEN_STATE_CHANGED", "token", work.token(child), "ACTIVE", reason=reason, step="leave")
    return children


def _part(work: Work, trigger: Trigger, kind: str, name: str | None) -> Trigger | None:
    """The part of the event that has come with the start."""
    for part in trigger.parts:
        if part.kind == kind and name in (None, text(work, 0, part.name)):
            return part
    return None


def start_node(graph: Process, id: str | None) -> Node | None:
    """The node of that id, at which the process can start. Without an id: the none start event, else the only timer
    start event, else the only start event, whatever it waits for (as Camunda 7 does: BpmnParse.selectInitial); None
    where it has no start of any kind. Refused where there is no such start.
    """
    starts = [graph.node(one) for one in graph.scopes[graph.id].starts]
    if id is not None:
        named = graph.nodes.get(id)
        if named is None or not _starts_at(graph, named):
            raise Refused("invalid", f"{graph.id} does not start at {id}")
        return named
    plain = [one for one in starts if one.trigger is None or one.trigger.kind == "none"]
    if len(plain) == 1:
        return plain[0]
    timers = [one for one in starts if one.trigger is not None and one.trigger.kind == "timer"]
    for only in (timers, starts):
        if not plain and len(only) == 1:
            return only[0]
    if not starts and not any(graph.node(one).instantiate for one in graph.scopes[graph.id].nodes):
        if not implicit_starts(graph, graph.id):
            raise Refused("invalid", f"{graph.id} has no node to start at")
        return None
    raise Refused("invalid", f"{graph.id} has {len(plain)} plain start events: it cannot be started by its key alone")


def _starts_at(graph: Process, node: Node) -> bool:
    if node.scope != graph.id:
        return False
    return node.kind == "start" or node.instantiate or _gateway_before(graph, node) is not None


def _gateway_before(graph: Process, node: Node) -> Node | None:
    """The event-based gateway that instantiates the process and has the node behind it."""
    for flow in node.incoming:
        source = graph.node(graph.flows[flow].source)
        if source.kind == "event_based" and source.instantiate:
            return source
    return None
