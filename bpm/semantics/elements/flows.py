"""Which sequence flows a token takes when it leaves a node. All raise Stuck where a condition has no answer."""

from __future__ import annotations

from bpm.graph import Flow, Node
from bpm.semantics.formulas import holds
from bpm.semantics.work import Stuck, Work


def all_flows(work: Work, token: int, node: Node) -> list[Flow]:
    """Every flow; conditions are not asked (BPMN 2.0.2, 13.4.1)."""
    return work.graph.outgoing(node)


def first_that_holds(work: Work, token: int, node: Node) -> list[Flow]:
    """Exclusive choice: the first flow whose condition holds, else the default (BPMN 2.0.2, 13.4.2)."""
    for flow in _without_default(work, node):
        if flow.condition is None or holds(work, token, flow.condition):
            return [flow]
    return _default(work, node)


def all_that_hold(work: Work, token: int, node: Node) -> list[Flow]:
    """Inclusive choice: every flow whose condition holds, else the default (BPMN 2.0.2, 13.4.3)."""
    flows = [f for f in _without_default(work, node) if f.condition is None or holds(work, token, f.condition)]
    return flows or _default(work, node)


def unconditional_and_holding(work: Work, token: int, node: Node) -> list[Flow]:
    """An activity's or event's flows: an implicit split (BPMN 2.0.2, 13.2.1); without any the token ends."""
    return all_that_hold(work, token, node) if node.outgoing else []


def _without_default(work: Work, node: Node) -> list[Flow]:
    return [flow for flow in work.graph.outgoing(node) if flow.id != node.default]


def _default(work: Work, node: Node) -> list[Flow]:
    if node.default is None:
        raise Stuck("no_flow", f"no condition of the flows out of {node.id} holds, and it has no default flow")
    return [work.graph.flows[node.default]]
