"""Cron in its three dialects, read into sets of numbers and searched month by month.

* Quartz (Camunda 7): seconds first, an optional year last, Sunday is 1, one of the two day fields is `?` (a `*` is
  taken for it), and the day forms `L`, `L-3`, `LW`, `15W`, `6L`, `FRI#2`.
* Spring (Camunda 8): seconds first, Sunday is 0 or 7, both day fields must hold.
* Unix: five fields, no seconds, Sunday is 0 or 7, either of two restricted day fields is enough.

The macros `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight` and `@hourly` stand for their cron.

Daylight saving: a job with given hours keeps its wall-clock time. One that falls into the hour that is jumped over
runs that much later, one in the hour that comes twice runs once, the first time. A job of every hour follows time
itself: it neither pauses for the repeated hour nor piles up after the missing one.
"""

from __future__ import annotations

import calendar
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal

from bpm.expressions.timers.iso import LONGEST_YEARS, fault, instant_of

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = {
    **{"JAN": 1, "FEB": 2, "MAR": 3, "APR": 4, "MAY": 5, "JUN": 6},
    **{"JUL": 7, "AUG": 8, "SEP": 9, "OCT": 10, "NOV": 11, "DEC": 12},
}
_DAYS = {"SUN": 0, "MON": 1, "TUE": 2, "WED": 3, "THU": 4, "FRI": 5, "SAT": 6}
_YEARS = range(1970, 2200)


@dataclass(frozen=True, slots=True)
class _Field:
    """One place of a cron text: what it is called, which numbers it may hold, which names stand for them."""

    name: str
    numbers: range
    names: Mapping[str, int] = field(default_factory=dict)


_SECOND = _Field("second", range(60))
_MINUTE = _Field("minute", range(60))
_HOUR = _Field("hour", range(24))
_MONTH_DAY = _Field("day of month", range(1, 32))
_MONTH = _Field("month", range(1, 13), _MONTHS)
_QUARTZ_WEEKDAY = _Field("day of week", range(1, 8), {name: day + 1 for name, day in _DAYS.items()})
_UNIX_WEEKDAY = _Field("day of week", range(8), _DAYS)
_YEAR = _Field("year", _YEARS)


@dataclass(frozen=True, slots=True)
class _MonthDays:
    """The days of a month that a day-of-month field names: numbers, and rules that depend on the month."""

    numbers: frozenset[int] = frozenset()
    before_last: frozenset[int] = frozenset()  # L is 0, L-3 is 3
    workday_near: frozenset[int] = frozenset()  # 15W
    workday_before_last: frozenset[int] = frozenset()  # LW is 0, L-3W is 3

    def of(self, year: int, month: int) -> set[int]:
        last = calendar.monthrange(year, month)[1]
        days = {day for day in self.numbers if day <= last}
        days |= {last - back for back in self.before_last if last - back >= 1}
        days |= {_nearest_workday(year, month, day) for day in self.workday_near if day <= last}
        days |= {_nearest_workday(year, month, last - back) for back in self.workday_before_last if last - back >= 1}
        return days


