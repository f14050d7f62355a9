"""The values of FEEL: their kinds, their text, and how values of the program enter.

A value is None, bool, int, Decimal, str, one of the five temporal values (`feel_time`), list, dict (a context),
`FeelRange`, or a function. Anything else has no kind and behaves as null. Lists and dicts are never changed
once made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as python_date
from datetime import time as python_time
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Protocol

from bpm.expressions.feel_time import (
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Time,
    from_python,
)
from bpm.expressions.limits import DECIMAL128, MAX_INTEGER, MAX_ITEMS, MAX_TEXT, Budget, bounded

if TYPE_CHECKING:
    from bpm.expressions.host import Host

NULL: Final = "null"
BOOLEAN: Final = "boolean"
NUMBER: Final = "number"
STRING: Final = "string"
DATE: Final = "date"
TIME: Final = "time"
DATETIME: Final = "date and time"
DAYS: Final = "days and time duration"
MONTHS: Final = "years and months duration"
LIST: Final = "list"
CONTEXT: Final = "context"
RANGE: Final = "range"
FUNCTION: Final = "function"

CHARACTERS_A_STEP = 256
"""Characters of a text that are copied in the time of one step."""
FARTHEST = 10**40
"""More than anything is counted to."""
_WRITTEN_OUT = 6200
DEEPEST = 200
"""Levels of lists and contexts inside each other that a result may have."""


@dataclass(frozen=True, slots=True)
class FeelRange:
    """From low to high, either of which may be None: no bound. closed says whether the bound itself belongs to it."""

    low: object
    high: object
    low_closed: bool
    high_closed: bool


class Callee(Protocol):
    """What a FEEL function is: something that can be invoked, never looked into."""

    @property
    def arity(self) -> int | None:
        """How many parameters it has; None when that varies."""

    def invoke(
        self, arguments: Sequence[object], named: Mapping[str, object] | None, host: Host, budget: Budget
    ) -> object:
        """The result; null and a warning when the arguments do not fit. named: the arguments by name instead."""


class FeelFunction:
    """A function as a value: of an expression, a business knowledge model or a decision service."""

    __slots__ = ("body", "convert", "parameters")

    def __init__(
        self,
        parameters: Sequence[str],
        body: Callable[[Sequence[object], Host, Budget], object],
        convert: Callable[[Sequence[object], Budget], Sequence[object]] | None = None,
    ) -> None:
        """parameters: their names; body: from arguments to result; convert: makes arguments fit the parameters."""
        self.parameters = tuple(parameters)
        self.body = body
        self.convert = convert

    @property
    def arity(self) -> int | None:
        """How many parameters it has."""
        return len(self.parameters)

    def invoke(
        self, arguments: Sequence[object], named: Mapping[str, object] | None, host: Host, budget: Budget
    ) -> object:
        """The body's result for these arguments; null and a warning when there are too many or too few."""
        if named is not None:
            if not named.keys() <= set(self.parameters):
                budget.warn(f"a function with parameters {', '.join(self.parameters)} is called by other names")
                return None
            arguments = [named.get(name) for name in self.parameters]
        if len(arguments) != len(self.parameters):
            budget.warn(f"a function of {len(self.parameters)} parameters is called with {len(arguments)} arguments")
            return None
        if self.convert is not None:
            arguments = self.convert(arguments, budget)
        budget.enter()
        try:
            return self.body(arguments, host, budget)
        finally:
            budget.leave()


_KINDS: dict[type, str] = {
    type(None): NULL,
    bool: BOOLEAN,
    int: NUMBER,
    Decimal: NUMBER,
    str: STRING,
    Date: DATE,
    Time: TIME,
    DateTime: DATETIME,
    DaysDuration: DAYS,
    MonthsDuration: MONTHS,
    list: LIST,
    dict: CONTEXT,
    FeelRange: RANGE,
    FeelFunction: FUNCTION,
}


def admit(value: object) -> object:
    """A variable as a value, at the cost of a look: what is in a list or context is taken to be values already."""
    kind = type(value)
    if kind is int or kind is Decimal:
        return bounded(value)  # type: ignore[arg-type]
    return value if kind in _KINDS else intake(value)


def register_function_type(kind: type) -> None:
    """Let values of another class be functions (the built-in ones, which this module cannot know)."""
    _KINDS[kind] = FUNCTION


def kind_of(value: object) -> str:
    """The name of a value's type, as `instance of` has it; NULL for what is no value."""
    return _KINDS.get(type(value), NULL)


def is_number(value: object) -> bool:
    """Whether it is a FEEL number; a boolean is none."""
    return type(value) is int or type(value) is Decimal


