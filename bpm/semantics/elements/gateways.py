"""Exclusive, parallel, inclusive and event-based gateways."""

from __future__ import annotations

from bpm.graph import Flow, Node
from bpm.semantics import view
from bpm.semantics.elements.flows import all_that_hold, first_that_holds
from bpm.semantics.elements.waiting import wait_for
from bpm.semantics.joins import fire, inclusive_ready, joins, parallel_ready
from bpm.semantics.tokens import wait
from bpm.semantics.work import Work


def enter_open(work: Work, token: int, node: Node) -> bool:
    """A gateway at which nobody waits."""
    return True


def enter_parallel(work: Work, token: int, node: Node) -> bool:
    """Wait until every incoming flow has a token."""
    if not joins(node):
        return True
    found = work.token(token)
    ready = parallel_ready(work, node, [*view.arrived(work.state, found.scope, node.id), found])
    if not ready:
        wait(work, token, "join")
        return False
    if token not in {one.id for one in ready}:
        wait(work, token, "join")
    fire(work, node, ready)
    return False


def enter_inclusive(work: Work, token: int, node: Node) -> bool:
    """Wait until no token can come any more. The end of the step judges (`judge_scope`), this token included."""
    if not joins(node):
        return True
    wait(work, token, "join")
    return False


def enter_event_based(work: Work, token: int, node: Node) -> bool:
    """Wait for whichever of the following events comes first (BPMN 2.0.2, 13.4.4)."""
    for flow in work.graph.outgoing(node):
        wait_for(work, token, work.graph.node(flow.target))
    wait(work, token, "none")
    return False


def leave_exclusive(work: Work, token: int, node: Node) -> list[Flow]:
    """One flow."""
    return first_that_holds(work, token, node)


def leave_parallel(work: Work, token: int, node: Node) -> list[Flow]:
    """Every flow; conditions are not asked."""
    return work.graph.outgoing(node)


def leave_inclusive(work: Work, token: int, node: Node) -> list[Flow]:
    """Every flow whose condition holds."""
    return all_that_hold(work, token, node)


def judge_inclusive(work: Work) -> None:
    """At the end of a step: fire the inclusive gateways of scopes where a token moved or ended, until none fires."""
    fired = True
    while fired:
        fired = any(_judge_scope(work, scope) for scope in _touched_scopes(work))


def _touched_scopes(work: Work) -> list[int]:
    return sorted({work.state.tokens[key].scope for kind, key in work.state.touched if kind == "token"})


def _judge_scope(work: Work, scope: int) -> bool:
    name = work.graph.id if scope == 0 else work.token(scope).node
    if name not in work.graph.scopes:
        return False  # the scope's token has moved on: nothing in it is open
    gates = [work.graph.node(id) for id in work.graph.scopes[name].nodes if id in work.graph.reach]
    for node in gates:
        if node.kind != "inclusive":
            continue
        waiting = view.arrived(work.state, scope, node.id)
        ready = inclusive_ready(work, node, scope, waiting)
        if ready:
            fire(work, node, ready)
            return True
    return False
