"""The methods and properties that JUEL may use: a table of kinds and names, nothing else is reachable.

They are those of Java's String, Number, Boolean, List, Map and Date (Joda's too) that real models use, and Camunda
Spin's on JSON values (`prop`, `elements`, `value`, ...), which here are methods of plain lists and maps, as are those
of a decision's result (`juel_results`).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any

from bpm.expressions.errors import EvaluationFault
from bpm.expressions.feel_regex import read_pattern
from bpm.expressions.feel_signatures import Refused
from bpm.expressions.juel_results import ENTRIES, RESULTS
from bpm.expressions.juel_values import alike, boolean, calculate, compare, equal, kind, number, text, whole
from bpm.expressions.limits import Budget

type Member = tuple[int, int, Callable[..., object]]
"""Fewest and most arguments, and the function of the value and its arguments."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STEP = re.compile(r"\.(?P<name>[\w-]+)|\[(?P<index>\d{1,9})\]|\['(?P<quoted>[^']*)'\]")


def property_of(value: object, name: str) -> object:
    """`value.name`: an entry of a map, or what the getter answers; null of null; EvaluationFault if there is none."""
    if isinstance(value, dict):
        return value.get(name)
    if value is None:
        return None
    capital = name[:1].upper() + name[1:]
    for getter in ("get" + capital, "is" + capital):
        member = _MEMBERS.get((kind(value), getter))
        if member is not None and member[0] == 0:
            return member[2](value)
    raise EvaluationFault(f"a {kind(value)} has no property {name!r}")


def item_of(value: object, key: object, budget: Budget) -> object:
    """`value[key]`: an item of a list (null outside it), an entry of a map, a property; null of null."""
    if value is None or key is None:
        return None
    if isinstance(value, list):
        index = whole(key)
        return value[index] if 0 <= index < len(value) else None
    if isinstance(value, str) and kind(key) == "number":
        raise EvaluationFault("a text has no items", expected="charAt or substring")
    return property_of(value, text(key, budget))


def call_method(value: object, name: str, arguments: list[object], budget: Budget) -> object:
    """`value.name(arguments)`; EvaluationFault for what is not in the table."""
    budget.charge(1 + _size(value) + sum(map(_size, arguments)))
    member = _MEMBERS.get((kind(value), name)) or _ANY.get(name)
    if value is None and name not in _ANY:
        raise EvaluationFault(f"{name}() of null")
    if member is None:
        raise EvaluationFault(f"a {kind(value)} has no method {name!r}")
    fewest, most, function = member
    if not fewest <= len(arguments) <= most:
        raise EvaluationFault(
            f"{name}() got {len(arguments)} arguments",
            expected=str(fewest) if fewest == most else f"{fewest} to {most}",
        )
    return function(value, *arguments)


def _size(value: object) -> int:
    """What looking through a value costs, in steps."""
    if isinstance(value, str):
        return len(value) // 100
    return len(value) if isinstance(value, list | dict) else 0


def _text(value: object) -> str:
    return text(value, Budget())


# -- texts -------------------------------------------------------------------------------------------------------------


def _joined(*parts: object) -> str:
    texts = [_text(part) for part in parts]
    Budget().room(sum(map(len, texts)))
    return "".join(texts)


def _replaced(value: str, old: object, new: object) -> str:
    sought, put = _text(old), _text(new)
    Budget().room(len(value) + value.count(sought) * len(put))
    return value.replace(sought, put)


def _part(value: str, start: object, end: object = None) -> str:
    first, last = whole(start), len(value) if end is None else whole(end)
    if not 0 <= first <= last <= len(value):
        raise EvaluationFault(f"substring from {first} to {last} of {len(value)} characters")
    return value[first:last]


def _split(value: str, separator: object) -> list[str]:
    sought = _text(separator)
    plain = sought[1:] if len(sought) == 2 and sought[0] == "\\" else sought
    if not plain or (plain is sought and re.search(r"[.$|()\[{^?*+\\]", plain)):
        raise EvaluationFault(f"split by {sought[:40]!r}", expected="a plain text, not a regular expression")
    parts = value.split(plain)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _matches(value: str, pattern: object) -> bool:
    """Whether the whole text is one of the pattern, which is read as FEEL's are: Java's means the same but in rare
    corners."""
    try:
        return read_pattern(f"^(?:{_text(pattern)})$", "").finds(value, Budget())
    except Refused as refused:
        raise EvaluationFault(str(refused)) from None


