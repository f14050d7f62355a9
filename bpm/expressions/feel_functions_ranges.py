"""Built-in functions on ranges and points (DMN 1.5, 10.3.4.9, Allen's relations), and `range("[1..5]")` (10.3.4.1).

A point counts as the range that holds only it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpm.expressions.errors import ExpressionError
from bpm.expressions.feel_operators import ORDERED, less, same
from bpm.expressions.feel_signatures import Call, Declaration, Refused
from bpm.expressions.feel_time import (
    NotTemporal,
    parse_date,
    parse_datetime,
    parse_duration,
    parse_temporal,
    parse_time,
)
from bpm.expressions.feel_values import FeelRange, kind_of
from bpm.expressions.parse_feel import parse_feel
from bpm.expressions.tree import AtLiteral, Literal, Name, Negation, Node, Range
from bpm.expressions.tree import Call as CallNode

type Relation = Callable[[Call, FeelRange, FeelRange], bool]


def _less(call: Call, left: object, right: object) -> bool:
    found = less(left, right, call.budget)
    if found is None:
        raise Refused(f"{kind_of(left)} and {kind_of(right)} have no common order")
    return found


def _same(call: Call, left: object, right: object) -> bool:
    return same(left, right, call.budget)


def _before(call: Call, a: FeelRange, b: FeelRange) -> bool:
    return _less(call, a.high, b.low) or (_same(call, a.high, b.low) and not (a.high_closed and b.low_closed))


def _meets(call: Call, a: FeelRange, b: FeelRange) -> bool:
    return a.high_closed and b.low_closed and _same(call, a.high, b.low)


def _overlaps(call: Call, a: FeelRange, b: FeelRange) -> bool:
    return not _before(call, a, b) and not _before(call, b, a)


def _starts_sooner(call: Call, a: FeelRange, b: FeelRange) -> bool:
    return _less(call, a.low, b.low) or (_same(call, a.low, b.low) and a.low_closed and not b.low_closed)


def _ends_sooner(call: Call, a: FeelRange, b: FeelRange) -> bool:
    return _less(call, a.high, b.high) or (_same(call, a.high, b.high) and (not a.high_closed or b.high_closed))


def _overlaps_before(call: Call, a: FeelRange, b: FeelRange) -> bool:
    return _overlaps(call, a, b) and _starts_sooner(call, a, b) and _ends_sooner(call, a, b)


def _finishes(call: Call, a: FeelRange, b: FeelRange) -> bool:
    if not (_same(call, a.high, b.high) and a.high_closed == b.high_closed):
        return False
    return _less(call, b.low, a.low) or (_same(call, a.low, b.low) and (not a.low_closed or b.low_closed))


def _starts(call: Call, a: FeelRange, b: FeelRange) -> bool:
    if not (_same(call, a.low, b.low) and a.low_closed == b.low_closed):
        return False
    return _less(call, a.high, b.high) or (_same(call, a.high, b.high) and (not a.high_closed or b.high_closed))


def _includes(call: Call, a: FeelRange, b: FeelRange) -> bool:
    low = _less(call, a.low, b.low) or (_same(call, a.low, b.low) and (a.low_closed or not b.low_closed))
    high = _less(call, b.high, a.high) or (_same(call, a.high, b.high) and (a.high_closed or not b.high_closed))
    return low and high


def _coincides(call: Call, a: FeelRange, b: FeelRange) -> bool:
    closed = (a.low_closed, a.high_closed) == (b.low_closed, b.high_closed)
    return closed and _same(call, a.low, b.low) and _same(call, a.high, b.high)


def _swapped(relation: Relation) -> Relation:
    return lambda call, a, b: relation(call, b, a)


_RELATIONS: dict[str, tuple[Relation, str]] = {
    # which sides may be points: both, left, right, none
    "before": (_before, "both"),
    "after": (_swapped(_before), "both"),
    "meets": (_meets, "none"),
    "met by": (_swapped(_meets), "none"),
    "overlaps": (_overlaps, "none"),
    "overlaps before": (_overlaps_before, "none"),
    "overlaps after": (_swapped(_overlaps_before), "none"),
    "finishes": (_finishes, "left"),
    "finished by": (_swapped(_finishes), "right"),
    "includes": (_includes, "right"),
    "during": (_swapped(_includes), "left"),
    "starts": (_starts, "left"),
    "started by": (_swapped(_starts), "right"),
    "coincides": (_coincides, "both"),
}
_NAMINGS = (("range1", "range2"), ("point1", "point2"), ("point", "range"), ("range", "point"))


def _declared() -> list[Declaration]:
    declarations: list[Declaration] = []
    for name, (relation, points) in _RELATIONS.items():
        for left, right in _NAMINGS:
            pointed = [side for side, label in (("left", left), ("right", right)) if label.startswith("point")]
            if points == "both" or all(side == points for side in pointed):
                kinds = ["any" if label.startswith("point") else "range" for label in (left, right)]
                declarations.append((name, f"{left}: {kinds[0]}, {right}: {kinds[1]}", _on_ranges(relation)))
    return declarations


def _on_ranges(relation: Relation) -> Callable[[Call, object, object], bool]:
    return lambda call, left, right: relation(call, _as_range(left), _as_range(right))


def _as_range(value: object) -> FeelRange:
    if isinstance(value, FeelRange):
        return value
    if kind_of(value) not in ORDERED:
        raise Refused(f"{kind_of(value)} is no point")
    return FeelRange(value, value, True, True)


# -- range from text -------------------------------------------------------------------------------

_ENDS: dict[str, Callable[[str], object]] = {
    "date": parse_date,
    "time": parse_time,
    "date and time": parse_datetime,
    "duration": parse_duration,
}


def _range_of(call: Call, text: str) -> FeelRange:
    """`range("[18..21)")`: ends are literals; a missing end is open; never a bound that comes after the other."""
    try:
        tree = parse_feel(text)
    except ExpressionError:
        raise Refused(f"{text[:40]!r} is no range") from None
    if not isinstance(tree, Range) or text.strip()[:1] not in ("[", "(", "]"):
        raise Refused(f"{text[:40]!r} is no range")
    low, high = _end(tree.low), _end(tree.high)
    if (low is None and tree.low_closed) or (high is None and tree.high_closed) or (low is None and high is None):
        raise Refused("an end that is missing cannot be closed")
    if low is not None and high is not None and _less(call, high, low):
        raise Refused("the range ends before it begins")
    return FeelRange(low, high, tree.low_closed, tree.high_closed)


def _end(node: Node) -> Any:
    sign = 1
    if isinstance(node, Negation):
        node, sign = node.operand, -1
    try:
        if isinstance(node, Literal) and (sign == 1 or not isinstance(node.value, bool | str | None)):
            return node.value if sign == 1 else -node.value  # type: ignore[operator]
        if isinstance(node, AtLiteral) and sign == 1:
            return parse_temporal(node.text)
        if isinstance(node, CallNode) and isinstance(node.function, Name) and sign == 1:
            (argument,) = node.arguments
            if isinstance(argument, Literal) and isinstance(argument.value, str):
                return _ENDS[node.function.name](argument.value)
    except (NotTemporal, KeyError, ValueError):
        pass
    raise Refused("the end of a range is not a literal")


DECLARATIONS: tuple[Declaration, ...] = (*_declared(), ("range", "from: string", _range_of))
