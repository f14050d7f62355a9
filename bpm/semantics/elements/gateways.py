"""Exclusive, parallel, inclusive, complex and event-based gateways."""

from __future__ import annotations

from bpm.graph import Node
from bpm.semantics import view
from bpm.semantics.joins import fire, parallel_ready
from bpm.semantics.tokens import wait
from bpm.semantics.waiting import wait_for
from bpm.semantics.work import Work


def pass_gateway(work: Work, token: int, node: Node) -> bool:
    """A gateway at which nobody waits."""
    return True


def close_gateway(work: Work, token: int, node: Node) -> None:
    """A gateway leaves nothing behind."""


def enter_parallel(work: Work, token: int, node: Node) -> bool:
    """Wait until every incoming flow has a token."""
    if len(node.incoming) < 2:
        return True
    found = work.token(token)
    ready = parallel_ready(node, [*view.arrived(work.state, found.scope, node.id), found])
    if token not in {one.id for one in ready}:
        wait(work, token, "join")
    if ready:
        fire(work, node, ready)
    return False


def enter_judged(work: Work, token: int, node: Node) -> bool:
    """Wait for the end of the step, which judges inclusive and complex joins (`bpm.semantics.judging`)."""
    if len(node.incoming) < 2:
        return True
    wait(work, token, "join")
    return False


def enter_event_based(work: Work, token: int, node: Node) -> bool:
    """Wait for whichever of the following events comes first (BPMN 2.0.2, 13.4.4)."""
    for flow in work.graph.outgoing(node):
        wait_for(work, token, work.graph.node(flow.target))
    wait(work, token, "none")
    return False
