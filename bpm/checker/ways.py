"""A way through the situations: told in words, and gone again on `decide` and `evolve` from a real start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from bpm.checker.exploring import Edge, Space
from bpm.checker.fault import named
from bpm.checker.moves import Move, moves
from bpm.checker.outcomes import outcomes
from bpm.checker.questions import Answer, answers
from bpm.checker.situations import situation
from bpm.graph import Process
from bpm.semantics import Decided, State, decide, evolve
from bpm.semantics import commands as c

# A way that is not at rest is followed so far until it is.
TO_REST = 50


class WrongWay(Exception):
    """A way cannot be gone: the checker and the semantics would not agree. The message says where."""


def replay(space: Space, way: Iterable[Edge]) -> State:
    """The state at the end of a way, decided and evolved command by command from an instance that has not started, with
    all its history. Raises WrongWay.
    """
    state = State()
    for number, edge in enumerate(way, 1):
        ordinals = (
            {} if edge.source < 0 else {new: old for old, new in situation(state, aged=space.aged).ordinals.items()}
        )
        for command, given in zip(edge.move.commands, edge.given, strict=True):
            asked = replace(_renamed(command, ordinals), answers=answers(given))
            decided = decide(space.process, state, asked)
            if not isinstance(decided, Decided):
                raise WrongWay(f"step {number}, {type(command).__name__} at {edge.move.node}: {decided}")
            after = evolve(state, decided.events)
            if after != decided.state:
                raise WrongWay(f"step {number}: evolve gives another state than decide")
            state = after.sealed()
    return state


# The fields of commands that are ordinals.
_ORDINALS = ("token", "task", "user_task", "timer", "ticket")


def _renamed(command: c.Command, ordinals: dict[int, int]) -> c.Command:
    changed: dict[str, Any] = {
        name: ordinals[getattr(command, name)] for name in _ORDINALS if getattr(command, name, 0)
    }
    return replace(command, **changed)


def to_rest(space: Space, way: tuple[Edge, ...], there: State) -> tuple[tuple[Edge, ...], State]:
    """The way, gone on until no token is ACTIVE (or so far as no incident stops it), and the situation there."""
    state = situation(there, aged=space.aged).state
    for _ in range(TO_REST):
        step = next((move for move in moves(space.process, state) if move.kind == "advance"), None)
        found = [] if step is None else outcomes(space.abstract, state, step)
        going = [one for one in found if not any(event.type == "INCIDENT_OPENED" for event in one.events)]
        if step is None or not going:
            break
        edge = Edge(source=0, target=None, move=step, given=going[0].given, events=going[0].events)
        way, state = (*way, edge), situation(going[0].state, aged=space.aged).state
    return way, state


def told(process: Process, way: Iterable[Edge]) -> list[str]:
    """The steps of a way as sentences. What the engine does by itself is told where data decides it."""
    return [said for edge in way for said in (*_moved(process, edge.move), *_answered(process, edge))]


def _moved(process: Process, move: Move) -> Iterator[str]:
    node = process.nodes.get(move.node)
    place = named(node) if node is not None else move.node
    texts = {
        "start": f"An instance starts at {place}.",
        "complete": f"{place} is completed.",
        "error": f"{place} throws the error {move.code}.",
        "timer": f"The time of {place} comes.",
        "message": f"The message {move.name} comes to {place}.",
        "signal": f"The signal {move.name} comes to {place}.",
        "conditional": f"The condition of {place} holds.",
        "condition": "Data changes.",
        "return": f"The process {move.name} that {place} calls ends.",
        "return_error": f"The process {move.name} that {place} calls ends with the error {move.code}.",
        "escalate": f"The process {move.name} that {place} calls throws the escalation {move.code}.",
    }
    if move.kind != "advance":
        yield texts.get(move.kind, f"{place} starts an instance.")


def _answered(process: Process, edge: Edge) -> Iterator[str]:
    for given in edge.given:
        for answer in given:
            yield _said(process, answer)


def _said(process: Process, answer: Answer) -> str:
    question = answer.question
    at = named(process.nodes[question.node])
    if question.kind == "flow":
        target = named(process.nodes[process.flows[question.element].target])
        holds = "holds" if answer.value else "does not hold"
        return f"At {at}, {question.said} {holds} (the flow to {target})."
    if question.kind == "loop":
        return f"{at} has {'another' if answer.value else 'no other'} round."
    if question.kind == "rounds":
        return f"{at} has {answer.value} round{'' if answer.value == 1 else 's'}."
    if question.kind == "elements":
        return f"{at} begins with {', '.join(answer.value) or 'nothing'}."
    if question.kind == "name":
        return f"At {at}, {question.said} is {answer.value}."
    return f"At {at}, {question.said} {'holds' if answer.value else 'does not hold'}."
