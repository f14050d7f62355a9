"""An event that a token waited for has come."""

from __future__ import annotations

from typing import Any

from bpm.graph import Node
from bpm.semantics import view
from bpm.semantics.attempts import Attempt
from bpm.semantics.handlers import begin_event_subprocess, interrupt
from bpm.semantics.mappings import bring_back
from bpm.semantics.tokens import create, detach, end_attached, move
from bpm.semantics.waiting import set_following, wait_for
from bpm.semantics.work import Work


def occur(
    work: Work,
    token: int,
    node: Node,
    reason: str,
    variables: dict[str, Any],
    *,
    schedule: dict[str, Any] | None = None,
) -> int | None:
    """What an event brings about that `token` (0: the instance) waited for. Returns the token to advance.

    A catch event lets the token go on; a boundary event interrupts its activity or adds a token beside it; the start
    of an event subprocess starts it. What stays awake (not interrupting) waits for the next time. A parallel multiple
    event has come only when all its parts have (None until then).
    """
    if node.trigger is not None and node.trigger.kind == "parallel_multiple" and _awaited(work, token, node):
        bring_back(work, token, node, variables)
        return None
    if node.kind == "boundary":
        advanced = _occur_at_boundary(work, token, node, reason)
        bring_back(work, advanced, node, variables)
        _again(work, token, node, schedule)
        return advanced
    if node.kind == "start" and not (token and work.token(token).node == node.id):
        inner = begin_event_subprocess(work, token, node, reason, variables)
        _again(work, token, node, schedule)
        return inner
    found = work.token(token)
    if schedule is not None and schedule["remaining"]:
        # A catch event whose cycle has an end comes that often: another token goes on each time, the last time its own.
        set_following(work, token, node, schedule)
        if any(kind == "timer" for kind, _ in _awaited(work, token, node)):
            return create(work, node, scope=found.scope, parent=found.parent, reason=reason, step="leave")
    if found.node != node.id:
        # An event-based gateway: the token goes to the event that came, the other events are off.
        detach(work, token, reason="left")
        flow = next(f.id for f in work.graph.outgoing(work.node(found)) if f.target == node.id)
        move(work, token, node.id, reason, flow=flow, step="leave")
    bring_back(work, token, node, variables)
    return token


def _awaited(work: Work, token: int, node: Node) -> list[tuple[str, Any]]:
    """What the token still waits for because of that event."""
    return [(kind, one) for kind, one in view.attached(work.state, token) if one.node == node.id and kind != "incident"]


def _occur_at_boundary(work: Work, token: int, node: Node, reason: str) -> int:
    if node.interrupting:
        interrupt(work, token, node, reason)
        return token
    found = work.token(token)
    return create(work, node, scope=found.scope, parent=found.parent, reason=reason, step="leave")


def _again(work: Work, token: int, node: Node, schedule: dict[str, Any] | None) -> None:
    """An event that does not interrupt waits for its next time; a timer that does not repeat is over."""
    if node.interrupting:
        return
    if schedule is not None:
        set_following(work, token, node, schedule)
        return
    with Attempt(work, token, node.id):
        _wait_again(work, token, node)


def _wait_again(work: Work, token: int, node: Node) -> None:
    for kind, one in _awaited(work, token, node):
        end_attached(work, kind, one, reason="left")
    wait_for(work, token, node)
