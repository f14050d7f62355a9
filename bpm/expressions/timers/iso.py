"""ISO 8601 as timers use it: durations, dates with an offset or a zone, and what a day means when clocks change.

A period counts its years, months and days on the wall clock of the zone (`P1D` from noon is noon, also on the day the
clocks change) and its hours, minutes and seconds exactly (`PT24H` is 24 hours). The k-th multiple is counted from the
anchor each time: adding up month by month would let `2026-01-31` plus `P1M` drift to the 28th for ever.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from bpm.expressions.errors import ExpressionError

LONGEST_YEARS = 100
_LONGEST_MONTHS = LONGEST_YEARS * 12
_LONGEST_MICROSECONDS = LONGEST_YEARS * 366 * 86_400 * 1_000_000

_DURATION = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<weeks>[0-9]{1,9})W"
    r"|(?:(?P<years>[0-9]{1,9})Y)?(?:(?P<months>[0-9]{1,9})M)?(?:(?P<days>[0-9]{1,9})D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]{1,9})H)?(?:(?P<minutes>[0-9]{1,9})M)?"
    r"(?:(?P<seconds>[0-9]{1,12})(?:[.,](?P<fraction>[0-9]{1,9}))?S)?)?)"
)
_DATE = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:T(?P<clock>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,](?P<fraction>[0-9]{1,9}))?"
    r"(?P<offset>Z|[+-][0-9]{2}(?::?[0-9]{2}(?::[0-9]{2})?)?)?)?"
    r"(?:[\[@](?P<zone>[A-Za-z0-9_+\-/]{1,64})\]?)?"  # FEEL writes @Europe/Berlin
)


class TimerFault(ExpressionError):
    """A timer's text that means no moment: what it is and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Period:
    """A duration as the calendar sees it: months and days move the wall clock, microseconds move time itself."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    @property
    def is_positive(self) -> bool:
        return self.months > 0 or self.days > 0 or self.microseconds > 0

    def times(self, count: int) -> Period:
        """This period `count` times, for a count of either sign."""
        return Period(self.months * count, self.days * count, self.microseconds * count)


def fault(text: str, problem: str) -> TimerFault:
    """The error that names a timer's text and what is wrong with it."""
    return TimerFault(problem, text)


def looks_like_duration(text: str) -> bool:
    """Whether a text can only be meant as a duration."""
    return text.lstrip("+-")[:1] == "P"


@lru_cache(maxsize=256)
def zone_of(name: str, text: str = "") -> tzinfo:
    """The time zone of a name such as `Europe/Berlin`, `UTC`, `Z` or `+02:00`; TimerFault when there is none."""
    if name in {"UTC", "Z"}:
        return UTC
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])([01][0-9]):?([0-5][0-9])", name)
    if offset:
        span = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-span if offset[1] == "-" else span)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, malformed, or the name of a folder of zones
        raise fault(text or name, f"there is no time zone {name!r}") from None


@lru_cache(maxsize=1024)
def parse_duration(text: str) -> Period:
    """`P1Y2M3DT4H5M6.7S`, `P2W`, each with an optional sign; TimerFault for anything else or more than 100 years."""
    found = _DURATION.fullmatch(text)
    if not found or text[-1] in "PT":
        raise fault(text, "not an ISO 8601 duration such as PT10S, P2DT4H, P1M or P2W")
    given = {name: int(value or 0) for name, value in found.groupdict().items() if name not in {"sign", "fraction"}}
    fraction = int((found["fraction"] or "").ljust(6, "0")[:6])
    seconds = given["hours"] * 3600 + given["minutes"] * 60 + given["seconds"]
    period = Period(
        months=given["years"] * 12 + given["months"],
        days=given["weeks"] * 7 + given["days"],
        microseconds=seconds * 1_000_000 + fraction,
    )
    if period.months > _LONGEST_MONTHS or period.days * 86_400_000_000 + period.microseconds > _LONGEST_MICROSECONDS:
        raise fault(text, f"longer than {LONGEST_YEARS} years")
    return period.times(-1) if found["sign"] == "-" else period


def parse_date(text: str, zone: str = "UTC") -> datetime:
    """A date, or a date and time with an optional offset and `[Zone]`, as an instant in UTC.

    Without offset and zone the wall clock of `zone` is meant, and a date alone means its midnight. TimerFault for
    anything that is no such moment."""
    found = _DATE.fullmatch(text)
    if not found:
        raise fault(text, "not an ISO 8601 date such as 2030-01-31T12:00:00Z")
    try:
        local = datetime.fromisoformat(f"{found['date']}T{found['clock'] or '00:00'}")
        fraction = int((found["fraction"] or "").ljust(6, "0")[:6])
        local = local.replace(microsecond=fraction)
        if found["offset"]:
            if found["zone"]:
                zone_of(found["zone"], text)
            return datetime.fromisoformat(local.isoformat() + found["offset"]).astimezone(UTC)
        return instant_of(local, zone_of(found["zone"] or zone, text))
    except TimerFault:
        raise
    except (ValueError, OverflowError) as error:
        raise fault(text, f"no such date: {error}") from None


def moment_of(value: date, zone: str = "UTC") -> datetime:
    """A date or datetime object as an instant in UTC; a naive one is the wall clock of `zone`."""
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if value.tzinfo is not None:
        return value.astimezone(UTC)
    return instant_of(value, zone_of(zone))


def instant_of(local: datetime, zone: tzinfo) -> datetime:
    """The instant of a naive wall-clock time: the earlier one when clocks are put back.

    A time that is jumped over when clocks are put forward is moved later by the length of the gap, as java.time and
    with it Camunda resolve it: PEP 495 reads fold 0 in a gap with the offset from before the jump."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def shift(moment: datetime, period: Period, zone: tzinfo, text: str) -> datetime:
    """An instant moved by a period: months and days on the wall clock of the zone (the 31st becomes the month's last
    day where it is shorter), the rest exactly. TimerFault beyond the years 1 to 9999."""
    try:
        if period.months or period.days:
            local = moment.astimezone(zone).replace(tzinfo=None)
            moment = instant_of(_add_months(local, period.months) + timedelta(days=period.days), zone)
        return moment + timedelta(microseconds=period.microseconds)
    except (ValueError, OverflowError):
        raise fault(text, "leads to a moment outside the calendar") from None


def _add_months(local: datetime, months: int) -> datetime:
    if not months:
        return local
    year, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    day = min(local.day, calendar.monthrange(year, month + 1)[1])
    return local.replace(year=year, month=month + 1, day=day)
