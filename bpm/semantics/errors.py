"""Errors and escalations on their way up. `handlers` says who catches them.

An error that nobody catches fails the instance; its caller may catch it at the call activity. An escalation goes to the
caller as well, and one that nobody catches is of no consequence (BPMN 2.0.2, 10.5.7).
"""

from __future__ import annotations

from typing import Any

from bpm.graph import Trigger
from bpm.semantics.handlers import begin_event_subprocess, interrupt, match, places
from bpm.semantics.mappings import write_outward
from bpm.semantics.scopes import finish, wanted
from bpm.semantics.tokens import cancel_below, create, detach, send
from bpm.semantics.work import Work


def throw_error(
    work: Work, token: int, code: str | None, message: str = "", variables: dict[str, Any] | None = None
) -> None:
    """Raise an error at an open token. Afterwards the token has moved to a handler, or has ended. Raises Stuck."""
    for place, boundaries, starts in places(work, token):
        caught = match(work, token, boundaries, "error", code)
        if caught is not None:
            interrupt(work, place.id, caught[0], "error")
            write_outward(work, place.id, _told(caught[1], code, message, variables))
            return
        caught = match(work, token, starts, "error", code)
        if caught is not None:
            begin_event_subprocess(work, place.scope, caught[0], "error", _told(caught[1], code, message, variables))
            return
    write_outward(work, token, variables or {})
    found = work.token(token)
    cancel_below(work, 0, "error", but=token)
    detach(work, token, reason="error")
    work.change("TOKEN_FAILED", "token", found, "FAILED", reason="error", code=code, message=message)
    finish(work, "FAILED", "error", code=code, message=message)


def throw_escalation(
    work: Work, token: int, code: str | None, variables: dict[str, Any], *, gently: bool = False
) -> None:
    """Raise an escalation at an open token; a handler that interrupts may have cancelled it then. Raises Stuck.

    `gently`: the token's own boundary events do not interrupt it (a loop throws at the end of each round).
    """
    for place, boundaries, starts in places(work, token):
        caught = match(work, token, boundaries, "escalation", code)
        if caught is not None:
            node, trigger = caught
            if node.interrupting and not (gently and place.id == token):
                interrupt(work, place.id, node, "escalation")
                told = place.id
            else:
                told = create(work, node, scope=place.scope, parent=place.parent, reason="escalation", step="leave")
            write_outward(work, told, _told(trigger, code, "", variables))
            return
        caught = match(work, token, starts, "escalation", code)
        if caught is not None:
            begin_event_subprocess(work, place.scope, caught[0], "escalation", _told(caught[1], code, "", variables))
            return
    caller = work.state.instances[0].caller
    if caller is not None:
        returned = wanted(work, caller)
        body = {"caller": caller, "code": code, "variables": variables} | ({"returned": returned} if returned else {})
        send(work, "ESCALATION", code or "", body, token=token, node=work.token(token).node)


def _told(trigger: Trigger, code: str | None, message: str, variables: dict[str, Any] | None) -> dict[str, Any]:
    """What the handler gets: the thrower's variables, and code and message where it names variables for them."""
    found = dict(variables or {})
    if trigger.code_variable and code is not None:
        found[trigger.code_variable] = code
    if trigger.message_variable:
        found[trigger.message_variable] = message
    return found
