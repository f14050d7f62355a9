"""One fault, and the table of all kinds of faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bpm.checker.exploring import Edge, Space
from bpm.checker.moves import repeats
from bpm.graph import Node
from bpm.semantics import Event, State
from bpm.semantics.state import Token
from bpm.semantics.view import is_open

type Severity = Literal["error", "warning", "note"]

# code -> (severity, what it says)
FAULTS: dict[str, tuple[Severity, str]] = {
    "deadlock": ("error", "Tokens wait for what can never come: the instance stands still for ever."),
    "never-ends": ("error", "From there on the instance goes on and on, and can never end."),
    "grows": ("error", "A way through the model leads back to where it began with one more token beside it."),
    "no-way-out": ("error", "A token stops with an incident there, whatever the data is."),
    "no-flow": ("warning", "There is data with which no flow can be taken: the token stops with an incident."),
    "error-uncaught": ("warning", "An error that the model throws is caught nowhere: it fails the instance."),
    "several-at-once": ("warning", "Tokens that a fork made meet without a join: what follows is done by each."),
    "never-reached": ("warning", "No token ever comes there."),
    "escalation-uncaught": ("note", "Nothing catches the escalation: it is of no consequence."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`elements` are what it is about, the foremost first; `way` leads there (empty where there is none), and `there`
    is the situation at its end; `message` says it in a sentence.
    """

    code: str
    elements: tuple[str, ...]
    message: str
    way: tuple[Edge, ...] = ()
    there: State | None = None
    severity: Severity = "error"


def named(node: Node) -> str:
    """How a message calls a node: Approve ("Approve the order")."""
    return f'{node.id} ("{" ".join(node.name.split())}")' if node.name else node.id


def fault_at(space: Space, code: str, elements: Iterable[str], message: str, number: int) -> Fault:
    """The fault of that code in a situation, with the shortest way there."""
    way, there = tuple(space.way(number)), space.states[number]
    return Fault(code=code, severity=FAULTS[code][0], elements=tuple(elements), message=message, way=way, there=there)


def leaves(state: State) -> list[Token]:
    """The open tokens that are somewhere themselves: nothing below them is open."""
    above = {id for token in state.tokens.values() if is_open("token", token) for id in (token.scope, token.parent)}
    return [token for token in state.tokens.values() if is_open("token", token) and token.id not in above]


def began_again(space: Space, event: Event) -> bool:
    """Whether the event says that something came that may come again beside what it has begun."""
    return event.type == "TOKEN_CREATED" and event.node is not None and repeats(space.process.nodes[event.node])
