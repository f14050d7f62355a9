"""Which moves need not be tried in every order.

In a situation all moves of one token may stand for all moves of all tokens (a persistent set of one process: Godefroid,
Partial-Order Methods for the Verification of Concurrent Systems, 1996), when each outcome of them is `local`:

- it changes nothing but the token, what hangs on it, and tokens below it which it makes; none of it ends;
- it wakes nobody: no signal, no error or escalation, no joining, no condition, no word to the instance;
- it neither enters nor leaves a node at which tokens may meet (`meeting`), so that what is looked for is not passed by.

To arrive at a parallel join and to wait there is local: whoever of two comes last, the join fires with both.

What other tokens do then neither needs nor changes any of this. They can only cancel the token, and that gives the same
situation before and after. Tokens below a fork that go by flows of their own to where a join gathers them move so one
after the other: as many situations as their lengths added, not multiplied.

A process with inclusive or complex joins, or with conditions that are waited for, is not reduced: there a token's place
and every write can decide what others do.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from bpm.checker.moves import Move, repeats
from bpm.checker.outcomes import Outcome
from bpm.graph import Process
from bpm.semantics import State
from bpm.semantics.view import subtree

_LOCAL = frozenset(
    {
        "TOKEN_CREATED", "TOKEN_MOVED", "TOKEN_STATE_CHANGED", "TOKEN_FORKED",
        "TASK_CREATED", "TASK_LOCKED", "TASK_COMPLETED", "TASK_ERROR_THROWN", "TASK_CANCELLED",
        "USER_TASK_CREATED", "USER_TASK_COMPLETED", "USER_TASK_CANCELLED",
        "TIMER_SCHEDULED", "TIMER_FIRED", "TIMER_CANCELLED",
        "TICKET_OPENED", "TICKET_CONSUMED", "TICKET_CANCELLED", "MESSAGE_SENT",
    }
)  # fmt: skip
_HEARD = ("SIGNAL", "ESCALATION", "RESULT")
# Tickets that belong to more than their token.
_SHARED = ("LOOP", "COMPENSATION", "RESET", "QUANTITY")


def reducible(process: Process) -> bool:
    """Whether the moves of one token may stand for all in this process."""
    return not process.reach and not process.conditional and all(n.start_quantity == 1 for n in process.nodes.values())


def meeting(process: Process) -> frozenset[str]:
    """The nodes at which two tokens of one scope may be at once: those that several flows of one fork lead to by ways
    without a joining gateway; all that an event leads to that can come again; and what follows a join to which two
    tokens may come by one flow.
    """
    found: set[str] = set()
    for node in process.nodes.values():
        ways = [process.flows[flow].target for flow in node.outgoing]
        beside = [id for id in node.boundary if repeats(process.nodes[id])]
        branches = [_leads(process, way) for way in ways] if node.kind not in ("exclusive", "event_based") else []
        for number, branch in enumerate(branches):
            for other in branches[number + 1 :]:
                found |= branch & other
        if node.completion_quantity > 1:
            found.update(*branches)
        found.update(*(_leads(process, id) for id in beside))
    while queued := {id for id in _joins(process) if id not in found and _queues(process, id, found)}:
        found |= queued
        for id in queued:
            found.update(*(_leads(process, process.flows[flow].target) for flow in process.nodes[id].outgoing))
    return frozenset(found)


def aged(process: Process) -> bool:
    """Whether it can make a difference which token is older: several may come to a join by one flow, or be gathered."""
    found = meeting(process)
    return any(_queues(process, id, found) for id in _joins(process)) or any(
        node.start_quantity > 1 for node in process.nodes.values()
    )


def _joins(process: Process) -> list[str]:
    return [node.id for node in process.nodes.values() if node.kind in _JOINS and len(node.incoming) > 1]


def _queues(process: Process, join: str, meet: Container[str]) -> bool:
    return any(process.flows[flow].source in meet for flow in process.nodes[join].incoming)


def _leads(process: Process, first: str) -> set[str]:
    """The nodes that a token can come to, up to joining gateways."""
    seen: set[str] = set()
    todo = [first]
    while todo:
        node = process.nodes[todo.pop()]
        if node.id in seen or (node.kind in _JOINS and len(node.incoming) > 1):
            continue
        seen.add(node.id)
        todo += [process.flows[flow].target for flow in node.outgoing]
        todo += node.boundary
        if node.kind == "throw" and node.trigger is not None and node.trigger.kind == "link":
            todo += [id for id in process.scopes[node.scope].nodes if process.nodes[id].trigger == node.trigger
                     and process.nodes[id].kind == "catch"]  # fmt: skip
    return seen


_JOINS = ("parallel", "inclusive", "complex")


def alone(state: State, move: Move) -> bool:
    """Whether a move may belong to a token that moves for itself: it concerns one, and only that."""
    if not move.token or move.again:
        return False
    token = state.tokens[move.token]
    return token.index is None and not subtree(state, token.id)


def local(before: State, move: Move, found: Outcome, meet: frozenset[str]) -> bool:
    """Whether the outcome concerns nobody but the move's token."""
    own = {move.token}
    for event in found.events:
        payload = event.payload
        if event.type not in _LOCAL or event.reason in ("loop", "compensation", "escalation", "signal"):
            return False
        if event.type == "MESSAGE_SENT" and payload["kind"] in _HEARD:
            return False
        if payload.get("kind") in _SHARED:
            return False
        if event.type == "TOKEN_CREATED":
            if payload.get("parent", 0) not in own and payload.get("scope", 0) not in own:
                return False
            own.add(event.id)
        if event.token not in own or {event.node, payload.get("origin")} & meet:
            return False
    return before.tokens[move.token].node not in meet


def movers(moves: Iterable[Move]) -> list[int]:
    """The tokens that have moves, in the order of their moves."""
    return list(dict.fromkeys(move.token for move in moves if move.token))
