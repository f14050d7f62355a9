"""Dates, times and durations of FEEL: years of nine digits, nanoseconds, and zones that keep their names.

Python's own `datetime` ends at the year 9999 and at microseconds and forgets the name of an offset; the
standard asks for more (DMN 1.5, 10.3.2.3 and the compatibility kit). So these are small frozen values over
integers: a date is its proleptic Gregorian fields, a moment is nanoseconds since 1970. Python's values enter by
`from_python`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date as python_date
from datetime import datetime, timedelta
from datetime import time as python_time
from functools import lru_cache
from zoneinfo import ZoneInfo

SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
LARGEST_YEAR = 999_999_999

type Zone = int | str | None
"""Seconds east of UTC, an IANA name, or none: a local time."""
type Temporal = Date | Time | DateTime | DaysDuration | MonthsDuration


class NotTemporal(ValueError):
    """A text or a set of numbers that is no date, time or duration."""


@dataclass(frozen=True, slots=True)
class Date:
    """A day of the proleptic Gregorian calendar."""

    year: int
    month: int
    day: int

    @property
    def ordinal(self) -> int:
        """Days since 1970-01-01."""
        return _ordinal(self.year, self.month, self.day)

    @property
    def weekday(self) -> int:
        """Monday is 1."""
        return (self.ordinal + 3) % 7 + 1

    def __str__(self) -> str:
        sign = "-" if self.year < 0 else ""
        return f"{sign}{abs(self.year):04d}-{self.month:02d}-{self.day:02d}"


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day, with its zone or without."""

    hour: int
    minute: int
    second: int
    nanosecond: int = 0
    zone: Zone = None

    @property
    def nanoseconds(self) -> int:
        """Since midnight, on its own clock."""
        return (self.hour * 3600 + self.minute * 60 + self.second) * SECOND + self.nanosecond

    @property
    def offset(self) -> int | None:
        """Seconds east of UTC. A named zone is taken as in January: a time alone has no day."""
        return None if self.zone is None else offset_of(self.zone, Date(2021, 1, 1), self.nanoseconds)

    @property
    def moment(self) -> int:
        """Nanoseconds since midnight UTC, or since its own midnight where it has no zone."""
        return self.nanoseconds - (self.offset or 0) * SECOND

    def __str__(self) -> str:
        text = f"{self.hour:02d}:{self.minute:02d}:{self.second:02d}"
        if self.nanosecond:
            text += f".{self.nanosecond:09d}".rstrip("0")
        return text + _zone_text(self.zone)


@dataclass(frozen=True, slots=True)
class DateTime:
    """A date and time; its zone is the time's."""

    date: Date
    time: Time

    @property
    def zone(self) -> Zone:
        return self.time.zone

    @property
    def offset(self) -> int | None:
        """Seconds east of UTC at this moment."""
        return None if self.zone is None else offset_of(self.zone, self.date, self.time.nanoseconds)

    @property
    def moment(self) -> int:
        """Nanoseconds since 1970 in UTC, or on its own clock where it has no zone."""
        return self.date.ordinal * DAY + self.time.nanoseconds - (self.offset or 0) * SECOND

    def __str__(self) -> str:
        return f"{self.date}T{self.time}"


@dataclass(frozen=True, slots=True, order=True)
class DaysDuration:
    """A days and time duration."""

    nanoseconds: int

    def __str__(self) -> str:
        if not self.nanoseconds:
            return "PT0S"
        size = abs(self.nanoseconds)
        days, clock = divmod(size, DAY)
        hours, minutes, seconds = clock // HOUR, clock // MINUTE % 60, clock // SECOND % 60
        fraction = f".{size % SECOND:09d}".rstrip("0") if size % SECOND else ""
        text = f"{days}D" if days else ""
        if clock:
            text += "T"
            text += f"{hours}H" if hours else ""
            text += f"{minutes}M" if minutes else ""
            text += f"{seconds}{fraction}S" if seconds or fraction else ""
        return f"{'-' if self.nanoseconds < 0 else ''}P{text}"


@dataclass(frozen=True, slots=True, order=True)
class MonthsDuration:
    """A years and months duration."""

    months: int

    def __str__(self) -> str:
        years, months = divmod(abs(self.months), 12)
        text = (f"{years}Y" if years else "") + (f"{months}M" if months or not years else "")
        return f"{'-' if self.months < 0 else ''}P{text}"


# -- making ----------------------------------------------------------------------------------------


