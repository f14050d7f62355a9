"""Variables for which conditions are true or false as wanted.

Each variable is tried with values of its own kind, taken from what the conditions compare it with: every literal, one
between each two neighbours, one below and one above; true and false; a text that none of them names; null and the empty
text, where it is asked for these. Where conditions
only compare variables with literals (and combine that with and, or, not), these stand for all values of that kind: then
finding none proves that there are none. The evaluators of `bpm.expressions` themselves say what holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import Any

from bpm.expressions import ExpressionError, compile_text, truth
from bpm.expressions import tree as t
from bpm.graph import Formula

# Of more combinations of values than this the first so many are tried, and nothing is proved.
MOST = 4_000
# A condition and whether it is to hold.
type Wish = tuple[Formula, bool]
# A variable, or a value inside of one: its name and the names on the way.
type Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """`variables`: values that fulfil the wishes, None where none were found. `impossible`: there are none."""

    variables: dict[str, Any] | None
    impossible: bool = False


@lru_cache(maxsize=4096)
def fulfil(wishes: tuple[Wish, ...]) -> Found:
    """Variables that make all conditions what is wished of them, all of them at the same time."""
    try:
        trees = [compile_text(formula.text, language=formula.language) for formula, _ in wishes]  # type: ignore[arg-type]
    except ExpressionError:
        return Found(None)
    reading = _Reading()
    for compiled in trees:
        reading.read(compiled.tree)
    if any(not compiled.names <= {place[0] for place in reading.literals} for compiled in trees):
        return Found(None)
    places = sorted(reading.literals)
    if any(a != b and b[: len(a)] == a for a in places for b in places):
        return Found(None)
    choices = [reading.values(place) for place in places]
    for number, values in enumerate(product(*choices)):
        if number >= MOST:
            break
        variables = _placed(zip(places, values, strict=True))
        if all(_holds(formula, variables) is wanted for formula, wanted in wishes):
            return Found(variables)
    return Found(None, impossible=reading.plain and prod(map(len, choices)) <= MOST)


def _holds(formula: Formula, variables: Mapping[str, Any]) -> bool | None:
    try:
        compiled = compile_text(formula.text, language=formula.language)  # type: ignore[arg-type]
        return truth(compiled.evaluate(variables), formula.text)
    except ExpressionError:
        return None


@dataclass(slots=True)
class _Reading:
    """What conditions compare each place with. `plain`: they do nothing else with it."""

    literals: dict[Place, list[Any]] = field(default_factory=dict)
    flags: set[Place] = field(default_factory=set)
    plain: bool = True

    def read(self, node: t.Node, *, truth_wanted: bool = True) -> None:
        """Note the places in the tree and what is compared with them."""
        place = _place(node)
        if place is not None:
            self.literals.setdefault(place, [])
            if truth_wanted:
                self.flags.add(place)
            else:
                self.plain = False
            return
        match node:
            case t.Literal():
                return
            case t.Comparison(_, left, right):
                self._compare(left, right)
            case t.Conjunction(items) | t.Disjunction(items):
                for item in items:
                    self.read(item)
            case t.Empty(operand) if (about := _place(operand)) is not None:
                self.literals.setdefault(about, []).append(None)
            case t.Not(operand):
                self.read(operand)
            case t.Call(t.Name("not"), (operand,)):
                self.read(operand)
            case _:
                self.plain = False
                for inner in _inside(node):
                    self.read(inner, truth_wanted=False)

    def _compare(self, left: t.Node, right: t.Node) -> None:
        for one, other in ((left, right), (right, left)):
            place, literal = _place(one), _literal(other)
            if place is not None and literal is not None:
                self.literals.setdefault(place, []).append(literal[0])
                return
        self.plain = False
        self.read(left, truth_wanted=False)
        self.read(right, truth_wanted=False)

    def values(self, place: Place) -> list[Any]:
        """What the place is tried with."""
        literals = self.literals[place]
        found: list[Any] = []
        numbers = sorted({Decimal(one) for one in literals if isinstance(one, int | Decimal) and one is not True
                          and one is not False})  # fmt: skip
        if numbers:
            between = [(a + b) / 2 for a, b in pairwise(numbers)]
            every = [numbers[0] - 1, *numbers, *between, numbers[-1] + 1]
            found += [int(one) if one == one.to_integral_value() else one for one in sorted(every)]
        texts = sorted({one for one in literals if isinstance(one, str)})
        if texts:
            found += [*texts, "another" if "another" not in texts else "another one"]
        if place in self.flags or any(one is True or one is False for one in literals):
            found += [True, False]
        if any(one is None for one in literals):
            # What may be null may be empty as well.
            found += [None, ""] if texts else [None] if found else [None, "", "something"]
        return found or ["something", 0, 1, True, False, [], ["something"]]


def _place(node: t.Node) -> Place | None:
    match node:
        case t.Name(name):
            return (name,)
        case t.Path(source, name):
            before = _place(source)
            return None if before is None else (*before, name)
    return None


def _literal(node: t.Node) -> tuple[Any] | None:
    match node:
        case t.Literal(value):
            return (value,)
        case t.Negation(t.Literal(value)) if isinstance(value, int | Decimal):
            return (-value,)
    return None


def _inside(node: t.Node) -> Iterator[t.Node]:
    for name in type(node).__dataclass_fields__:
        content = getattr(node, name)
        yield from (one for one in (content if isinstance(content, tuple) else (content,)) if isinstance(one, t.Node))


def _placed(pairs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, value in pairs:
        inner = found
        for name in place[:-1]:
            inner = inner.setdefault(name, {})
        inner[place[-1]] = value
    return found