def _character(value: str, index: object) -> str:
    return _part(value, index, whole(index) + 1)


# -- dates -------------------------------------------------------------------------------------------------------------


def _shifted(unit: str, sign: int) -> Callable[[date, object], date]:
    def shifted(value: date, amount: object) -> date:
        count = sign * whole(amount)
        try:
            if unit in ("months", "years"):
                return _months_later(value, count * (12 if unit == "years" else 1))
            return value + timedelta(**{unit: count})
        except (OverflowError, ValueError):
            raise EvaluationFault(f"{count} {unit} from {value.isoformat()} is out of range") from None

    return shifted


def _months_later(value: date, months: int) -> date:
    year, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    day = min(value.day, calendar.monthrange(year, month + 1)[1])
    return value.replace(year=year, month=month + 1, day=day)


def _milliseconds(value: date) -> int:
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1)


def _clock(part: str) -> Callable[[date], int]:
    return lambda value: (
        {"hour": value.hour, "minute": value.minute, "second": value.second}[part] if isinstance(value, datetime) else 0
    )


# -- JSON (Spin) -------------------------------------------------------------------------------------------------------


def _prop(value: dict[str, object], name: object) -> object:
    key = _text(name)
    if key not in value:
        raise EvaluationFault(f"there is no property {key[:60]!r}")
    return value[key]


