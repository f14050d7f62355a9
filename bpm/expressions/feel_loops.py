"""What runs over lists: filters, `for`, `some` and `every` (DMN 1.5, 10.3.2.5, 10.3.2.14 and 10.3.2.15).

Each round is charged before it runs, each range before it is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from bpm.expressions.feel_frames import Bound, Build, Frame, Run, Scope
from bpm.expressions.feel_time import Date, date_at
from bpm.expressions.feel_values import FeelRange, integer_part, is_number, kind_of
from bpm.expressions.host import Host
from bpm.expressions.limits import MAX_ITEMS, Budget
from bpm.expressions.tree import Filter, For, Literal, Name, Negation, Node, Quantified
from bpm.expressions.tree import Iterator as Domain
from bpm.expressions.walkers import walk

ITEM = "item"
PARTIAL = "partial"


# -- filters ---------------------------------------------------------------------------------------


def compile_filter(node: Filter, bound: Bound, build: Build) -> Run:
    """`source[condition]`."""
    source = build(node.source, bound)
    place = _written_number(node.condition)
    condition = build(node.condition, bound | {ITEM})

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        value = source(scope, host, budget)
        items: list[object] = value if isinstance(value, list) else [] if value is None else [value]
        if isinstance(value, FeelRange):
            budget.warn("a range cannot be filtered")
            return None
        if place is not None:
            return item_at(items, place, budget)
        return _filtered(items, condition, scope, host, budget)

    return run


def _filtered(items: list[object], condition: Run, scope: Scope, host: Host, budget: Budget) -> object:
    found = []
    for item in items or [None]:
        budget.charge()
        if isinstance(item, dict):
            budget.charge(len(item) // 8)
        frame = Frame(scope, item if isinstance(item, dict) else ())
        if not (isinstance(item, dict) and ITEM in item):
            frame[ITEM] = item
        met = condition(frame, host, budget)
        if is_number(met):  # a number says the same for every item: which one
            return item_at(items, met, budget)  # type: ignore[arg-type]
        if met is True:
            found.append(item)
    return found if items else []


def item_at(items: Sequence[object], place: int | Decimal, budget: Budget) -> object:
    """The item at a place counted from 1, or from -1 backwards; null, with a warning, where there is none."""
    at = integer_part(place)
    if place == at:
        if 0 < at <= len(items):
            return items[at - 1]
        if -len(items) <= at < 0:
            return items[at]
    budget.warn(f"there is no item {place} in a list of {len(items)}")
    return None


def _written_number(node: Node) -> int | Decimal | None:
    """The number that a condition is, when it is written there: `[1]`, `[-1]`."""
    sign = 1
    if isinstance(node, Negation):
        node, sign = node.operand, -1
    if isinstance(node, Literal) and not isinstance(node.value, bool) and isinstance(node.value, int | Decimal):
        return sign * node.value
    return None


# -- iterations ------------------------------------------------------------------------------------


def compile_for(node: For, bound: Bound, build: Build) -> Run:
    """`for x in xs return result`."""
    domains, inner = _compile_domains(node.iterators, bound, build)
    result = build(node.result, inner | {PARTIAL})
    shows_partial = any(isinstance(part, Name) and part.name == PARTIAL for part in walk(node.result))

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        results: list[object] = []
        try:
            for frame in _rounds(domains, scope, host, budget):
                budget.charge()
                budget.room(len(results) + 1, MAX_ITEMS)
                if shows_partial:
                    budget.charge(len(results) // 16)
                    frame = Frame(frame, {PARTIAL: list(results)})
                results.append(result(frame, host, budget))
        except _NoDomain as error:
            budget.warn(str(error))
            return None
        return results

    return run


def compile_quantified(node: Quantified, bound: Bound, build: Build) -> Run:
    """`some` is decided by the first true, `every` by the first false; a null on the way makes the rest unknown."""
    domains, inner = _compile_domains(node.iterators, bound, build)
    condition = build(node.condition, inner)
    deciding = not node.every

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        unknown = False
        try:
            for frame in _rounds(domains, scope, host, budget):
                budget.charge()
                met = condition(frame, host, budget)
                if met is deciding:
                    return deciding
                unknown = unknown or met is not (not deciding)
        except _NoDomain as error:
            budget.warn(str(error))
            return None
        return None if unknown else not deciding

    return run


def _compile_domains(iterators: Sequence[Domain], bound: Bound, build: Build) -> tuple[list[tuple[str, Run]], Bound]:
    domains = []
    for iterator in iterators:
        domains.append((iterator.name, build(iterator.domain, bound)))
        bound |= {iterator.name}
    return domains, bound


def _rounds(domains: list[tuple[str, Run]], scope: Scope, host: Host, budget: Budget) -> Iterator[Scope]:
    """A scope for each combination; later domains see the names of earlier ones."""
    (name, domain), *later = domains
    for item in domain_items(domain(scope, host, budget), budget):
        frame = Frame(scope, {name: item})
        if later:
            budget.charge()
            yield from _rounds(later, frame, host, budget)
        else:
            yield frame


def domain_items(value: object, budget: Budget) -> Sequence[object]:
    """What an iteration runs over: the items of a list, the numbers or days of a range, a value by itself."""
    if isinstance(value, list):
        return value
    if isinstance(value, FeelRange):
        return _range_items(value, budget)
    if value is None:
        raise _NoDomain("nothing to iterate over: null")
    return [value]


def _range_items(span: FeelRange, budget: Budget) -> Sequence[object]:
    low, high = span.low, span.high
    make: Callable[[int], object]
    if isinstance(low, Date) and isinstance(high, Date):
        first, last, make = low.ordinal, high.ordinal, date_at
    elif isinstance(low, int | Decimal) and isinstance(high, int | Decimal):
        first, last, make = integer_part(low), integer_part(high), int
        if first != low or last != high:
            raise _NoDomain("a range of numbers that are not whole cannot be iterated over")
    else:
        raise _NoDomain(f"a range of {kind_of(low)} cannot be iterated over")
    step = 1 if last >= first else -1
    first += 0 if span.low_closed else step
    last -= 0 if span.high_closed else step
    size = max(0, (last - first) * step + 1)
    budget.room(size, MAX_ITEMS)
    budget.charge(size // 8)
    return [make(first + step * place) for place in range(size)]


class _NoDomain(Exception):
    """There is nothing to iterate over, as opposed to an empty list."""
