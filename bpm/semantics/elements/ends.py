"""End events."""

from __future__ import annotations

from bpm.graph import Node, Trigger
from bpm.semantics import view
from bpm.semantics.compensation import compensate, other_rounds
from bpm.semantics.elements.activities import enter_external
from bpm.semantics.elements.events import close_event
from bpm.semantics.elements.throwing import throw
from bpm.semantics.errors import throw_error
from bpm.semantics.formulas import text
from bpm.semantics.handlers import interrupt
from bpm.semantics.mappings import take_in
from bpm.semantics.scopes import settle
from bpm.semantics.tokens import cancel_below, complete, release
from bpm.semantics.work import Work


def enter_end(work: Work, token: int, node: Node) -> bool:
    """End the token in the way that the event says; True where it then ends as any token does that has no flow."""
    if node.work is not None:
        return enter_external(work, token, node)
    take_in(work, work.token(token), node)
    kinds = [part.kind for part in (node.trigger or Trigger()).parts] or [(node.trigger or Trigger()).kind]
    special = next((END[kind] for kind in kinds if kind in END), None)
    goes_on = throw(work, token, node)
    if special is None or not view.is_open("token", work.token(token)):
        return goes_on
    return special(work, token, node)


def close_end(work: Work, token: int, node: Node) -> None:
    """What it threw has been dealt with; a cancelled transaction leaves by its cancel event."""
    close_event(work, token, node)
    if node.trigger is not None and node.trigger.kind == "cancel":
        _leave_transaction(work, token)


def _error(work: Work, token: int, node: Node) -> bool:
    """BPMN 2.0.2, 13.5.5: the error goes to the enclosing scopes; an end event catches none itself."""
    trigger = node.trigger or Trigger()
    part = next((one for one in trigger.parts if one.kind == "error"), trigger)
    throw_error(work, token, text(work, token, part.code), text(work, token, part.error_message) or "")
    return False


def _terminate(work: Work, token: int, node: Node) -> bool:
    """Everything else in the scope ends (BPMN 2.0.2, 13.5.6)."""
    cancel_below(work, work.token(token).scope, "terminate", but=token)
    complete(work, token, "terminate", passed=True)
    settle(work, token)
    return False


def _cancel(work: Work, token: int, node: Node) -> bool:
    """Cancel the transaction: all else in it ends, what is done is undone, then it leaves by its cancel event
    (BPMN 2.0.2, 13.3.4)."""
    cancel_below(work, work.token(token).scope, "cancel", but=token)
    for round_ in other_rounds(work, token):
        cancel_below(work, round_.id, "cancel")
    return not compensate(work, token, None)


def _leave_transaction(work: Work, token: int) -> None:
    scope = work.token(token).scope
    complete(work, token, "cancel", passed=True)
    if scope and work.token(scope).index is not None:
        scope = work.token(scope).scope
        cancel_below(work, scope, "cancel")
    if scope:
        boundaries = [work.graph.node(id) for id in work.node(work.token(scope)).boundary]
        caught = next((one for one in boundaries if one.trigger and one.trigger.kind == "cancel"), None)
        if caught is not None:
            interrupt(work, scope, caught, "cancel")
            return
    if scope != work.token(token).scope:
        release(work, scope, "cancel")
        return
    settle(work, token)


END = {"error": _error, "terminate": _terminate, "cancel": _cancel}