def _elements(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _json_path(value: object, path: object) -> object:
    steps = _text(path)
    if not steps.startswith("$"):
        raise EvaluationFault(f"{steps[:60]!r} is no JSON path", expected="'$'")
    position = 1
    while position < len(steps):
        step = _STEP.match(steps, position)
        if step is None:
            raise EvaluationFault(
                f"{steps[position : position + 60]!r} in a JSON path", expected="'.name' or '[index]'"
            )
        position = step.end()
        if step["index"] is not None:
            index = int(step["index"])
            value = value[index] if isinstance(value, list) and index < len(value) else None
        else:
            name = step["name"] or step["quoted"]
            value = value.get(name) if isinstance(value, dict) else None
    return value


def _got(value: list[Any], index: object) -> object:
    place = whole(index)
    if not 0 <= place < len(value):
        raise EvaluationFault(f"there is no item {place} in a list of {len(value)}")
    return value[place]


def _place(value: list[Any], sought: object) -> int:
    return next((place for place, item in enumerate(value) if alike(item, sought)), -1)


def _order(left: Any, right: Any) -> int:
    return 0 if equal(left, right) else -1 if compare("<", left, right) else 1


# -- the table ---------------------------------------------------------------------------------------------------------

_TEXT: dict[str, Member] = {
    "charAt": (1, 1, _character),
    "compareTo": (1, 1, lambda v, o: _order(v, _text(o))),
    "concat": (1, 1, _joined),
    "contains": (1, 1, lambda v, o: _text(o) in v),
    "endsWith": (1, 1, lambda v, o: v.endswith(_text(o))),
    "equalsIgnoreCase": (1, 1, lambda v, o: v.casefold() == _text(o).casefold()),
    "indexOf": (1, 1, lambda v, o: v.find(_text(o))),
    "isBlank": (0, 0, lambda v: not v.strip()),
    "isEmpty": (0, 0, lambda v: not v),
    "lastIndexOf": (1, 1, lambda v, o: v.rfind(_text(o))),
    "length": (0, 0, len),
    "matches": (1, 1, _matches),
    "replace": (2, 2, _replaced),
    "split": (1, 1, _split),
    "startsWith": (1, 1, lambda v, o: v.startswith(_text(o))),
    "strip": (0, 0, str.strip),
    "substring": (1, 2, _part),
    "toLowerCase": (0, 0, str.lower),
    "toUpperCase": (0, 0, str.upper),
    "trim": (0, 0, str.strip),
}
_NUMBER: dict[str, Member] = {
    "abs": (0, 0, lambda v: abs(number(v))),
    "add": (1, 1, lambda v, o: calculate("+", v, o)),
    "compareTo": (1, 1, _order),
    "divide": (1, 1, lambda v, o: calculate("/", v, o)),
    "doubleValue": (0, 0, number),
    "floatValue": (0, 0, number),
    "intValue": (0, 0, whole),
    "longValue": (0, 0, whole),
    "multiply": (1, 1, lambda v, o: calculate("*", v, o)),
    "negate": (0, 0, lambda v: -number(v)),
    "subtract": (1, 1, lambda v, o: calculate("-", v, o)),
    "toPlainString": (0, 0, _text),
}
_LIST: dict[str, Member] = {
    "contains": (1, 1, lambda v, o: _place(v, o) >= 0),
    "get": (1, 1, _got),
    "indexOf": (1, 1, _place),
    "isEmpty": (0, 0, lambda v: not v),
    "size": (0, 0, len),
    **RESULTS,
}
_MAP: dict[str, Member] = {
    "containsKey": (1, 1, lambda v, o: _text(o) in v),
    "containsValue": (1, 1, lambda v, o: _place(list(v.values()), o) >= 0),
    "fieldNames": (0, 0, list),
    "get": (1, 1, lambda v, o: v.get(_text(o))),
    "getOrDefault": (2, 2, lambda v, o, d: v.get(_text(o), d)),
    "hasProp": (1, 1, lambda v, o: _text(o) in v),
    "isEmpty": (0, 0, lambda v: not v),
    "keySet": (0, 0, list),
    "prop": (1, 1, _prop),
    "size": (0, 0, len),
    "values": (0, 0, lambda v: list(v.values())),
    **ENTRIES,
}
_DATE: dict[str, Member] = {
    "after": (1, 1, lambda v, o: compare(">", v, o)),
    "before": (1, 1, lambda v, o: compare("<", v, o)),
    "compareTo": (1, 1, _order),
    "getDayOfMonth": (0, 0, lambda v: v.day),
    "getDayOfWeek": (0, 0, lambda v: v.isoweekday()),
    "getHourOfDay": (0, 0, _clock("hour")),
    "getMillis": (0, 0, _milliseconds),
    "getMinuteOfHour": (0, 0, _clock("minute")),
    "getMonthOfYear": (0, 0, lambda v: v.month),
    "getSecondOfMinute": (0, 0, _clock("second")),
    "getTime": (0, 0, _milliseconds),
    "getYear": (0, 0, lambda v: v.year),
    "isAfter": (1, 1, lambda v, o: compare(">", v, o)),
    "isBefore": (1, 1, lambda v, o: compare("<", v, o)),
    "toDate": (0, 0, lambda v: v),
    "toDateTime": (0, 0, lambda v: v),
    **{
        f"{verb}{unit.capitalize()}": (1, 1, _shifted(unit, sign))
        for verb, sign in (("plus", 1), ("minus", -1))
        for unit in ("seconds", "minutes", "hours", "days", "weeks", "months", "years")
    },
}
_ANY: MappingProxyType[str, Member] = MappingProxyType(
    {
        "boolValue": (0, 0, boolean),
        "booleanValue": (0, 0, boolean),
        "elements": (0, 0, _elements),
        "equals": (1, 1, alike),
        "getValue": (0, 0, lambda v: v),
        "isArray": (0, 0, lambda v: isinstance(v, list)),
        "isBoolean": (0, 0, lambda v: isinstance(v, bool)),
        "isNull": (0, 0, lambda v: v is None),
        "isNumber": (0, 0, lambda v: kind(v) == "number"),
        "isObject": (0, 0, lambda v: isinstance(v, dict)),
        "isString": (0, 0, lambda v: isinstance(v, str)),
        "jsonPath": (1, 1, _json_path),
        "numberValue": (0, 0, number),
        "stringValue": (0, 0, _text),
        "toString": (0, 0, _text),
        "value": (0, 0, lambda v: v),
    }
)
_MEMBERS: MappingProxyType[tuple[str, str], Member] = MappingProxyType(
    {
        (owner, name): member
        for owner, table in (("text", _TEXT), ("number", _NUMBER), ("list", _LIST), ("map", _MAP), ("date", _DATE))
        for name, member in table.items()
    }
)
