"""What the end of a step must look at again: joins, conditions and ad-hoc subprocesses that the step may have decided.

Judging wakes tokens; it walks none. It goes on until nothing changes any more.
"""

from __future__ import annotations

from bpm.graph import Node, Trigger
from bpm.semantics import view
from bpm.semantics.attempts import Attempt
from bpm.semantics.elements.occurring import occur
from bpm.semantics.formulas import holds
from bpm.semantics.joins import complex_ready, complex_reset, fire, inclusive_ready
from bpm.semantics.scopes import settle
from bpm.semantics.state import Ticket, Token
from bpm.semantics.tokens import cancel_below, release, wake
from bpm.semantics.work import Stuck, Work


def judge(work: Work) -> None:
    """Fire what has become ready."""
    judge_conditions(work)
    while any(_judge_scope(work, scope) for scope in _touched_scopes(work)):
        pass


def _touched_scopes(work: Work) -> list[int]:
    return sorted({work.state.tokens[key].scope for kind, key in work.state.touched if kind == "token"})


def _judge_scope(work: Work, scope: int) -> bool:
    """Fire one gateway, or end the ad-hoc subprocess, of one scope; whether anything was done."""
    name = work.graph.id if scope == 0 else work.token(scope).node
    if name not in work.graph.scopes:
        return False  # the scope's token has moved on: nothing in it is open
    for id in sorted(work.graph.reach):
        node = work.graph.node(id)
        if node.scope == name and JUDGES[node.kind](work, node, scope):
            return True
    return bool(scope) and _judge_ad_hoc(work, work.graph.node(name), scope)


def _judge_inclusive(work: Work, node: Node, scope: int) -> bool:
    ready = inclusive_ready(work, node, scope, view.arrived(work.state, scope, node.id))
    if ready:
        fire(work, node, ready)
    return bool(ready)


def _judge_complex(work: Work, node: Node, scope: int) -> bool:
    """BPMN 2.0.2, 13.4.5: fires when its condition holds, then takes in what still comes on the other flows."""
    waiting = view.arrived(work.state, scope, node.id)
    if not waiting:
        return False
    for kind, ticket in view.attached(work.state, scope):
        if kind == "ticket" and ticket.kind == "RESET" and ticket.node == node.id:
            return _reset(work, node, scope, waiting, ticket)
    ready = complex_ready(work, node, waiting)
    if not ready:
        return False
    taken = {token.flow for token in ready}
    late = [flow for flow in node.incoming if flow not in taken]
    fire(work, node, ready)
    if late:
        work.emit("TICKET_OPENED", work.new_id(), token=scope, node=node.id, after="OPEN", reason="join",
                  kind="RESET", data={"late": late})  # fmt: skip
    return True


def _reset(work: Work, node: Node, scope: int, waiting: list[Token], ticket: Ticket) -> bool:
    late = complex_reset(work, node, scope, waiting, ticket.data["late"])
    if late is None:
        return False
    work.change("TICKET_CONSUMED", "ticket", ticket, "CONSUMED", reason="join")
    for token in late:
        work.change("TOKEN_COMPLETED", "token", work.token(token.id), "COMPLETED", reason="join", passed=False)
    for token in late:
        settle(work, token.id)
    return True


def _judge_ad_hoc(work: Work, node: Node, scope: int) -> bool:
    """End an ad-hoc subprocess whose completion condition holds (BPMN 2.0.2, 13.3.5)."""
    owner = work.token(scope)
    if node.ad_hoc_completion is None or owner.state != "WAITING" or not view.has_open_in_scope(work.state, scope):
        return False
    try:
        done = holds(work, scope, node.ad_hoc_completion)
    except Stuck:
        return False
    if not done or not node.cancel_remaining:
        return False
    cancel_below(work, scope, "condition")
    release(work, scope, "condition")
    return True


JUDGES = {"inclusive": _judge_inclusive, "complex": _judge_complex}


def judge_conditions(work: Work) -> None:
    """Let conditional events happen whose condition holds, after a variable was written that they can see, or when they
    have just begun to wait. An event that has happened and waits again looks at what is written next.
    """
    if not work.graph.conditional:
        work.judged = len(work.events)
    happened: set[tuple[int, str]] = set()
    while work.judged < len(work.events):
        since = work.events[work.judged :]
        work.judged = len(work.events)
        written = [(one.id, one.payload["name"]) for one in since if one.type in ("VARIABLE_SET", "VARIABLE_UNSET")]
        fresh = {one.id for one in since if one.type == "TICKET_OPENED" and (one.token, one.node) not in happened}
        for ticket in _candidates(work, written, fresh):
            if work.state.tickets[ticket.id].state == "OPEN" and _condition_holds(work, ticket, _awaited(work, ticket)):
                happened.add((ticket.token, ticket.node))
                _happen(work, ticket)


def _candidates(work: Work, written: list[tuple[int, str]], fresh: set[int]) -> list[Ticket]:
    """The CONDITION tickets that are to look again: fresh ones, and those that see something that was written."""
    if not written and not any(work.state.tickets[id].kind == "CONDITION" for id in fresh):
        return []
    tickets = view.conditions(work.state)
    view.load_around(work.state, [ticket.token for ticket in tickets])
    return [
        ticket
        for ticket in tickets
        if ticket.id in fresh or any(_hears(work, ticket, _awaited(work, ticket), *key) for key in written)
    ]


def _hears(work: Work, ticket: Ticket, trigger: Trigger, scope: int, name: str) -> bool:
    """Whether the event is to look again because of that variable (camunda:variableName and variableEvents)."""
    if trigger.condition_variables and name not in trigger.condition_variables:
        return False
    if scope not in view.scope_locals(work.state, ticket.token):
        return False
    if not trigger.condition_events:
        return True
    before = view.variable(work.base, scope, name) is not None
    after = view.variable(work.state, scope, name) is not None
    return _VARIABLE_EVENTS.get((before, after)) in trigger.condition_events


# (there before the commit, there after it) -> what Camunda 7 calls it
_VARIABLE_EVENTS = {(False, True): "create", (True, True): "update", (True, False): "delete"}


def _awaited(work: Work, ticket: Ticket) -> Trigger:
    """The condition that the ticket waits for: of an event of several parts, its part."""
    trigger = work.graph.node(ticket.node).trigger or Trigger()
    return trigger.parts[ticket.data["part"]] if trigger.parts else trigger


def _condition_holds(work: Work, ticket: Ticket, trigger: Trigger) -> bool:
    try:
        return trigger.condition is not None and holds(work, ticket.token, trigger.condition)
    except Stuck:
        return False  # a variable that is not there yet: the event has not happened


def _happen(work: Work, ticket: Ticket) -> None:
    work.change("TICKET_CONSUMED", "ticket", ticket, "CONSUMED", reason="condition")
    with Attempt(work, ticket.token, ticket.node):
        advanced = occur(work, ticket.token, work.graph.node(ticket.node), "condition", {})
        if advanced is not None and work.token(advanced).state == "WAITING":
            wake(work, advanced, "condition")
