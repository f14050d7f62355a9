"""What JUEL's operators do with values: the coercions and operators of EL 2.2 (1.7, 1.8, 1.18) on our values.

Differences from Java, on purpose: numbers are exact (int and Decimal of 34 digits; `7 / 2` is 3.5, `8 / 2` is 4),
dividing by zero is a fault and never Infinity, lists and maps are written as JSON, and a date compares with the ISO
text of a date.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, DecimalException
from types import MappingProxyType

from bpm.expressions.errors import EvaluationFault
from bpm.expressions.feel_time import Date, DateTime, DaysDuration, MonthsDuration, Time
from bpm.expressions.host import HostObject
from bpm.expressions.limits import DECIMAL128, MAX_TEXT, Budget, bounded

type Number = int | Decimal

_KINDS: MappingProxyType[type, str] = MappingProxyType(
    {
        type(None): "null",
        bool: "boolean",
        int: "number",
        Decimal: "number",
        str: "text",
        list: "list",
        dict: "map",
        datetime: "date",
        date: "date",
        time: "time",
        DaysDuration: "duration",
        MonthsDuration: "duration",
        HostObject: "object",
    }
)
_MAX_WHOLE_DIGITS = 34


def kind(value: object) -> str:
    """The kind of a value, as faults and the table of methods name it."""
    return _KINDS.get(type(value), type(value).__name__)


# -- coercions (EL 2.2, 1.18) ------------------------------------------------------------------------------------------


def number(value: object) -> Number:
    """Null and "" are 0, texts are read, other kinds are an EvaluationFault."""
    if type(value) is int or type(value) is Decimal:
        return bounded(value)
    if value is None or value == "":
        return 0
    if isinstance(value, float):
        return bounded(Decimal(repr(value)))
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return _read(value.strip())
    shown = repr(value) if isinstance(value, bool) else f"a {kind(value)}"
    raise EvaluationFault(f"{shown} is no number")


def whole(value: object) -> int:
    """As a position in a text or list: a number without its fraction."""
    found = number(value)
    if isinstance(found, Decimal):
        if found.adjusted() > _MAX_WHOLE_DIGITS:
            raise EvaluationFault(f"{found} is no position")
        return int(found)
    return found


def boolean(value: object) -> bool:
    """Null and "" are false, a text is true if it says so, other kinds are an EvaluationFault."""
    if value is True or value is False:
        return value
    if value is None or value == "":
        return False
    if isinstance(value, str):
        return value.lower() == "true"
    raise EvaluationFault(f"a {kind(value)} is neither true nor false")


def text(value: object, budget: Budget) -> str:
    """Null is "", numbers are written plainly, times as ISO 8601, lists and maps as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    pieces: list[str] = []
    _write(value, pieces, budget, nested=False)
    return "".join(pieces)


# -- operators (EL 2.2, 1.7 and 1.8) -----------------------------------------------------------------------------------