@dataclass(frozen=True, slots=True)
class _WeekDays:
    """The days of a month that a day-of-week field names, Sunday 0 to Saturday 6."""

    numbers: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()  # 6L
    nth: frozenset[tuple[int, int]] = frozenset()  # FRI#2

    def of(self, year: int, month: int) -> set[int]:
        first, last = calendar.monthrange(year, month)
        days = set()
        for day in range(1, last + 1):
            weekday = (first + day) % 7  # monthrange counts from Monday 0, so Sunday comes out as 0 here
            named = weekday in self.numbers or (weekday, (day + 6) // 7) in self.nth
            if named or (weekday in self.last and day + 7 > last):
                days.add(day)
        return days


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron text, read. `month_days` or `week_days` is None where the field says any day."""

    text: str
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    years: frozenset[int] | None
    month_days: _MonthDays | None
    week_days: _WeekDays | None
    either_day: bool

    def after(self, moment: datetime, zone: tzinfo) -> datetime | None:
        """The first instant (UTC) later than `moment` that this cron names in the zone; None within 100 years."""
        if len(self.hours) < 24:
            return self._keeping_wall_clock(moment, zone)
        # every hour: look with the offset of now, and once more with the offset that holds there
        offset = moment.astimezone(zone).utcoffset()
        for _ in range(2):
            found = self._after_in(moment, timezone(offset or timedelta()))
            if found is None:
                return None
            there = found.astimezone(zone).utcoffset()
            if there == offset:
                return found
            offset = there
        return self._keeping_wall_clock(moment, zone)

    def _after_in(self, moment: datetime, zone: timezone) -> datetime | None:
        local = self.next_local(moment.astimezone(zone).replace(tzinfo=None))
        return None if local is None else local.replace(tzinfo=zone).astimezone(UTC)

    def _keeping_wall_clock(self, moment: datetime, zone: tzinfo) -> datetime | None:
        local = moment.astimezone(zone).replace(tzinfo=None)
        while True:
            candidate = self.next_local(local)
            if candidate is None:
                return None
            instant = instant_of(candidate, zone)
            if instant > moment:
                return instant
            local = candidate  # the first of two equal wall clocks has passed already

    def next_local(self, local: datetime) -> datetime | None:
        """The first wall-clock time later than `local` that the fields name; None within 100 years."""
        local = local.replace(microsecond=0)
        for day in self._days_from(local.date()):
            clock = self._clock_after(local.time() if day == local.date() else None)
            if clock is not None:
                return datetime.combine(day, clock)
        return None

    def _days_from(self, start: date) -> Iterator[date]:
        for index in range(start.year * 12 + start.month - 1, (start.year + LONGEST_YEARS) * 12 + start.month):
            year, month = index // 12, index % 12 + 1
            if year > 9999:
                return
            if month in self.months and (self.years is None or year in self.years):
                for day in sorted(self._days_of(year, month)):
                    found = date(year, month, day)
                    if found >= start:
                        yield found

    def _days_of(self, year: int, month: int) -> set[int]:
        by_month = self.month_days.of(year, month) if self.month_days is not None else None
        by_week = self.week_days.of(year, month) if self.week_days is not None else None
        if by_month is None and by_week is None:
            return set(range(1, calendar.monthrange(year, month)[1] + 1))
        if by_month is None or by_week is None:
            return by_month if by_month is not None else by_week or set()
        return by_month | by_week if self.either_day else by_month & by_week

    def _clock_after(self, clock: time | None) -> time | None:
        if clock is None:
            return time(self.hours[0], self.minutes[0], self.seconds[0])
        hour, minute, second = clock.hour, clock.minute, clock.second + 1
        if hour in self.hours and minute in self.minutes:
            place = bisect_left(self.seconds, second)
            if place < len(self.seconds):
                return time(hour, minute, self.seconds[place])
        if hour in self.hours:
            place = bisect_left(self.minutes, minute + 1)
            if place < len(self.minutes):
                return time(hour, self.minutes[place], self.seconds[0])
        place = bisect_left(self.hours, hour + 1)
        if place < len(self.hours):
            return time(self.hours[place], self.minutes[0], self.seconds[0])
        return None


@lru_cache(maxsize=512)
def parse_cron(text: str, quartz: bool = True) -> Cron:
    """Read a cron text; TimerFault names what cannot be read, and a date that never comes."""
    parts = _MACROS.get(text.lower(), text).upper().split()
    if text.startswith("@") and text.lower() not in _MACROS:
        raise fault(text, f"not one of {', '.join(_MACROS)}")
    if len(parts) == 5:
        dialect: Literal["unix", "quartz", "spring"] = "unix"
        parts = ["0", *parts]
    elif len(parts) == 6 or (len(parts) == 7 and quartz):
        dialect = "quartz" if quartz else "spring"
    else:
        raise fault(text, f"{len(parts)} fields; a cron has six (seconds first)" + (" or seven" if quartz else ""))
    if any(len(part) > 200 for part in parts):
        raise fault(text, "a field is longer than 200 characters")
    seconds, minutes, hours, month_day, month, week_day = parts[:6]
    anyday = {"*", "?"}
    if dialect == "quartz" and month_day not in anyday and week_day not in anyday:
        raise fault(text, "one of day of month and day of week must be ?")
    if month_day == "?" == week_day:
        raise fault(text, "only one of day of month and day of week can be ?")
    cron = Cron(
        text=text,
        seconds=tuple(sorted(_numbers(seconds, _SECOND, text))),
        minutes=tuple(sorted(_numbers(minutes, _MINUTE, text))),
        hours=tuple(sorted(_numbers(hours, _HOUR, text))),
        months=_numbers(month, _MONTH, text),
        years=_numbers(parts[6], _YEAR, text) if len(parts) == 7 and parts[6] != "*" else None,
        month_days=None if month_day in anyday else _month_days(month_day, text),
        week_days=None if week_day in anyday else _week_days(week_day, text, dialect == "quartz"),
        either_day=dialect == "unix",
    )
    first_year = min(cron.years) if cron.years else 2000
    if cron.next_local(datetime.combine(date(first_year - 1, 12, 31), time(23, 59, 59))) is None:
        raise fault(text, "names a moment that never comes")
    return cron


def _numbers(part: str, kind: _Field, text: str) -> frozenset[int]:
    found: set[int] = set()
    for item in part.split(","):
        found |= _item(item, kind, text)
    return frozenset(found)


def _item(item: str, kind: _Field, text: str) -> set[int]:
    """One of `*`, `5`, `MON`, `1-5`, `FRI-MON`, `*/15`, `5/15`, `10-40/5`."""
    span, slash, step_text = item.partition("/")
    if slash and not (step_text.isascii() and step_text.isdigit() and 0 < int(step_text[:6]) <= kind.numbers[-1]):
        raise fault(text, f"{kind.name}: {step_text!r} is no step")
    step = int(step_text) if slash else 1
    first, last = kind.numbers[0], kind.numbers[-1]
    if span == "*":
        return set(range(first, last + 1, step))
    low_text, dash, high_text = span.partition("-")
    low = _number(low_text, kind, text)
    high = _number(high_text, kind, text) if dash else last if slash else low
    if low <= high:
        return set(range(low, high + 1, step))
    if kind is _YEAR:
        raise fault(text, f"year: {span} ends before it begins")
    if kind is _UNIX_WEEKDAY:
        last = 6  # Sunday has two numbers there: a span over the week's end must not count it twice
    around = [*range(low, last + 1), *range(first, high + 1)]
    return set(around[::step])


def _number(item: str, kind: _Field, text: str) -> int:
    if item in kind.names:
        return kind.names[item]
    if not (item.isascii() and item.isdigit() and len(item) <= 4 and int(item) in kind.numbers):
        shown = f"{kind.numbers[0]} to {kind.numbers[-1]}"
        raise fault(text, f"{kind.name}: {item!r} is not one of {shown}")
    return int(item)


def _month_days(part: str, text: str) -> _MonthDays:
    numbers: set[int] = set()
    before_last: set[int] = set()
    workday_near: set[int] = set()
    workday_before_last: set[int] = set()
    for item in part.split(","):
        last = re.fullmatch(r"L(?:-([0-9]{1,2}))?(W?)", item)
        near = re.fullmatch(r"([0-9]{1,2})W", item)
        if last:
            back = int(last[1] or 0)
            if back > 30:
                raise fault(text, f"day of month: {item!r} goes back more than 30 days")
            (workday_before_last if last[2] else before_last).add(back)
        elif near:
            workday_near.add(_number(near[1], _MONTH_DAY, text))
        else:
            numbers |= _item(item, _MONTH_DAY, text)
    return _MonthDays(
        frozenset(numbers), frozenset(before_last), frozenset(workday_near), frozenset(workday_before_last)
    )


def _week_days(part: str, text: str, quartz: bool) -> _WeekDays:
    kind = _QUARTZ_WEEKDAY if quartz else _UNIX_WEEKDAY
    sunday = 1 if quartz else 0
    numbers: set[int] = set()
    last: set[int] = set()
    nth: set[tuple[int, int]] = set()
    for item in part.split(","):
        ordinal = re.fullmatch(r"([A-Z0-9]{1,3})#([1-5])", item)
        final = re.fullmatch(r"([A-Z0-9]{1,3})L", item)
        if ordinal:
            nth.add(((_number(ordinal[1], kind, text) - sunday) % 7, int(ordinal[2])))
        elif final:
            last.add((_number(final[1], kind, text) - sunday) % 7)
        elif item == "L" and quartz:
            numbers.add(6)  # Quartz: L alone is the week's last day, Saturday
        else:
            numbers |= {(day - sunday) % 7 for day in _item(item, kind, text)}
    return _WeekDays(frozenset(numbers), frozenset(last), frozenset(nth))


def _nearest_workday(year: int, month: int, day: int) -> int:
    """The weekday nearest to a day, in the same month: `1W` on a Saturday is Monday the 3rd."""
    last = calendar.monthrange(year, month)[1]
    weekday = calendar.weekday(year, month, day)
    if weekday == 5:
        return day - 1 if day > 1 else day + 2
    if weekday == 6:
        return day + 1 if day < last else day - 2
    return day
