"""What happens to one token: it waits, moves, forks, ends; and what hangs on it ends with it."""

from __future__ import annotations

from typing import Any

from bpm.graph import Flow, Node
from bpm.semantics import view
from bpm.semantics.state import Entity, Token
from bpm.semantics.work import Work

# How each kind of thing that hangs on a token is ended: kind -> (event, state after).
ENDINGS: dict[str, tuple[str, str]] = {
    "task": ("TASK_CANCELLED", "CANCELLED"),
    "timer": ("TIMER_CANCELLED", "CANCELLED"),
    "user_task": ("USER_TASK_CANCELLED", "CANCELLED"),
    "ticket": ("TICKET_CANCELLED", "CANCELLED"),
    "incident": ("INCIDENT_RESOLVED", "RESOLVED"),
}

# Kinds of tickets that wait for an event of the model.
EVENTS = ("MESSAGE", "SIGNAL", "CONDITION")

# What instances tell each other: kind -> what it brings about at the receiver.
MESSAGE_KINDS: dict[str, str] = {
    "CALL": "a new instance of the process named",
    "RESULT": "CallReturned at the caller",
    "ESCALATION": "CallEscalated at the caller",
    "CANCEL": "CancelInstance at the called instance",
    "MESSAGE": "Correlate at one ticket that fits, or a new instance",
    "SIGNAL": "Correlate at every ticket open at its throw (the sender's own have heard it), and new instances",
}


def create(
    work: Work,
    node: Node,
    *,
    scope: int,
    reason: str,
    parent: int = 0,
    flow: str | None = None,
    step: str = "enter",
    index: int | None = None,
) -> int:
    """A new ACTIVE token at the node; returns its id. Payload keys at their default are left out."""
    payload: dict[str, Any] = {"scope": scope, "parent": parent, "flow": flow, "step": step, "index": index}
    defaults: dict[str, Any] = {"scope": 0, "parent": 0, "flow": None, "step": "enter", "index": None}
    id = work.new_id()
    work.emit("TOKEN_CREATED", id, token=id, node=node.id, after="ACTIVE", reason=reason,
              **{key: value for key, value in payload.items() if value != defaults[key]})  # fmt: skip
    return id


def wait(work: Work, token: int, reason: str, *, step: str = "leave") -> None:
    """The token waits; `step` is what it does when it is woken."""
    work.change("TOKEN_STATE_CHANGED", "token", work.token(token), "WAITING", reason=reason, step=step)


def wake(work: Work, token: int, reason: str) -> None:
    """A waiting token becomes ACTIVE; a transaction of its own advances it."""
    work.change("TOKEN_STATE_CHANGED", "token", work.token(token), "ACTIVE", reason=reason)


def release(work: Work, token: int, reason: str) -> None:
    """All that a waiting token waited for inside of its activity is done: it is woken to leave, and none of the events
    of its activity can come any more.
    """
    for kind, one in view.attached(work.state, token):
        if kind == "timer" or (kind == "ticket" and one.kind in EVENTS):
            end_attached(work, kind, one, reason="left")
    wake(work, token, reason)


def move(
    work: Work, token: int, target: str, reason: str, *, flow: str | None = None, step: str = "enter", left: bool = True
) -> None:
    """The token goes to another node. `left`: the node it comes from counts as passed."""
    found = work.token(token)
    work.emit("TOKEN_MOVED", token, token=token, node=target, before=found.state, after="ACTIVE", reason=reason,
              origin=found.node, flow=flow, step=step, left=left)  # fmt: skip


def take(work: Work, token: int, flows: list[Flow], *, passed: bool = True) -> None:
    """Leave the node by the flows chosen: one moves the token, several fork it, none ends it.

    `passed`: the node counts as passed (a fork always counts).
    """
    if not flows:
        complete(work, token, "end", passed=passed)
    elif len(flows) == 1:
        move(work, token, flows[0].target, "flow", flow=flows[0].id or None, left=passed)
    else:
        _fork(work, token, flows)


def _fork(work: Work, token: int, flows: list[Flow]) -> None:
    """One child each. In a loop, where an ancestor waits at this very fork, the children become the ancestor's."""
    found = work.token(token)
    ancestor = found.parent
    while ancestor:
        above = view.token(work.state, ancestor)
        if above.node == found.node and above.state == "WAITING":
            break
        ancestor = above.parent
    work.change("TOKEN_FORKED", "token", found, "WAITING", reason="fork", flows=[flow.id for flow in flows])
    parent = ancestor or token
    for flow in flows:
        create(work, work.graph.node(flow.target), scope=found.scope, parent=parent, flow=flow.id, reason="fork")
    if ancestor:
        work.change("TOKEN_COMPLETED", "token", work.token(token), "COMPLETED", reason="loop", passed=False)


def complete(work: Work, token: int, reason: str, *, passed: bool) -> None:
    """The token ends as it should; `passed`: its node counts as passed. What this entails is for `scopes.settle`."""
    detach(work, token, reason="left")
    work.change("TOKEN_COMPLETED", "token", work.token(token), "COMPLETED", reason=reason, passed=passed)


def detach(work: Work, token: int, *, reason: str, but: tuple[str, int] | None = None) -> None:
    """End everything that hangs on the token (0: on the instance), except one (kind, id)."""
    for kind, entity in view.attached(work.state, token):
        if (kind, entity.id) != but:
            end_attached(work, kind, entity, reason=reason)


def end_attached(work: Work, kind: str, entity: Entity, *, reason: str) -> None:
    """End one thing that hangs on a token. A called instance is told to cancel; nobody waits for it."""
    event, after = ENDINGS[kind]
    work.change(event, kind, entity, after, reason=reason)
    if kind == "ticket" and entity.kind == "CALL":
        send(work, "CANCEL", entity.name, {"ticket": entity.id}, token=entity.token, node=entity.node)


def cancel(work: Work, token: Token, reason: str) -> None:
    """End one token from outside, with what hangs on it. What is below it is for `cancel_below`."""
    detach(work, token.id, reason=reason)
    work.change("TOKEN_CANCELLED", "token", work.token(token.id), "CANCELLED", reason=reason)


def cancel_below(work: Work, top: int, reason: str, *, but: int = 0) -> None:
    """Cancel all open tokens below a token (0: of the instance), except one."""
    for token in view.subtree(work.state, top):
        if token.id != but:
            cancel(work, token, reason)


def send(work: Work, kind: str, name: str, body: dict[str, Any], *, token: int = 0, node: str | None = None) -> None:
    """Tell another instance something, with this commit. Kinds: MESSAGE_KINDS."""
    work.emit("MESSAGE_SENT", work.new_id(), token=token, node=node, after="PENDING", kind=kind, name=name, body=body)
