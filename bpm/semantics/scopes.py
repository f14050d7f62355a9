"""What the end of a token entails: fork parents end in turn, an emptied scope lets its own token go on (or undoes the
next activity), an emptied instance is complete.
"""

from __future__ import annotations

from typing import Any

from bpm.graph import Trigger
from bpm.semantics import view
from bpm.semantics.compensation import go_on
from bpm.semantics.state import Token
from bpm.semantics.tokens import detach, release, send
from bpm.semantics.work import Refused, Work


def settle(work: Work, token: int) -> None:
    """Judge what hangs above a token that has just ended."""
    found = view.token(work.state, token)
    parent = found.parent
    while parent:
        above = view.token(work.state, parent)
        if view.is_open("token", above):
            if above.state != "WAITING" or view.has_open_child(work.state, parent):
                return
            work.change("TOKEN_COMPLETED", "token", above, "COMPLETED", reason="children", passed=False)
        parent = above.parent
    _settle_scope(work, found)


def _settle_scope(work: Work, ended: Token) -> None:
    if view.has_open_in_scope(work.state, ended.scope):
        return
    if ended.scope:
        owner = view.token(work.state, ended.scope)
        if owner.state == "WAITING" and not _still_compensating(work, owner):
            release(work, owner.id, "children")
    elif view.is_open("instance", work.state.instances[0]):
        finish(work, "COMPLETED", "end")


def _still_compensating(work: Work, owner: Token) -> bool:
    """A throwing event whose handler is done goes on to the handler before it."""
    node = work.node(owner)
    if node.kind not in ("throw", "end"):
        return False
    trigger = node.trigger or Trigger()
    part = next((one for one in trigger.parts if one.kind == "compensation"), trigger)
    return go_on(work, owner.id, part.activity)


# How an instance ends: state -> (event, outcome told to a caller).
ENDS = {
    "COMPLETED": ("INSTANCE_COMPLETED", "completed"),
    "FAILED": ("INSTANCE_FAILED", "error"),
    "CANCELLED": ("INSTANCE_CANCELLED", "cancelled"),
}


def finish(work: Work, state: str, reason: str, **said: Any) -> None:
    """End the instance and tell the caller, if there is one, with the variables it wants."""
    instance = work.state.instance
    assert instance is not None
    if state == "COMPLETED" and instance.state == "SUSPENDED":
        raise Refused("wrong_state", "nothing would be open any more, and a suspended instance cannot end: resume it")
    detach(work, 0, reason=reason)
    event, outcome = ENDS[state]
    work.emit(event, 0, before=instance.state, after=state, reason=reason, **said)
    if instance.caller is None:
        return
    body = {"caller": instance.caller, "outcome": outcome, "variables": wanted(work, instance.caller), **said}
    send(work, "RESULT", work.graph.id, body)


def wanted(work: Work, caller: dict[str, Any]) -> dict[str, Any]:
    """The variables of the process that its caller wants: those it names, or all."""
    wants = caller.get("wants")
    if wants is None:
        return view.variables(work.state, 0)
    found = {name: view.variable(work.state, 0, name) for name in sorted(wants)}
    return {name: variable.value for name, variable in found.items() if variable is not None}