def intake(value: object) -> object:
    """A value of the program as a value of FEEL, through and through.

    Floats become exact decimals, tuples lists, Python's dates FEEL's; what has no counterpart becomes null."""
    if type(value) is list:
        return [intake(item) for item in value]
    if type(value) is dict:
        return {str(key): intake(item) for key, item in value.items()}
    if type(value) is int or type(value) is Decimal:
        return bounded(value)
    if type(value) is int or type(value) is Decimal:
        return bounded(value)
    if type(value) in _KINDS:
        return value
    if isinstance(value, float):
        return Decimal(repr(value)) if value - value == 0 else None  # no NaN, no infinity
    if isinstance(value, python_date | python_time | timedelta):
        return from_python(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): intake(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [intake(item) for item in value]
    return None


def number(value: Decimal) -> int | Decimal:
    """A computed number, a whole one as int; OverflowError when it is infinite (`0 ** -1`)."""
    if not value.is_finite():
        raise OverflowError
    if value == value.to_integral_value() and -MAX_INTEGER < value < MAX_INTEGER:
        return int(value)
    return value


def whole(value: int) -> int | Decimal:
    """An integer that stays one up to 34 digits."""
    return value if -MAX_INTEGER < value < MAX_INTEGER else DECIMAL128.create_decimal(value)


def integer_part(value: int | Decimal) -> int:
    """What stands before the point. A number too large for any list, date or duration is cut at FARTHEST: `int` of
    1e999999999, which may come from outside, would take all memory there is."""
    if type(value) is int:
        return value
    if not value.is_finite() or value.adjusted() > 40:  # type: ignore[union-attr]
        return -FARTHEST if value < 0 else FARTHEST
    return int(value)


def decimal(value: int | Decimal) -> Decimal:
    """A number as a Decimal of 34 digits."""
    return Decimal(value) if type(value) is int else value  # type: ignore[return-value]


def measure(value: object, budget: Budget) -> None:
    """LimitFault when a result is too large or deep to be written down: shared parts count each time they are met."""
    waiting: list[tuple[object, int]] = [(value, 1)]
    seen = 0
    while waiting:
        item, depth = waiting.pop()
        parts = item if isinstance(item, list) else item.values() if isinstance(item, dict) else ()
        seen += len(parts)
        budget.room(seen, MAX_ITEMS)
        budget.room(depth, DEEPEST)
        waiting.extend((part, depth + 1) for part in parts if isinstance(part, list | dict))


# -- text ------------------------------------------------------------------------------------------


def temporal_text(value: object) -> str | None:
    """A date, time or duration, FEEL's or Python's, as ISO 8601 text; None for any other value."""
    if isinstance(value, Date | Time | DateTime | DaysDuration | MonthsDuration):
        return str(value)
    known = from_python(value)
    return None if known is None else str(known)


def number_text(value: int | Decimal) -> str:
    """A number without exponent and without zeros at its end."""
    if type(value) is int:
        return str(value)
    if abs(value.adjusted()) > _WRITTEN_OUT:  # type: ignore[union-attr]
        return str(value)
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def charge_text(size: int, budget: Budget) -> None:
    """Before a text of this size is made: LimitFault when it is too long, or one too many."""
    budget.room(size, MAX_TEXT)
    budget.charge(size // CHARACTERS_A_STEP)


def text_of(value: object, budget: Budget) -> str:
    """What `string(value)` says; LimitFault when that grows too long."""
    if isinstance(value, str):
        return value
    parts: list[str] = []
    size = 0
    for part in _parts(value, budget):
        size += len(part)
        parts.append(part)
    charge_text(size, budget)
    return "".join(parts)


def _parts(value: object, budget: Budget) -> list[str]:
    budget.charge()
    if value is None:
        return [NULL]
    if isinstance(value, str):
        budget.charge(len(value) // CHARACTERS_A_STEP)
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        return [f'"{quoted}"']
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, int | Decimal):
        written = number_text(value)
        budget.charge(len(written) // 64)
        return [written]
    found: list[str] = []
    if isinstance(value, list):
        for place, item in enumerate(value):
            found += [", " if place else "[", *_parts(item, budget)]
        return [*found, "]"] if found else ["[]"]
    if isinstance(value, dict):
        for place, (key, item) in enumerate(value.items()):
            found += [", " if place else "{", f"{key}: ", *_parts(item, budget)]
        return [*found, "}"] if found else ["{}"]
    if isinstance(value, FeelRange):
        opened, closed = "[" if value.low_closed else "(", "]" if value.high_closed else ")"
        return [opened, *_parts(value.low, budget), "..", *_parts(value.high, budget), closed]
    return [temporal_text(value) or (FUNCTION if kind_of(value) == FUNCTION else NULL)]
