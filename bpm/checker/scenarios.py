"""A way as a scenario: what `bpm test` runs on the real process, with data that leads along the way.

Values are found by `witness` for the conditions asked between two steps, and are given with the first of these steps.
Whether a scenario really shows what it should is seen by running it: a decision, a mapping or a called process may give
other data than the way needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bpm.checker.abstraction import Abstract, constant
from bpm.checker.exploring import Edge
from bpm.checker.outcomes import wish
from bpm.checker.questions import Answer
from bpm.checker.witness import Wish, fulfil
from bpm.expressions import ExpressionError, compile_text
from bpm.expressions import tree as t
from bpm.graph import Formula, Process
from bpm.semantics import State
from bpm.semantics.view import attached

# What stands for a value of which nothing is known: a text, and a time for timers.
FILLED = "PT1H"


@dataclass(slots=True)
class _Stretch:
    """A step from outside and all that data decides until the next one."""

    step: dict[str, Any] | None  # None: the start
    wishes: list[Wish] = field(default_factory=list)
    rounds: dict[str, int] = field(default_factory=dict)


def scenario(
    abstract: Abstract,
    way: Sequence[Edge],
    expect: dict[str, Any],
    *,
    name: str,
    models: Sequence[str],
    at_once: bool = False,
    filled: bool = False,
) -> dict[str, Any] | None:
    """The document of a scenario; None where a scenario cannot say what happens. `at_once`: all data is there from the
    start (a scenario lets the engine come to rest after each step, the way need not); `filled`: variables that the
    process reads and the way says nothing of have a value from the start.
    """
    start = _start(abstract.original, way[0])
    called = _called(way)
    if start is None or called is None:
        return None
    stretches = [_Stretch(None)]
    for edge in way:
        if edge.source >= 0 and edge.move.kind != "advance":
            step = _step(abstract.original, edge)
            if step is None and edge.move.kind not in _ANSWERED:
                return None
            stretches += [_Stretch(step)] if step is not None else []
        for given in edge.given:
            for answer in given:
                _want(abstract.original, stretches, answer)
    if at_once:
        stretches[0].wishes = [wanted for stretch in stretches for wanted in stretch.wishes]
        for stretch in stretches[1:]:
            stretch.wishes = []
    given_first = _values(abstract.original, stretches[0])
    others = _fillings(abstract.original) if filled else {}
    document: dict[str, Any] = {"name": name, "models": list(models), "start": start}
    if variables := others | given_first:
        start["variables"] = variables
    if called:
        document["called"] = called
    steps = [
        one
        for stretch in stretches[1:]
        if stretch.step is not None
        for one in _with(stretch.step, _values(abstract.original, stretch))
    ]
    if steps:
        document["steps"] = steps
    return document | {"expect": expect}


# Moves that are answered before they are asked: by `called`.
_ANSWERED = ("return", "return_error")


def _start(process: Process, first: Edge) -> dict[str, Any] | None:
    move = first.move
    if move.kind in ("message", "signal"):
        return {move.kind: move.name} if move.name else None
    return {"process": process.id} if move.kind == "start" else None


def _called(way: Iterable[Edge]) -> dict[str, Any] | None:
    """How called processes are answered; None where one is to answer differently from time to time."""
    found: dict[str, Any] = {}
    for edge in way:
        move = edge.move
        if move.kind in _ANSWERED:
            answer = {"variables": {}} if move.kind == "return" else {"error": {"code": move.code}}
            if found.setdefault(move.name, answer) != answer:
                return None
    return found


def _step(process: Process, edge: Edge) -> dict[str, Any] | None:
    """A move of the world as a step; None where there is no step for it."""
    move = edge.move
    node = process.nodes[move.node]
    match move.kind:
        case "complete":
            return {"complete": {"activity": node.id}}
        case "error":
            return {"error": {"activity": node.id, "code": move.code}}
        case "timer":
            return {"fire_timer": {"activity": node.id}}
        case "message" | "signal":
            known = any(
                constant(part.name) == move.name
                for part in ((node.trigger.parts or (node.trigger,)) if node.trigger else ())
            )
            return {move.kind: {"name": move.name}} if known else {"complete": {"activity": node.id}}
        case "condition":
            return {"set_variables": {}}
    return None


def _want(process: Process, stretches: list[_Stretch], answer: Answer) -> None:
    """Note what an answer asks of the data."""
    question = answer.question
    node = process.nodes[question.node]
    if question.kind == "rounds":
        stretches[-1].rounds[node.id] = int(answer.value)
    elif question.kind == "loop" and node.loop is not None and node.loop.kind != "standard":
        there = next((one for one in reversed(stretches) if node.id in one.rounds), stretches[-1])
        begun = there.rounds.get(node.id, 0 if node.loop.cardinality is None else 1)
        there.rounds[node.id] = begun + (1 if answer.value else 0)
    elif isinstance(answer.value, bool) and question.formula.kind == "text":
        stretches[-1].wishes.append(wish(answer))


def _values(process: Process, stretch: _Stretch) -> dict[str, Any]:
    """Variables for a stretch, as JSON; none where none were found."""
    found = fulfil(tuple(dict.fromkeys(stretch.wishes))).variables if stretch.wishes else None
    values = dict(found or {})
    for id, rounds in stretch.rounds.items():
        loop = process.nodes[id].loop
        formula = (loop.collection or loop.cardinality) if loop is not None else None
        name = None if formula is None else _name(formula)
        if name is not None and loop is not None:
            values[name] = [FILLED] * rounds if loop.collection is not None else rounds
    return values


def _name(formula: Formula) -> str | None:
    """The variable that the formula is."""
    if formula.kind == "variable":
        return formula.text
    try:
        tree = compile_text(formula.text, language=formula.language).tree  # type: ignore[arg-type]
    except ExpressionError:
        return None
    return tree.name if isinstance(tree, t.Name) else None


def _fillings(process: Process) -> dict[str, Any]:
    """A value for everything that the process reads."""
    lists = {
        name
        for node in process.nodes.values()
        if node.loop is not None and node.loop.collection is not None
        for name in [_name(node.loop.collection)]
    }
    return {name: [FILLED] if name in lists else FILLED for name in process.reads if name.isidentifier()}


def _with(step: dict[str, Any], values: dict[str, Any]) -> list[dict[str, Any]]:
    """The step with variables: its own where it carries any, else written before it."""
    ((kind, arguments),) = step.items()
    if kind == "set_variables":
        return [{kind: values}] if values else [{kind: {"something": 1}}]
    if not values:
        return [step]
    if kind == "fire_timer":
        return [{"set_variables": values}, step]
    return [{kind: {**arguments, "variables": values}}]


def waiting(abstract: Abstract, state: State) -> list[str]:
    """The activities and events at which tokens wait for something outside, as scenarios list them."""
    found: Counter[str] = Counter()
    for token in state.tokens.values():
        if token.state == "WAITING":
            at_gateway = abstract.process.nodes[token.node].kind == "event_based"
            if any(at_gateway or one.node == token.node for _, one in attached(state, token.id)):
                found[token.node] += 1
    return sorted(found.elements())
