"""Built-in functions on lists (DMN 1.5, 10.3.4.4) and `sort` (10.3.4.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cmp_to_key
from typing import Any

from bpm.expressions.feel_operators import ORDERED, add, less, multiply, same
from bpm.expressions.feel_signatures import Call, Declaration, Refused, whole_number
from bpm.expressions.feel_values import DAYS, MONTHS, NUMBER, Callee, decimal, is_number, kind_of, number
from bpm.expressions.limits import DECIMAL128, MAX_ITEMS

type Number = int | Decimal
type Items = list[Any]


# -- looking ---------------------------------------------------------------------------------------


def _contains(call: Call, items: Items, element: object) -> bool:
    return any(same(item, element, call.budget) for item in items)


def _index_of(call: Call, items: Items, match: object) -> list[int]:
    return [place for place, item in enumerate(items, 1) if same(item, match, call.budget)]


def _all(call: Call, items: Items) -> bool | None:
    if any(item is False for item in items):
        return False
    if any(item is not True for item in items):
        raise Refused("not all items are true or false")
    return True


def _any(call: Call, items: Items) -> bool | None:
    if any(item is True for item in items):
        return True
    if any(item is not False for item in items):
        raise Refused("not all items are true or false")
    return False


def _extreme(first_of: Callable[[object, object], tuple[object, object]]) -> Callable[[Call, Items], object]:
    def extreme(call: Call, items: Items) -> object:
        kinds = {kind_of(item) for item in items}
        if len(kinds) != 1 or not kinds <= ORDERED:
            raise Refused("there are no items of one kind that has an order")
        found = items[0]
        for item in items[1:]:
            if less(*first_of(item, found), call.budget):
                found = item
        return found

    return extreme


# -- computing -------------------------------------------------------------------------------------


def _numbers(items: Items) -> list[Number]:
    if not items or not all(is_number(item) for item in items):
        raise Refused("there are no items, or not all are numbers")
    return items


def _sum(call: Call, items: Items) -> object:
    kinds = {kind_of(item) for item in items}
    if len(kinds) != 1 or not kinds <= {NUMBER, DAYS, MONTHS}:
        raise Refused("there are no items, or not all are numbers or durations of one kind")
    total = items[0]
    for item in items[1:]:
        total = add(total, item, call.budget)
    return total


def _product(call: Call, items: Items) -> object:
    total: object = 1
    for item in _numbers(items):
        total = multiply(total, item, call.budget)
    return total


def _mean(call: Call, items: Items) -> Number:
    return number(_average(_numbers(items)))


def _average(items: Iterable[Number]) -> Decimal:
    total, count = Decimal(0), 0
    for item in items:
        total, count = DECIMAL128.add(total, decimal(item)), count + 1
    return DECIMAL128.divide(total, Decimal(count))


def _median(call: Call, items: Items) -> Number:
    ordered = sorted(_numbers(items))
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else number(_average(ordered[middle - 1 : middle + 1]))


def _deviation(call: Call, items: Items) -> Number:
    """The standard deviation of a sample."""
    if len(_numbers(items)) < 2:
        raise Refused("there are fewer than two items")
    mean = _average(items)
    total = Decimal(0)
    for item in items:
        distance = DECIMAL128.subtract(decimal(item), mean)
        total = DECIMAL128.add(total, DECIMAL128.multiply(distance, distance))
    return number(DECIMAL128.sqrt(DECIMAL128.divide(total, Decimal(len(items) - 1))))


def _mode(call: Call, items: Items) -> list[Number]:
    if not items:
        return []
    counts: dict[Number, int] = {}
    for item in _numbers(items):
        counts[item] = counts.get(item, 0) + 1
    most = max(counts.values())
    return sorted(item for item, count in counts.items() if count == most)


# -- making other lists ----------------------------------------------------------------------------


def _place(items: Items, position: Number) -> int:
    """The index of a position counted from 1, or from -1 backwards."""
    place = whole_number(position)
    if place == 0 or abs(place) > len(items):
        raise Refused(f"there is no position {place} in a list of {len(items)}")
    return place - 1 if place > 0 else len(items) + place


def _sublist(call: Call, items: Items, start: Number, length: Number | None = None) -> Items:
    first = _place(items, start)
    if length is None:
        return items[first:]
    size = whole_number(length)
    if size < 0 or first + size > len(items):
        raise Refused(f"there are no {size} items from position {start}")
    return items[first : first + size]


def _insert(call: Call, items: Items, position: Number, new: object) -> Items:
    place = _place(items, position)
    return [*items[:place], new, *items[place:]]


def _remove(call: Call, items: Items, position: Number) -> Items:
    place = _place(items, position)
    return items[:place] + items[place + 1 :]


def _replace_at(call: Call, items: Items, position: Number, new: object) -> Items:
    place = _place(items, position)
    return [*items[:place], new, *items[place + 1 :]]


def _replace_where(call: Call, items: Items, match: Callee, new: object) -> Items:
    replaced = []
    for item in items:
        call.budget.charge()
        met = match.invoke([item, new], None, call.host, call.budget)
        if not isinstance(met, bool):
            raise Refused("the function does not answer true or false")
        replaced.append(new if met else item)
    return replaced


def _append(call: Call, items: Items, new: Items) -> Items:
    if not new:
        raise Refused("there is nothing to append")
    return _room(call, [*items, *new])


def _concatenate(call: Call, lists: Items) -> Items:
    joined: Items = []
    for items in lists:
        call.budget.charge(len(items) // 8 if isinstance(items, list) else 0)
        joined += items if isinstance(items, list) else [items]
    return _room(call, joined)


def _room(call: Call, items: Items) -> Items:
    call.budget.room(len(items), MAX_ITEMS)
    return items


def _distinct(call: Call, items: Items) -> Items:
    """The items without repetitions, the first of equals kept: plain ones are looked up, the others compared."""
    found: Items = []
    plain: set[tuple[str, object]] = set()
    others: Items = []
    for item in items:
        call.budget.charge()
        if item is None or isinstance(item, bool | int | Decimal | str):
            if (kind_of(item), item) in plain:
                continue
            plain.add((kind_of(item), item))
        else:
            call.budget.charge(len(others) // 4)
            if any(same(item, other, call.budget) for other in others):
                continue
            others.append(item)
        found.append(item)
    return found


def _duplicates(call: Call, items: Items) -> Items:
    found = []
    for place, item in enumerate(items):
        call.budget.charge(place // 8 + 1)
        if any(same(item, other, call.budget) for other in items[:place]):
            found.append(item)
    return _distinct(call, found)


def _flatten(call: Call, items: Items) -> Items:
    flat: Items = []
    waiting = [iter(items)]
    while waiting:
        for item in waiting[-1]:
            call.budget.charge()
            if isinstance(item, list):
                waiting.append(iter(item))
                break
            flat.append(item)
        else:
            waiting.pop()
    return flat


def _partition(call: Call, items: Items, size: Number) -> Items:
    step = whole_number(size)
    if step < 1:
        raise Refused("the size is less than 1")
    return [items[first : first + step] for first in range(0, len(items), step)]


def _sort(call: Call, items: Items, precedes: Callee | None = None) -> Items:
    """Items that precede each other in neither way keep their order."""

    def before(left: object, right: object) -> bool:
        call.budget.charge()
        if precedes is None:
            return less(left, right, call.budget) is True
        return precedes.invoke([left, right], None, call.host, call.budget) is True

    def order(left: object, right: object) -> int:
        return -1 if before(left, right) else 1 if before(right, left) else 0

    return sorted(items, key=cmp_to_key(order))


DECLARATIONS: tuple[Declaration, ...] = (
    ("list contains", "list: list, element: any", _contains),
    ("count", "*list: list", lambda call, items: len(items)),
    ("min", "*list: list", _extreme(lambda item, found: (item, found))),
    ("max", "*list: list", _extreme(lambda item, found: (found, item))),
    ("sum", "*list: list", _sum),
    ("product", "*list: list", _product),
    ("mean", "*list: list", _mean),
    ("median", "*list: list", _median),
    ("stddev", "*list: list", _deviation),
    ("mode", "*list: list", _mode),
    ("all", "*list: list", _all),
    ("any", "*list: list", _any),
    ("sublist", "list: list, start position: number, length: number?", _sublist),
    ("append", "list: list, **item: any", _append),
    ("concatenate", "**list: any", _concatenate),
    ("union", "**list: any", lambda call, lists: _distinct(call, _concatenate(call, lists))),
    ("distinct values", "list: list", _distinct),
    ("insert before", "list: list, position: number, newItem: any", _insert),
    ("remove", "list: list, position: number", _remove),
    ("list replace", "list: list, position: number, newItem: any", _replace_at),
    ("list replace", "list: list, match: function, newItem: any", _replace_where),
    ("reverse", "list: list", lambda call, items: items[::-1]),
    ("index of", "list: list, match: any", _index_of),
    ("flatten", "list: list", _flatten),
    ("sort", "list: list, precedes: function?", _sort),
    # Camunda's
    ("duplicate values", "list: list", _duplicates),
    ("partition", "list: list, size: number", _partition),
    ("is empty", "list: list|string|context~", lambda call, value: not value),
)