def equal(left: object, right: object) -> bool:
    """`==`: null equals null alone; numbers before booleans before texts decide what both sides are taken for."""
    if left is right:
        return True
    if left is None or right is None:
        return False
    kinds = (kind(left), kind(right))
    if "number" in kinds:
        return number(left) == number(right)
    if "boolean" in kinds:
        return boolean(left) == boolean(right)
    if "date" in kinds:
        return _moment(left) == _moment(right)
    if kinds[0] != kinds[1]:
        return False
    if isinstance(left, time) and isinstance(right, time):
        return _since_midnight(left) == _since_midnight(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    return left == right


def alike(left: object, right: object) -> bool:
    """Java's `equals`: of one kind and equal, nothing coerced."""
    return kind(left) == kind(right) and equal(left, right)


def compare(operator: str, left: object, right: object) -> bool:
    """`== != < > <= >=`, the operator spelled as the tree has it."""
    if operator == "=":
        return equal(left, right)
    if operator == "!=":
        return not equal(left, right)
    if left is right:
        return operator in ("<=", ">=")
    if left is None or right is None:
        return False
    kinds = (kind(left), kind(right))
    if "number" in kinds:
        return _ORDER[operator](number(left), number(right))
    if "date" in kinds:
        return _ORDER[operator](_moment(left), _moment(right))
    if isinstance(left, time) and isinstance(right, time):
        return _ORDER[operator](_since_midnight(left), _since_midnight(right))
    if kinds == ("text", "text"):
        return _ORDER[operator](left, right)
    raise EvaluationFault(f"a {kinds[0]} cannot be compared with a {kinds[1]}")


def calculate(operator: str, left: object, right: object) -> Number:
    """`+ - * / %`; two nulls are 0."""
    a, b = number(left), number(right)
    if operator in "/%" and not b:
        raise EvaluationFault("division by zero")
    try:
        if isinstance(a, int) and isinstance(b, int) and operator != "/":
            return bounded(_remainder(a, b) if operator == "%" else _WHOLE[operator](a, b))
        return _DECIMAL[operator](Decimal(a), Decimal(b))
    except DecimalException:
        raise EvaluationFault(f"the result of {operator!r} is out of range") from None


def negate(value: object) -> Number:
    """Unary minus."""
    return -number(value)


def empty(value: object) -> bool:
    """`empty`: null, "", an empty list or map."""
    return value is None or value == "" or (isinstance(value, list | dict) and not value)


_ORDER: MappingProxyType[str, Callable[..., bool]] = MappingProxyType(
    {
        "<": lambda a, b: a < b,
        ">": lambda a, b: a > b,
        "<=": lambda a, b: a <= b,
        ">=": lambda a, b: a >= b,
    }
)
_WHOLE: MappingProxyType[str, Callable[[int, int], int]] = MappingProxyType(
    {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}
)
_DECIMAL: MappingProxyType[str, Callable[[Decimal, Decimal], Decimal]] = MappingProxyType(
    {
        "+": DECIMAL128.add,
        "-": DECIMAL128.subtract,
        "*": DECIMAL128.multiply,
        "/": DECIMAL128.divide,
        "%": DECIMAL128.remainder,
    }
)


def _remainder(a: int, b: int) -> int:
    """With the sign of the dividend, as in Java."""
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def _read(digits: str) -> Number:
    if digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_WHOLE_DIGITS:
        return int(digits)
    try:
        return bounded(DECIMAL128.create_decimal(digits))
    except DecimalException:
        raise EvaluationFault(f"{digits[:60]!r} is no number") from None


def _moment(value: object) -> datetime:
    """A date or its ISO text as a moment; without a zone, in UTC."""
    if isinstance(value, str):
        written = value
        try:
            value = datetime.fromisoformat(written)
        except ValueError:
            raise EvaluationFault(f"{written[:60]!r} is no date", expected="an ISO 8601 date") from None
    if type(value) is date:
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        raise EvaluationFault(f"a {kind(value)} cannot be compared with a date")
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _since_midnight(value: time) -> timedelta:
    """How long after midnight in UTC; a time without a zone (or with one that is no offset without a day) is in UTC."""
    clock = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    return clock - (value.utcoffset() or timedelta(0))


def _write(value: object, pieces: list[str], budget: Budget, nested: bool) -> None:
    """Append the text of a value; texts inside lists and maps are quoted as in JSON."""
    budget.charge()
    match value:
        case None | True | False:
            pieces.append("null" if value is None else "true" if value else "false")
        case str():
            budget.charge(len(value) // 100)
            pieces.append(json.dumps(value, ensure_ascii=False) if nested else value)
        case int() | Decimal() | float():
            pieces.append(_plain(number(value)))
        case datetime() | date() | time():
            pieces.append(f'"{value.isoformat()}"' if nested else value.isoformat())
        case list():
            _write_all("[]", ((None, item) for item in value), pieces, budget)
        case dict():
            _write_all("{}", value.items(), pieces, budget)
        case DaysDuration() | MonthsDuration() | Date() | Time() | DateTime():
            pieces.append(f'"{value}"' if nested else str(value))
        case _:
            raise EvaluationFault(f"a {kind(value)} has no text")


def _write_all(brackets: str, entries: object, pieces: list[str], budget: Budget) -> None:
    pieces.append(brackets[0])
    for place, (key, item) in enumerate(entries):  # type: ignore[arg-type, var-annotated]
        pieces.append("," if place else "")
        if brackets == "{}":
            pieces.append(json.dumps(str(key), ensure_ascii=False) + ":")
        _write(item, pieces, budget, nested=True)
    pieces.append(brackets[1])


def _plain(value: Number) -> str:
    """Without an exponent and without trailing zeros behind the point."""
    if isinstance(value, int):
        return str(value)
    digits = format(value, "f")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits == "-0" else digits
