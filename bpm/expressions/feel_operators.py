"""What FEEL's operators mean: equality, order, membership and arithmetic (DMN 1.5, tables 42 to 56).

Three-valued: None is null, "cannot be said". Where a null says that something was wrong rather than unknown, a
warning tells.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, DecimalException
from typing import Any

from bpm.expressions.feel_time import (
    DAY,
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    NotTemporal,
    Time,
    add_months,
    date_at,
    datetime_at,
    time_at,
)
from bpm.expressions.feel_values import (
    CONTEXT,
    DATE,
    DATETIME,
    DAYS,
    FUNCTION,
    LIST,
    MONTHS,
    NUMBER,
    STRING,
    TIME,
    FeelRange,
    charge_text,
    decimal,
    integer_part,
    kind_of,
    number,
    whole,
)
from bpm.expressions.limits import DECIMAL128, Budget

type Truth = bool | None

PLAIN = frozenset({int, str, Decimal})
"""Classes of which two values of the same one compare as Python compares them."""

type Comparing = Callable[[object, object, Budget], Truth]

PLAIN = frozenset({int, str, Decimal})
"""Classes of which two values of the same one compare as Python compares them."""
ORDERED = frozenset({NUMBER, STRING, DATE, TIME, DATETIME, DAYS, MONTHS})
"""Kinds whose values come one before another."""

_LONGEST = 10**40
_EXACT = Context(prec=120)


# -- equality and order ----------------------------------------------------------------------------


def equal(left: object, right: object, budget: Budget) -> Truth:
    """`left = right`: null where the kinds differ, but null equals only null, and a list of one item its item."""
    if left is None or right is None:
        return left is right
    kind, other = kind_of(left), kind_of(right)
    if kind != other:
        return _equal_across(left, kind, right, other, budget)
    if kind == LIST:
        return _equal_lists(left, right, budget)  # type: ignore[arg-type]
    if kind == CONTEXT:
        return _equal_contexts(left, right, budget)  # type: ignore[arg-type]
    if isinstance(left, Time | DateTime) and isinstance(right, Time | DateTime):
        return (left.zone is None) == (right.zone is None) and left.moment == right.moment
    if isinstance(left, FeelRange) and isinstance(right, FeelRange):
        closed = (left.low_closed, left.high_closed) == (right.low_closed, right.high_closed)
        return closed and same(left.low, right.low, budget) and same(left.high, right.high, budget)
    if kind == FUNCTION:
        return None
    return left == right


def same(left: object, right: object, budget: Budget) -> bool:
    """Whether two values are certainly equal."""
    return equal(left, right, budget) is True


def _equal_across(left: object, kind: str, right: object, other: str, budget: Budget) -> Truth:
    if isinstance(left, list) and len(left) == 1:
        return equal(left[0], right, budget)
    if isinstance(right, list) and len(right) == 1:
        return equal(left, right[0], budget)
    if {kind, other} == {DAYS, MONTHS}:
        return left in _NOTHING and right in _NOTHING  # the two kinds meet at zero alone
    return None


_NOTHING = (DaysDuration(0), MonthsDuration(0))


def _equal_lists(left: list[object], right: list[object], budget: Budget) -> bool:
    if len(left) != len(right):
        return False
    budget.charge(len(left))
    return all(same(a, b, budget) for a, b in zip(left, right, strict=True))


def _equal_contexts(left: dict[str, object], right: dict[str, object], budget: Budget) -> bool:
    if left.keys() != right.keys():
        return False
    budget.charge(len(left))
    return all(same(value, right[key], budget) for key, value in left.items())


def less(left: object, right: object, budget: Budget) -> Truth:
    """`left < right`: null where the kinds differ or have no order, or only one of two times knows its zone."""
    kind = kind_of(left)
    if kind != kind_of(right) or kind not in ORDERED:
        return None
    if isinstance(left, Date) and isinstance(right, Date):
        return (left.year, left.month, left.day) < (right.year, right.month, right.day)
    if isinstance(left, Time | DateTime) and isinstance(right, Time | DateTime):
        return left.moment < right.moment if (left.zone is None) == (right.zone is None) else None
    return bool(left < right)  # type: ignore[operator]


def at_most(left: object, right: object, budget: Budget) -> Truth:
    """`left <= right`."""
    smaller = less(left, right, budget)
    return equal(left, right, budget) if smaller is False else smaller


def _unequal(left: object, right: object, budget: Budget) -> Truth:
    found = equal(left, right, budget)
    return None if found is None else not found


COMPARISONS: dict[str, Comparing] = {
    "=": equal,
    "!=": _unequal,
    "<": less,
    "<=": at_most,
    ">": lambda left, right, budget: less(right, left, budget),
    ">=": lambda left, right, budget: at_most(right, left, budget),
}


QUICK: dict[str, Callable[[Any, Any], bool]] = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
"""The same for two values of one plain class."""


def compare(operator: str, left: object, right: object, budget: Budget) -> Truth:
    """The comparison by its sign, with a warning where it cannot be said though both sides are there."""
    if type(left) is type(right) and type(left) in PLAIN:
        return QUICK[operator](left, right)
    found = COMPARISONS[operator](left, right, budget)
    if found is None and left is not None and right is not None:
        budget.warn(f"{kind_of(left)} {operator} {kind_of(right)} cannot be said")
    return found


# -- membership ------------------------------------------------------------------------------------


def contains(span: FeelRange, value: Any, budget: Budget) -> Truth:
    """Whether a value lies in a range."""
    low: Any = span.low
    high: Any = span.high
    if type(value) is type(low) is type(high) and type(value) in PLAIN:
        above = low <= value if span.low_closed else low < value
        return bool(above and (value <= high if span.high_closed else value < high))
    if value is None or (span.low is None and span.high is None):
        return None
    inside = True
    if span.low is not None:
        found = (at_most if span.low_closed else less)(span.low, value, budget)
        if found is None:
            return None
        inside = found
    if span.high is not None:
        found = (at_most if span.high_closed else less)(value, span.high, budget)
        if found is None:
            return None
        inside = inside and found
    return inside


def meets(value: object, wanted: object, budget: Budget) -> Truth:
    """`value in wanted`: in the range, equal to an item of the list or met by one, else equal (DMN 1.5, table 55)."""
    if isinstance(wanted, FeelRange):
        return contains(wanted, value, budget)
    if isinstance(wanted, list):
        budget.charge(len(wanted))
        if isinstance(value, list) and same(value, wanted, budget):
            return True
        return any(meets(value, item, budget) is True for item in wanted)
    return equal(value, wanted, budget)


def any_of(truths: Iterable[Truth]) -> Truth:
    """Disjunction of three-valued truths: true if one is, else null if one is."""
    unknown = False
    for truth in truths:
        if truth is True:
            return True
        unknown = unknown or truth is None
    return None if unknown else False


# -- arithmetic ------------------------------------------------------------------------------------


def days(nanoseconds: int) -> DaysDuration:
    """A days and time duration; NotTemporal beyond any calendar."""
    if abs(nanoseconds) > _LONGEST:
        raise NotTemporal("the duration is too long")
    return DaysDuration(nanoseconds)


def months(count: int) -> MonthsDuration:
    """A years and months duration; NotTemporal beyond any calendar."""
    if abs(count) > _LONGEST:
        raise NotTemporal("the duration is too long")
    return MonthsDuration(count)


def add(left: Any, right: Any, budget: Budget) -> object:
    """`left + right`: numbers, texts, durations, and a duration to a date or time."""
    if type(left) is int and type(right) is int:
        return whole(left + right)
    kinds = kind_of(left), kind_of(right)
    if kinds == (NUMBER, NUMBER):
        return DECIMAL128.add(decimal(left), decimal(right))
    if kinds == (STRING, STRING):
        charge_text(len(left) + len(right), budget)
        return left + right
    if kinds == (DAYS, DAYS):
        return days(left.nanoseconds + right.nanoseconds)
    if kinds == (MONTHS, MONTHS):
        return months(left.months + right.months)
    if kinds[0] in (DAYS, MONTHS) and kinds[1] in (DATE, TIME, DATETIME):
        return _moved(right, left, 1)
    if kinds[1] in (DAYS, MONTHS) and kinds[0] in (DATE, TIME, DATETIME):
        return _moved(left, right, 1)
    raise _Unfit


def subtract(left: Any, right: Any, budget: Budget) -> object:
    """`left - right`: as add, and the duration between two dates or times."""
    if type(left) is int and type(right) is int:
        return whole(left - right)
    kinds = kind_of(left), kind_of(right)
    if kinds == (NUMBER, NUMBER):
        return DECIMAL128.subtract(decimal(left), decimal(right))
    if kinds == (DAYS, DAYS):
        return days(left.nanoseconds - right.nanoseconds)
    if kinds == (MONTHS, MONTHS):
        return months(left.months - right.months)
    if kinds[1] in (DAYS, MONTHS) and kinds[0] in (DATE, TIME, DATETIME):
        return _moved(left, right, -1)
    if kinds == (DATE, DATE):
        return days((left.ordinal - right.ordinal) * DAY)
    if kinds == (TIME, TIME) or (kinds[0] in (DATE, DATETIME) and kinds[1] in (DATE, DATETIME)):
        left, right = at_midnight(left), at_midnight(right)
        if (left.zone is None) != (right.zone is None):
            raise _Unfit
        return days(left.moment - right.moment)
    raise _Unfit


def multiply(left: Any, right: Any, budget: Budget) -> object:
    """`left * right`: numbers, and a duration so many times (whole months, whole nanoseconds)."""
    if type(left) is int and type(right) is int:
        return whole(left * right)
    kinds = kind_of(left), kind_of(right)
    if kinds == (NUMBER, NUMBER):
        return DECIMAL128.multiply(decimal(left), decimal(right))
    if kinds[1] in (DAYS, MONTHS):
        left, right, kinds = right, left, (kinds[1], kinds[0])
    if kinds == (DAYS, NUMBER):
        return days(integer_part(_EXACT.multiply(Decimal(left.nanoseconds), decimal(right))))
    if kinds == (MONTHS, NUMBER):
        return months(integer_part(_EXACT.multiply(Decimal(left.months), decimal(right))))
    raise _Unfit


def divide(left: Any, right: Any, budget: Budget) -> object:
    """`left / right`: numbers, a duration by a number, a duration by one of its kind."""
    kinds = kind_of(left), kind_of(right)
    if kinds == (NUMBER, NUMBER):
        if type(left) is int and type(right) is int and right and left % right == 0:
            return left // right
        return DECIMAL128.divide(decimal(left), decimal(right))
    if kinds == (DAYS, NUMBER):
        return days(integer_part(_EXACT.divide(Decimal(left.nanoseconds), decimal(right))))
    if kinds == (MONTHS, NUMBER):
        return months(integer_part(_EXACT.divide(Decimal(left.months), decimal(right))))
    if kinds == (DAYS, DAYS):
        return number(DECIMAL128.divide(Decimal(left.nanoseconds), Decimal(right.nanoseconds)))
    if kinds == (MONTHS, MONTHS):
        return number(DECIMAL128.divide(Decimal(left.months), Decimal(right.months)))
    raise _Unfit


def power(left: Any, right: Any, budget: Budget) -> object:
    """`left ** right`, numbers only."""
    if kind_of(left) == NUMBER == kind_of(right):
        return number(DECIMAL128.power(decimal(left), decimal(right)))
    raise _Unfit


OPERATIONS: dict[str, Callable[[Any, Any, Budget], object]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "**": power,
}


def compute(operator: str, left: object, right: object, budget: Budget) -> object:
    """The operation by its sign; null, with a warning, where it is not defined or its result is out of bounds."""
    try:
        return OPERATIONS[operator](left, right, budget)
    except _Unfit:
        budget.warn(f"{kind_of(left)} {operator} {kind_of(right)} is not defined")
    except (DecimalException, NotTemporal, OverflowError):
        budget.warn(f"{kind_of(left)} {operator} {kind_of(right)} has no result with these values")
    return None


def negate(value: object, budget: Budget) -> object:
    """`-value`: a number or a duration."""
    if type(value) is int:
        return -value
    if isinstance(value, Decimal):
        return value.copy_negate()
    if isinstance(value, DaysDuration):
        return DaysDuration(-value.nanoseconds)
    if isinstance(value, MonthsDuration):
        return MonthsDuration(-value.months)
    budget.warn(f"- {kind_of(value)} is not defined")
    return None


def at_midnight(value: Any) -> Any:
    """A date as the date and time it stands for, midnight UTC (DMN 1.5, 10.3.2.3.5); any other value as it is."""
    return DateTime(value, Time(0, 0, 0, 0, 0)) if isinstance(value, Date) else value


def _moved(value: Date | Time | DateTime, by: DaysDuration | MonthsDuration, sign: int) -> object:
    if isinstance(by, MonthsDuration):
        if isinstance(value, Date):
            return add_months(value, sign * by.months)
        if isinstance(value, DateTime):
            return DateTime(add_months(value.date, sign * by.months), value.time)
        raise _Unfit
    span = sign * by.nanoseconds
    if isinstance(value, Date):
        return date_at((value.ordinal * DAY + span) // DAY)
    if isinstance(value, Time):
        return time_at(value.nanoseconds + span, value.zone)
    return datetime_at(value.moment + span, value.zone)


class _Unfit(Exception):
    """The operation is not defined for these kinds."""
