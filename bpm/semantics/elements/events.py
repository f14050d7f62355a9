"""Start, catch, throw, boundary and end events."""

from __future__ import annotations

from typing import Any

from bpm.graph import Flow, Node, Trigger
from bpm.semantics import view
from bpm.semantics.elements.flows import unconditional_and_holding
from bpm.semantics.elements.waiting import set_following, wait_for
from bpm.semantics.errors import begin_event_subprocess, interrupt, throw_error
from bpm.semantics.formulas import text
from bpm.semantics.mappings import give_out, passed_on, take_in, write_outward
from bpm.semantics.scopes import settle
from bpm.semantics.tokens import cancel_below, complete, create, detach, move, send, wait
from bpm.semantics.work import Work


def pass_event(work: Work, token: int, node: Node) -> bool:
    """An event that has happened already when the token is there."""
    return True


def leave_event(work: Work, token: int, node: Node) -> list[Flow]:
    """Leave with all that the event waited for ended, its outputs written."""
    detach(work, token, reason="left")
    give_out(work, work.token(token), node)
    return unconditional_and_holding(work, token, node)


def enter_catch(work: Work, token: int, node: Node) -> bool:
    """Wait for the event; a none or link event is passed."""
    take_in(work, work.token(token), node)
    if (node.trigger or Trigger()).kind in ("none", "link"):
        return True
    wait_for(work, token, node)
    wait(work, token, "none")
    return False


def enter_throw(work: Work, token: int, node: Node) -> bool:
    """Throw, then go on."""
    take_in(work, work.token(token), node)
    trigger = node.trigger or Trigger()
    rule = THROW.get(trigger.kind)
    if rule is not None:
        rule(work, token, node, trigger)
    return True


def enter_end(work: Work, token: int, node: Node) -> bool:
    """End the token, in the way that the event says."""
    take_in(work, work.token(token), node)
    trigger = node.trigger or Trigger()
    END.get(trigger.kind, _end_plainly)(work, token, node, trigger)
    return False


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

    A catch event lets the token go on; a boundary event interrupts its activity or adds a token beside it; the start of
    an event subprocess starts it. What stays awake (not interrupting) waits for the next time.
    """
    if node.kind == "boundary":
        advanced = _occur_at_boundary(work, token, node, reason)
        write_outward(work, advanced, variables)
        _again(work, token, node, schedule)
        return advanced
    if node.kind == "start":
        inner = begin_event_subprocess(work, token, node, reason, variables)
        _again(work, token, node, schedule)
        return inner
    found = work.token(token)
    if found.node != node.id:
        # An event-based gateway: the token goes to the event that came, the other events are off.
        detach(work, token, reason="left")
        flow = next(f.id for f in work.graph.outgoing(work.node(found)) if f.target == node.id)
        move(work, token, node.id, reason, flow=flow, step="leave")
    write_outward(work, token, variables)
    return token


def _occur_at_boundary(work: Work, token: int, node: Node, reason: str) -> int:
    if node.interrupting:
        interrupt(work, token, node, reason)
        return token
    found = view.token(work.state, token)
    return create(work, node, scope=found.scope, parent=found.parent, reason=reason, step="leave")


def _again(work: Work, token: int, node: Node, schedule: dict[str, Any] | None) -> None:
    if node.interrupting:
        return
    if schedule is None:
        wait_for(work, token, node)
    else:
        set_following(work, token, node, schedule)


def _end_plainly(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    rule = THROW.get(trigger.kind)
    if rule is not None:
        rule(work, token, node, trigger)
    complete(work, token, "end", passed=True)
    settle(work, token)


def _end_with_error(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    """BPMN 2.0.2, 13.5.5: the error goes to the enclosing scopes; an end event catches none itself."""
    throw_error(work, token, text(work, token, trigger.code), text(work, token, trigger.error_message) or "")


def _end_all(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    """Terminate: everything else in the scope ends (BPMN 2.0.2, 13.5.6)."""
    scope = work.token(token).scope
    cancel_below(work, scope, "terminate", but=token)
    complete(work, token, "terminate", passed=True)
    settle(work, token)


def _throw_message(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    body = {"variables": passed_on(work, work.token(token), trigger.payload)}
    key = text(work, token, trigger.correlation)
    send(work, "MESSAGE", text(work, token, trigger.name) or "", body | ({} if key is None else {"correlation": key}),
         token=token, node=node.id)  # fmt: skip


def _throw_signal(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    body = {"variables": passed_on(work, work.token(token), trigger.payload)}
    send(work, "SIGNAL", text(work, token, trigger.name) or "", body, token=token, node=node.id)


THROW = {"message": _throw_message, "signal": _throw_signal}
END = {"error": _end_with_error, "terminate": _end_all}
