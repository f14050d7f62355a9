"""Subprocesses of all kinds: scopes of their own, and what an emptied scope does."""

from __future__ import annotations

from bpm.graph import Node
from bpm.semantics.compensation import remember
from bpm.semantics.elements.activities import open_activity
from bpm.semantics.formulas import value
from bpm.semantics.mappings import give_out
from bpm.semantics.starts import implicit_starts
from bpm.semantics.tokens import create, detach, wait
from bpm.semantics.waiting import open_scope
from bpm.semantics.work import Stuck, Work


def enter_subprocess(work: Work, token: int, node: Node) -> bool:
    """The token waits at the subprocess; a new token begins inside it, or one at each of its first nodes."""
    open_activity(work, token, node)
    open_scope(work, token, node.id)
    firsts = _firsts(work, token, node)
    if not firsts:
        return True
    wait(work, token, "children")
    for first in firsts:
        create(work, work.graph.node(first), scope=token, reason="start")
    return False


def _firsts(work: Work, token: int, node: Node) -> list[str]:
    """Its start event; in an ad-hoc subprocess, and where there is none (BPMN 2.0.2, 10.5.2), each first node. Raises
    Stuck.
    """
    starts = work.graph.scopes[node.id].starts
    if starts and not node.ad_hoc:
        return [starts[0]]
    if node.ad_hoc_active is None:
        return [one.id for one in implicit_starts(work.graph, node.id)]
    chosen = value(work, token, node.ad_hoc_active)
    inside = work.graph.scopes[node.id].nodes
    if not isinstance(chosen, list) or any(one not in inside for one in chosen):
        raise Stuck("expression", f"{chosen!r} are not elements of {node.id}")
    return [str(one) for one in chosen]


def close_subprocess(work: Work, token: int, node: Node) -> None:
    """Outputs are written; how its inside can be undone passes to the scope around it. Raises Stuck."""
    give_out(work, work.token(token), node)
    remember(work, token, node)
    detach(work, token, reason="left")


def enter_event_subprocess(work: Work, token: int, node: Node) -> bool:
    """Never by a flow: `handlers.begin_event_subprocess` puts the token there, already waiting."""
    raise AssertionError(f"a token entered the event subprocess {node.id} by a flow")
