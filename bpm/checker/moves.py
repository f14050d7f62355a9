"""What may happen next in a situation: each move is what the engine, or the world around it, may ask of the instance.

The engine advances ACTIVE tokens. The world is willing and unhurried: every task is completed some time or throws an
error that the model catches, every timer may come at any moment, every message, signal and called process that is
waited for comes. That a worker fails is no move: the task is tried again, by the worker or an operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bpm.checker.abstraction import WRITTEN, constant
from bpm.checker.situations import MOMENT
from bpm.graph import Node, Process
from bpm.semantics import commands as c
from bpm.semantics.starts import beginnings, start_node
from bpm.semantics.state import State
from bpm.semantics.view import attached, conditions, is_open
from bpm.semantics.work import Refused

WORKER = "checker"
# The code of an error that no event names: what catches all catches it.
ANOTHER = "another"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """`commands`, carried out one after the other. `kind`: start, advance, complete, error, timer, message, signal,
    condition, return, return_error, escalate (and, of a start, the kind of its event). `node` is where it happens,
    `token` whom it concerns (0: nobody alone), `again` says that the world may do so while what came of the last time
    still goes on. `name`: of the message, signal or process; `code`: of an error or escalation.
    """

    kind: str
    node: str
    token: int
    commands: tuple[c.Command, ...]
    name: str = ""
    code: str = ""
    again: bool = False


def starts(process: Process) -> list[Move]:
    """Every way to start an instance: by its key where it can be, by each event that starts it."""
    found: dict[tuple[str, str], Move] = {}
    try:
        plain = start_node(process, None)
        if plain is None or plain.trigger is None or plain.trigger.kind == "none":
            id = process.id if plain is None else plain.id
            found[id, ""] = Move(kind="start", node=id, token=0, commands=(c.StartInstance(at=MOMENT),))
    except Refused:
        pass
    for node, trigger in beginnings(process):
        name = constant(trigger.name)
        command = c.StartInstance(at=MOMENT, node=node.id, name=name, trigger=_REASONS.get(trigger.kind, "start"))
        found.setdefault(
            (node.id, name or trigger.kind),
            Move(kind=trigger.kind, node=node.id, token=0, commands=(command,), name=name or ""),
        )
    return list(found.values())


_REASONS = {"message": "message", "timer": "timer", "signal": "signal"}


def moves(process: Process, state: State) -> list[Move]:
    """All that may happen next, in a fixed order; nothing where the instance has ended."""
    if not is_open("instance", state.instances[0]):
        return []
    found = []
    for id in (0, *sorted(state.tokens)):
        if id and state.tokens[id].state == "ACTIVE":
            advance = c.AdvanceToken(at=MOMENT, token=id)
            found.append(Move(kind="advance", node=state.tokens[id].node, token=id, commands=(advance,)))
        for kind, one in attached(state, id):
            found += _OF[kind](process, id, one) if kind in _OF else ()
    if process.conditional and conditions(state):
        write = c.SetVariables(at=MOMENT, variables={WRITTEN: 1})
        node = conditions(state)[0].node
        found.append(Move(kind="condition", node=node, token=0, commands=(write,), again=True))
    return found


def _task(process: Process, token: int, task: Any) -> Iterator[Move]:
    lock = c.LockTask(at=MOMENT, task=task.id, worker=WORKER, until=MOMENT + timedelta(hours=1))
    written = {WRITTEN: 1} if process.conditional else {}
    done = c.CompleteExternalTask(at=MOMENT, task=task.id, worker=WORKER, variables=written)
    yield Move(kind="complete", node=task.node, token=token, commands=(lock, done))
    for code in caught(process, process.nodes[task.node], "error"):
        thrown = c.ThrowBpmnError(at=MOMENT, task=task.id, worker=WORKER, code=code)
        yield Move(kind="error", node=task.node, token=token, commands=(lock, thrown), code=code)


def _user_task(process: Process, token: int, task: Any) -> Iterator[Move]:
    written = {WRITTEN: 1} if process.conditional else {}
    done = c.CompleteUserTask(at=MOMENT, user_task=task.id, variables=written)
    yield Move(kind="complete", node=task.node, token=token, commands=(done,))
    for code in caught(process, process.nodes[task.node], "error"):
        thrown = c.ThrowUserTaskError(at=MOMENT, user_task=task.id, code=code)
        yield Move(kind="error", node=task.node, token=token, commands=(thrown,), code=code)


def _timer(process: Process, token: int, timer: Any) -> Iterator[Move]:
    fired = c.FireTimer(at=MOMENT, timer=timer.id, early=True)
    again = repeats(process.nodes[timer.node])
    yield Move(kind="timer", node=timer.node, token=token, commands=(fired,), again=again)


def _ticket(process: Process, token: int, ticket: Any) -> Iterator[Move]:
    node = process.nodes[ticket.node]
    if ticket.kind in ("MESSAGE", "SIGNAL"):
        come = c.Correlate(at=MOMENT, ticket=ticket.id)
        again = repeats(node)
        kind = ticket.kind.lower()
        yield Move(kind=kind, node=node.id, token=token, commands=(come,), name=ticket.name, again=again)
    elif ticket.kind == "CALL":
        done = c.CallReturned(at=MOMENT, ticket=ticket.id, outcome="completed")
        yield Move(kind="return", node=node.id, token=token, commands=(done,), name=ticket.name)
        for code in caught(process, node, "error"):
            thrown = c.CallReturned(at=MOMENT, ticket=ticket.id, outcome="error", code=code)
            yield Move(kind="return_error", node=node.id, token=token, commands=(thrown,), name=ticket.name, code=code)
        for code in caught(process, node, "escalation"):
            raised = c.CallEscalated(at=MOMENT, ticket=ticket.id, code=code)
            yield Move(
                kind="escalate", node=node.id, token=token, commands=(raised,), name=ticket.name, code=code, again=True
            )


_OF = {"task": _task, "user_task": _user_task, "timer": _timer, "ticket": _ticket}


def repeats(node: Node) -> bool:
    """Whether the event may come again while what it has begun goes on: it repeats, or its activity is done anew."""
    return node.kind in ("boundary", "start") and not node.interrupting


def caught(process: Process, node: Node, kind: str) -> list[str]:
    """The codes that may be caught when the node throws them, ANOTHER where something catches all; in a fixed order."""
    found: set[str] = set()
    place: Node | None = node
    while place is not None:
        handlers = [process.nodes[id] for id in place.boundary]
        scope = process.scopes[place.scope]
        handlers += [process.nodes[process.scopes[id].starts[0]] for id in scope.event_subprocesses]
        for handler in handlers:
            trigger = handler.trigger
            for part in (trigger.parts or (trigger,)) if trigger is not None else ():
                if part.kind == kind:
                    found.add(ANOTHER if part.code is None else constant(part.code) or ANOTHER)
        place = process.nodes.get(place.scope)
    return sorted(found)