def make_date(year: int, month: int, day: int) -> Date:
    """The date of these numbers; NotTemporal when there is none."""
    if not (abs(year) <= LARGEST_YEAR and 1 <= month <= 12 and 1 <= day <= _days_in(year, month)):
        raise NotTemporal(f"there is no date {year}-{month}-{day}")
    return Date(year, month, day)


def make_time(hour: int, minute: int, second: int, nanosecond: int = 0, zone: Zone = None) -> Time:
    """The time of these numbers; NotTemporal when there is none."""
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
        raise NotTemporal(f"there is no time {hour}:{minute}:{second}")
    if isinstance(zone, int) and abs(zone) > 18 * 3600:
        raise NotTemporal("an offset is at most 18 hours")
    return Time(hour, minute, second, nanosecond, zone)


def date_at(ordinal: int) -> Date:
    """The date so many days after 1970-01-01; NotTemporal beyond nine digits of years."""
    # days to civil, by Howard Hinnant: eras of 400 years that begin in March
    ordinal += 719_468
    era, day_of_era = divmod(ordinal, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    return make_date(year, month, day_of_year - (153 * shifted + 2) // 5 + 1)


def time_at(nanoseconds: int, zone: Zone = None) -> Time:
    """The time so long after midnight, on a clock that goes round."""
    seconds, nanosecond = divmod(nanoseconds % DAY, SECOND)
    return Time(seconds // 3600, seconds // 60 % 60, seconds % 60, nanosecond, zone)


def datetime_at(moment: int, zone: Zone) -> DateTime:
    """The date and time of a moment, on the clock of the zone."""
    zone_offset = _offset_at_moment(zone, moment) if isinstance(zone, str) else zone or 0
    days, clock = divmod(moment + zone_offset * SECOND, DAY)
    return DateTime(date_at(days), time_at(clock, zone))


def add_months(date: Date, months: int) -> Date:
    """The same day of another month, or its last day where it is shorter."""
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    if abs(year) > LARGEST_YEAR:
        raise NotTemporal("beyond the calendar")
    return Date(year, month + 1, min(date.day, _days_in(year, month + 1)))


def from_python(value: object) -> Temporal | None:
    """Python's date, time, datetime or timedelta as FEEL's; None for anything else."""
    if isinstance(value, datetime):
        clock = from_python_time(value.timetz(), value)
        return DateTime(Date(value.year, value.month, value.day), clock)
    if isinstance(value, python_date):
        return Date(value.year, value.month, value.day)
    if isinstance(value, python_time):
        return from_python_time(value, None)
    if isinstance(value, timedelta):
        return DaysDuration((value.days * 86_400 + value.seconds) * SECOND + value.microseconds * 1000)
    return None


def from_python_time(value: python_time, day: datetime | None) -> Time:
    """Python's time as FEEL's, its zone by name where it has one; day: the moment its offset is asked for."""
    zone: Zone = None
    if isinstance(value.tzinfo, ZoneInfo) and value.tzinfo.key:
        zone = value.tzinfo.key
    elif value.tzinfo is not None:
        offset = value.tzinfo.utcoffset(day)
        zone = None if offset is None else round(offset.total_seconds())
    return Time(value.hour, value.minute, value.second, value.microsecond * 1000, zone)


# -- reading ---------------------------------------------------------------------------------------

_DATE = re.compile(r"(-?)([0-9]{4}|[1-9][0-9]{4,8})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,30}))?"
    r"(Z|[+-][0-9]{2}:[0-9]{2}(?::[0-9]{2})?|@[A-Za-z0-9_+\-/]{1,64})?"
)
_DURATION = re.compile(
    r"(-?)P(?:(?=[0-9]+[YM])(?:([0-9]{1,18})Y)?(?:([0-9]{1,18})M)?"
    r"|(?:([0-9]{1,18})D)?(?:T(?=[0-9])(?:([0-9]{1,18})H)?(?:([0-9]{1,18})M)?(?:([0-9]{1,18})(?:\.([0-9]{0,30}))?S)?)?)"
)


def parse_date(text: str) -> Date:
    """`2024-02-29`; NotTemporal otherwise."""
    found = _DATE.fullmatch(text)
    if not found:
        raise NotTemporal(f"{text[:40]!r} is no date")
    year = int(found[2])
    return make_date(-year if found[1] else year, int(found[3]), int(found[4]))


def parse_time(text: str) -> Time:
    """`10:15:30.5`, with `Z`, `+02:00` or `@Europe/Paris`, perhaps after a `T`; NotTemporal otherwise."""
    found = _TIME.fullmatch(text.removeprefix("T"))
    if not found:
        raise NotTemporal(f"{text[:40]!r} is no time")
    nanosecond = int((found[4] or "0").ljust(9, "0")[:9])
    return make_time(
        int(found[1]), int(found[2]), int(found[3]), nanosecond, parse_zone(found[5]) if found[5] else None
    )


def parse_datetime(text: str) -> DateTime:
    """A date, `T` and a time; a date alone is its midnight; 24:00:00 is the next day's. NotTemporal otherwise."""
    day, _, clock = text.partition("T")
    date = parse_date(day)
    if not _:
        return DateTime(date, Time(0, 0, 0))
    if clock.startswith("24:00:00"):
        return DateTime(date_at(date.ordinal + 1), parse_time("00" + clock[2:]))
    if clock.startswith("T"):
        raise NotTemporal(f"{text[:40]!r} is no date and time")
    return DateTime(date, parse_time(clock))


def parse_duration(text: str) -> DaysDuration | MonthsDuration:
    """`P1Y2M` or `P3DT4H5M6.7S`, either with a minus; NotTemporal otherwise (the two do not mix)."""
    found = _DURATION.fullmatch(text)
    if not found or text[-1] in "PT":
        raise NotTemporal(f"{text[:40]!r} is no duration")
    sign = -1 if found[1] else 1
    years, months, days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:7])
    if found[2] or found[3]:
        return MonthsDuration(sign * (years * 12 + months))
    clock = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return DaysDuration(sign * (clock * SECOND + int((found[8] or "0").ljust(9, "0")[:9])))


def parse_temporal(text: str) -> Temporal:
    """Whatever an at-literal `@"..."` may hold; NotTemporal otherwise."""
    if text.lstrip("-").startswith("P"):
        return parse_duration(text)
    day = _DATE.match(text)
    if not day:
        return parse_time(text)
    return parse_date(text) if day.end() == len(text) else parse_datetime(text)


def parse_zone(text: str) -> Zone:
    """`Z`, `+02:00`, `@Europe/Paris`; NotTemporal when there is none such."""
    if text == "Z":
        return 0
    if text.startswith("@"):
        zone_info(text[1:])
        return text[1:]
    hours, minutes, seconds = (int(part) for part in (text[1:] + ":00").split(":")[:3])
    if minutes > 59 or seconds > 59:
        raise NotTemporal(f"{text!r} is no offset")
    size = hours * 3600 + minutes * 60 + seconds
    return -size if text[0] == "-" else size


# -- zones -----------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def zone_info(name: str) -> ZoneInfo:
    """The rules of a named zone; NotTemporal when there is none."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, malformed, or the name of a folder of zones
        raise NotTemporal(f"there is no time zone {name!r}") from None


def offset_of(zone: int | str, date: Date, nanoseconds: int) -> int:
    """Seconds east of UTC that hold in a zone on a date at a time of its own clock."""
    if isinstance(zone, int):
        return zone
    seconds = nanoseconds // SECOND
    local = datetime.fromisoformat(f"{_rules_year(date.year):04d}-{date.month:02d}-{date.day:02d}")
    offset = (local + timedelta(seconds=seconds)).replace(tzinfo=zone_info(zone)).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def _offset_at_moment(zone: str, moment: int) -> int:
    days, clock = divmod(moment, DAY)
    date = date_at(days)
    start = datetime.fromisoformat(f"{_rules_year(date.year):04d}-{date.month:02d}-{date.day:02d}T00:00+00:00")
    offset = (start + timedelta(seconds=clock // SECOND)).astimezone(zone_info(zone)).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def _rules_year(year: int) -> int:
    """A year with the same calendar that Python can look up: rules beyond 9999 repeat, before 1 they do not change."""
    return year if 2 <= year <= 9998 else year % 400 + (2000 if year > 9998 else 400)


def _zone_text(zone: Zone) -> str:
    if zone is None:
        return ""
    if isinstance(zone, str):
        return f"@{zone}"
    if zone == 0:
        return "Z"
    size = abs(zone)
    text = f"{'-' if zone < 0 else '+'}{size // 3600:02d}:{size // 60 % 60:02d}"
    return text + (f":{size % 60:02d}" if size % 60 else "")


def _ordinal(year: int, month: int, day: int) -> int:
    # days from civil, by Howard Hinnant
    year -= 1 if month <= 2 else 0
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def _days_in(year: int, month: int) -> int:
    return monthrange(year % 400 + 400, month)[1]
