"""Embedded subprocesses and event subprocesses: scopes of their own."""

from __future__ import annotations

from bpm.graph import Node
from bpm.semantics.elements.activities import open_activity
from bpm.semantics.elements.waiting import wait_for
from bpm.semantics.tokens import create, wait
from bpm.semantics.work import Work


def enter_subprocess(work: Work, token: int, node: Node) -> bool:
    """The token waits at the subprocess; a new token begins inside it."""
    open_activity(work, token, node)
    open_scope(work, token, node.id)
    wait(work, token, "children")
    start = work.graph.scopes[node.id].starts[0]
    create(work, work.graph.node(start), scope=token, reason="start")
    return False


def enter_event_subprocess(work: Work, token: int, node: Node) -> bool:
    """Never by a flow: `errors.begin_event_subprocess` puts the token there, already waiting."""
    raise AssertionError(f"a token entered the event subprocess {node.id} by a flow")


def open_scope(work: Work, token: int, scope: str) -> None:
    """Set what the event subprocesses of a scope wait for, on the scope's token (0: the instance)."""
    for id in work.graph.scopes[scope].event_subprocesses:
        wait_for(work, token, work.graph.node(work.graph.scopes[id].starts[0]))
