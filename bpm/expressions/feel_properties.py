"""The parts of a value that have a name: `date.year`, `duration.hours`, `range.start`, `context.entry`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from bpm.expressions.feel_time import SECOND, Date, DateTime, DaysDuration, MonthsDuration, Time
from bpm.expressions.feel_values import FeelRange, kind_of, number
from bpm.expressions.limits import Budget

type Reader = Callable[[Any], object]


def property_of(value: object, name: str, budget: Budget) -> object:
    """`value.name`: an entry of a context, a part of a date or duration, an end of a range (DMN 1.5, table 66).

    Of a list, the list of what its items give. Null, with a warning, where there is no such thing."""
    if type(value) is dict:
        if name in value:
            return value[name]
        budget.warn(f"the context has no entry {name!r}")
        return None
    if isinstance(value, list):
        budget.charge(len(value))
        return [property_of(item, name, budget) for item in value]
    if value is None:
        budget.warn(f"there is no {name!r} in null")
        return None
    reader = _PROPERTIES.get((type(value), name))
    if reader is None:
        budget.warn(f"there is no {name!r} in a {kind_of(value)}")
        return None
    return reader(value)


def _time_properties(clock: Callable[[Any], Time], offset: Callable[[Any], int | None]) -> dict[str, Reader]:
    def named_zone(value: Any) -> object:
        zone = clock(value).zone
        return zone if isinstance(zone, str) else None

    def time_offset(value: Any) -> object:
        seconds = offset(value)
        return None if seconds is None else DaysDuration(seconds * SECOND)

    return {
        "hour": lambda value: clock(value).hour,
        "minute": lambda value: clock(value).minute,
        "second": lambda value: clock(value).second,
        "time offset": time_offset,
        "timezone": named_zone,
    }


def _date_properties(day: Callable[[Any], Date]) -> dict[str, Reader]:
    return {
        "year": lambda value: day(value).year,
        "month": lambda value: day(value).month,
        "day": lambda value: day(value).day,
        "weekday": lambda value: day(value).weekday,
    }


def _part_of(read: Callable[[int], Any]) -> Reader:
    """A part of a duration, which carries the duration's sign."""

    def part(value: Any) -> object:
        size = value.months if isinstance(value, MonthsDuration) else value.nanoseconds
        found = read(abs(size))
        return -found if size < 0 else found

    return part


def _midnight(_value: object) -> Time:
    return Time(0, 0, 0, 0, 0)  # a date is a date and time at midnight UTC (10.3.2.3.5)


_GROUPS: dict[type, dict[str, Reader]] = {
    Date: {
        **_time_properties(_midnight, lambda value: 0),
        **_date_properties(lambda value: value),
    },
    Time: _time_properties(lambda value: value, lambda value: value.offset),
    DateTime: {
        **_date_properties(lambda value: value.date),
        **_time_properties(lambda value: value.time, lambda value: value.offset),
    },
    DaysDuration: {
        "days": _part_of(lambda size: size // (86_400 * SECOND)),
        "hours": _part_of(lambda size: size // (3600 * SECOND) % 24),
        "minutes": _part_of(lambda size: size // (60 * SECOND) % 60),
        "seconds": _part_of(lambda size: number(Decimal(size % (60 * SECOND)) / SECOND)),
    },
    MonthsDuration: {"years": _part_of(lambda size: size // 12), "months": _part_of(lambda size: size % 12)},
    FeelRange: {
        "start": lambda value: value.low,
        "end": lambda value: value.high,
        "start included": lambda value: value.low_closed,
        "end included": lambda value: value.high_closed,
    },
}
_PROPERTIES = {(kind, name): read for kind, group in _GROUPS.items() for name, read in group.items()}
