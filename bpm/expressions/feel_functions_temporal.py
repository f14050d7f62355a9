"""Built-in functions that make and ask dates, times and durations (DMN 1.5, 10.3.4.1, 10.3.4.7 and 10.3.4.10)."""

from __future__ import annotations

from calendar import monthrange
from decimal import Decimal
from typing import Any

from bpm.expressions.errors import EvaluationFault
from bpm.expressions.feel_operators import at_midnight
from bpm.expressions.feel_signatures import Call, Declaration, Refused, whole_number
from bpm.expressions.feel_time import (
    SECOND,
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    Time,
    datetime_at,
    from_python,
    make_date,
    make_time,
    parse_date,
    parse_datetime,
    parse_duration,
    parse_time,
    parse_zone,
)
from bpm.expressions.feel_values import intake

type Number = int | Decimal

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


# -- making ----------------------------------------------------------------------------------------


def _date_from(call: Call, value: Date | DateTime) -> Date:
    return value.date if isinstance(value, DateTime) else value


def _date_of(call: Call, year: Number, month: Number, day: Number) -> Date:
    return make_date(whole_number(year), whole_number(month), whole_number(day))


def _time_from(call: Call, value: Date | Time | DateTime) -> Time:
    if isinstance(value, Time):
        return value
    return value.time if isinstance(value, DateTime) else at_midnight(value).time


def _time_of(call: Call, hour: Number, minute: Number, second: Number, offset: DaysDuration | None = None) -> Time:
    zone = None
    if offset is not None:
        zone, rest = divmod(offset.nanoseconds, SECOND)
        if rest:
            raise Refused("an offset is whole seconds")
    whole = whole_number(second)
    nanosecond = whole_number((Decimal(second) - whole) * SECOND)
    return make_time(whole_number(hour), whole_number(minute), whole, nanosecond, zone)


def _combined(call: Call, date: Date | DateTime, time: Time) -> DateTime:
    return DateTime(_date_from(call, date), time)


def _in_zone(call: Call, moment: Any, zone: str) -> DateTime:
    """Camunda's: the same moment on another zone's clock; a local one is said to be on that clock already."""
    name = parse_zone(zone if zone[:1] in ("Z", "+", "-") else f"@{zone}")
    value = parse_datetime(moment) if isinstance(moment, str) else moment
    if value.zone is None:
        time = value.time
        return DateTime(value.date, Time(time.hour, time.minute, time.second, time.nanosecond, name))
    return datetime_at(value.moment, name)


def _months_between(call: Call, start: Date | DateTime, end: Date | DateTime) -> MonthsDuration:
    """Whole months from one day to the other; the clock does not count (the compatibility kit, 1121)."""
    first, last, sign = _date_from(call, start), _date_from(call, end), 1
    if last.ordinal < first.ordinal:
        first, last, sign = last, first, -1
    count = (last.year - first.year) * 12 + last.month - first.month
    return MonthsDuration(sign * (count - 1 if last.day < first.day else count))


# -- asking ----------------------------------------------------------------------------------------


def _day_of_year(call: Call, value: Date | DateTime) -> int:
    date = _date_from(call, value)
    return date.ordinal - Date(date.year, 1, 1).ordinal + 1


def _day_of_week(call: Call, value: Date | DateTime) -> str:
    return _DAYS[_date_from(call, value).weekday - 1]


def _month_of_year(call: Call, value: Date | DateTime) -> str:
    return _MONTHS[_date_from(call, value).month - 1]


def _week_of_year(call: Call, value: Date | DateTime) -> int:
    """ISO 8601: the week of its Thursday."""
    date = _date_from(call, value)
    thursday = date.ordinal - date.weekday + 4
    for year in (date.year + 1, date.year, date.year - 1):
        first = Date(year, 1, 1).ordinal
        if thursday >= first:
            return (thursday - first) // 7 + 1
    raise Refused("no week")


def _last_day_of_month(call: Call, value: Date | DateTime) -> Date:
    date = _date_from(call, value)
    return Date(date.year, date.month, monthrange(date.year % 400 + 400, date.month)[1])


def _now(call: Call) -> DateTime:
    if call.host.now is None:
        raise EvaluationFault("there is no time here: now() and today() cannot be asked")
    moment = from_python(call.host.now())
    if not isinstance(moment, DateTime) or moment.zone is None:
        raise EvaluationFault("the time of the host has no zone")
    return datetime_at(moment.moment, 0 if call.host.zone == "UTC" else parse_zone(f"@{call.host.zone}"))


def _cycle(call: Call, repetitions: Number | None, interval: DaysDuration | MonthsDuration) -> str:
    return f"R{'' if repetitions is None else whole_number(repetitions)}/{interval}"


def _is(call: Call, left: object, right: object) -> bool:
    """The same value, its zone included: not two spellings of one moment."""
    return type(left) is type(right) and left == right


_DATED = "date|date and time"

DECLARATIONS: tuple[Declaration, ...] = (
    ("date", "from: string", lambda call, text: parse_date(text)),
    ("date", f"from: {_DATED}", _date_from),
    ("date", "year: number, month: number, day: number", _date_of),
    ("time", "from: string", lambda call, text: parse_time(text)),
    ("time", f"from: time|{_DATED}", _time_from),
    (
        "time",
        "hour: number, minute: number, second: number, offset: days and time duration~?",
        _time_of,
    ),
    ("date and time", "from: string", lambda call, text: parse_datetime(text)),
    ("date and time", f"from: {_DATED}", lambda call, value: at_midnight(value)),
    ("date and time", f"date: {_DATED}, time: time", _combined),
    ("date and time", "date: date and time|string, timezone: string", _in_zone),
    ("duration", "from: string", lambda call, text: parse_duration(text)),
    ("duration", "from: days and time duration|years and months duration", lambda call, value: value),
    ("years and months duration", f"from: {_DATED}, to: {_DATED}", _months_between),
    ("day of year", f"date: {_DATED}", _day_of_year),
    ("day of week", f"date: {_DATED}", _day_of_week),
    ("month of year", f"date: {_DATED}", _month_of_year),
    ("week of year", f"date: {_DATED}", _week_of_year),
    ("last day of month", f"date: {_DATED}", _last_day_of_month),
    ("now", "", _now),
    ("today", "", lambda call: _now(call).date),
    # Zeebe's, for timers
    ("cycle", "interval: days and time duration|years and months duration", lambda call, interval: f"R/{interval}"),
    ("cycle", "repetitions: number~, interval: days and time duration|years and months duration", _cycle),
    ("is", "value1: any, value2: any", lambda call, left, right: _is(call, intake(left), intake(right))),
)
