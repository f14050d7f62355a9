"""Going on with another definition of the process.

`plan` (two graphs, no instance) pairs the nodes and names what does not fit; `migrate` decides the step on the new
graph: every open token, task, timer, ticket and incident is set to its new node. Boundary events and event subprocesses
that are new begin to wait; what the new definition does not have any more ends only where the command says so (`drop`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bpm.graph import Node, Process
from bpm.semantics import commands as c
from bpm.semantics import view
from bpm.semantics.state import Token
from bpm.semantics.tokens import end_attached
from bpm.semantics.waiting import wait_for
from bpm.semantics.work import Refused, Stuck, Work

# Where the flow by which a token came decides what happens next.
JOINS = ("parallel", "inclusive", "complex")


@dataclass(frozen=True, slots=True)
class Plan:
    """`nodes`: old id -> new id for every node that has a partner; `problems`: sentences on those that have none, or
    one that is something else.
    """

    nodes: dict[str, str]
    problems: tuple[str, ...]


def plan(old: Process, new: Process, nodes: dict[str, str] | None = None) -> Plan:
    """Pair the nodes of two definitions: as told, else those of the same id."""
    told = nodes or {}
    paired: dict[str, str] = {}
    problems = [f"the old definition has no node {id}" for id in sorted(told) if id not in old.nodes]
    for id in _in_order(old, old.id):
        target = told.get(id, id)
        found = new.nodes.get(target)
        if found is None:
            problems.append(f"{id} has no partner: {target} is not in the new definition")
        elif (said := _difference(old.nodes[id], found, told, old, new)) is not None:
            problems.append(f"{id} and {target} differ: {said}")
        else:
            paired[id] = target
    return Plan(paired, tuple(problems))


def _in_order(graph: Process, scope: str) -> Iterator[str]:
    """All nodes of a scope and the scopes in it, in the order of the model; the dicts of a stored graph have none."""
    for id in graph.scopes[scope].nodes:
        yield id
        if id in graph.scopes:
            yield from _in_order(graph, id)


def _difference(one: Node, other: Node, told: dict[str, str], old: Process, new: Process) -> str | None:
    if one.kind != other.kind:
        return f"a {one.element} became a {other.element}"
    if (one.trigger and one.trigger.kind) != (other.trigger and other.trigger.kind):
        return "they wait for different things"
    if (one.loop and one.loop.kind) != (other.loop and other.loop.kind):
        return "they loop differently"
    if told.get(one.scope, one.scope) != other.scope and (one.scope, other.scope) != (old.id, new.id):
        return f"one lies in {one.scope}, the other in {other.scope}"
    if one.attached_to and told.get(one.attached_to, one.attached_to) != other.attached_to:
        return f"one is attached to {one.attached_to}, the other to {other.attached_to}"
    return None


def migrate(work: Work, command: c.MigrateInstance) -> None:
    """Set everything that is open to its node in the new graph; refused where something would be lost."""
    tokens = sorted(view.subtree(work.state, 0), key=lambda token: token.id)
    attached = {token.id: view.attached(work.state, token.id) for token in tokens} | {0: view.attached(work.state, 0)}
    lost = sorted({t.node for t in tokens if _new(command, t.node) not in work.graph.nodes})
    lost += sorted(
        {one.node for held in attached.values() for _, one in held if _new(command, one.node) not in work.graph.nodes}
        - set(command.drop)
        - set(lost)
    )
    if lost:
        raise Refused("invalid", f"open at nodes that the new definition does not have: {', '.join(lost)}")
    for token in tokens:
        gateway = work.graph.nodes[_new(command, token.node)]
        if gateway.kind in JOINS and token.flow is not None and token.flow not in gateway.incoming:
            raise Refused("invalid", f"token {token.id} has come to {gateway.id} by {token.flow}, which is gone")
    nodes = dict(sorted(command.nodes.items()))
    work.emit("INSTANCE_MIGRATED", 0, reason="operator", definition=command.definition, nodes=nodes, text=command.text)
    for token in tokens:
        _set(work, "token", token, _new(command, token.node))
    for held in attached.values():
        for kind, one in held:
            if _new(command, one.node) in work.graph.nodes:
                _set(work, kind, one, _new(command, one.node))
            else:
                end_attached(work, kind, one, reason="operator")
    try:
        for token in tokens:
            _begin_to_wait(work, work.token(token.id))
        _wait_in_scope(work, 0, work.graph.id)
    except Stuck as stuck:
        raise Refused("invalid", stuck.message) from None


def _new(command: c.MigrateInstance, node: str) -> str:
    return command.nodes.get(node, node)


def _set(work: Work, kind: str, one: Any, node: str) -> None:
    if node != one.node:
        token = one.id if kind == "token" else one.token
        work.emit(f"{kind.upper()}_MIGRATED", one.id, token=token, node=node, reason="operator", origin=one.node)


def _begin_to_wait(work: Work, token: Token) -> None:
    """Boundary events and event subprocesses that the token's node has gained."""
    node = work.node(token)
    if token.state != "WAITING" or token.index is not None or token.step == "enter":
        return
    if work.state.index.get(("parent", token.id)):
        return  # a fork's own token is nowhere
    waited = {one.node for _, one in view.attached(work.state, token.id)}
    for boundary in node.boundary:
        if boundary not in waited:
            wait_for(work, token.id, work.graph.node(boundary))
    if node.id in work.graph.scopes:
        _wait_in_scope(work, token.id, node.id)


def _wait_in_scope(work: Work, token: int, scope: str) -> None:
    waited = {one.node for _, one in view.attached(work.state, token)}
    for id in work.graph.scopes[scope].event_subprocesses:
        start = work.graph.scopes[id].starts[0]
        if start not in waited:
            wait_for(work, token, work.graph.node(start))
