"""Timers: from the text of a `timeDate`, `timeDuration` or `timeCycle` to the moments it is due.

The engine asks `first` once, when a token reaches the timer or a definition is deployed, and stores the `Schedule`
(its moment is part of the event TIMER_SCHEDULED); `following` gives the next occurrence of a cycle from the stored
schedule alone. There is no clock here: now is an argument, and the same arguments give the same moments.

    date       2030-01-31, 2030-01-31T12:00:00+01:00, ...T12:00:00[Europe/Berlin]; a duration, counted from now
    duration   PT10S, P2DT4H, P1M, P2W, -PT5M (due at once)
    cycle      R3/PT10S               now + 10 s, + 20 s, + 30 s
               R/2030-01-01T00:00Z/PT1H   at the start, an hour later, and on
               R3/PT1H/2030-01-01     three times, an hour apart, the last at the end
               R3/start/end           the period is end - start
               0 0/5 * * * ?          cron (`cron.py` tells the dialects)

`R` and `R-1` are endless, `R0` never fires. Occurrences that lie before now are counted and skipped, as Camunda 7
does (DurationHelper.getDateAfterRepeat). The k-th occurrence is anchor + k * period, never a sum (`iso.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal

from bpm.expressions.feel_time import SECOND, DaysDuration, from_python
from bpm.expressions.feel_values import temporal_text
from bpm.expressions.timers.cron import parse_cron
from bpm.expressions.timers.iso import (
    LONGEST_YEARS,
    Period,
    TimerFault,
    fault,
    looks_like_duration,
    moment_of,
    parse_date,
    parse_duration,
    shift,
    zone_of,
)

__all__ = ["Kind", "Schedule", "TimerFault", "check", "first", "following"]

Kind = Literal["date", "duration", "cycle"]

_SLASH = re.compile(r"/(?![^\[]*\])")  # but not the one in [Europe/Berlin]
_ZONE = re.compile(r"\[([^\]]+)\]")
_REPEAT = re.compile(r"R(?P<count>-1|[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class Schedule:
    """One moment of a timer, with all that is needed to find the next.

    fire_at is in UTC. index counts the occurrences from 0, those that were skipped because they lay in the past
    included. anchor is what periods are counted from. remaining is how many occurrences follow, None for endless."""

    kind: Kind
    text: str
    fire_at: datetime
    index: int
    anchor: datetime
    remaining: int | None
    zone: str = "UTC"
    quartz: bool = True

    def to_json(self) -> dict[str, str | int | bool | None]:
        """The schedule as JSON values; `from_json` reads it back."""
        return {
            "kind": self.kind,
            "text": self.text,
            "fire_at": self.fire_at.isoformat(),
            "index": self.index,
            "anchor": self.anchor.isoformat(),
            "remaining": self.remaining,
            "zone": self.zone,
            "quartz": self.quartz,
        }

    @staticmethod
    def from_json(data: dict[str, str | int | bool | None]) -> Schedule:
        """The schedule that `to_json` wrote."""
        remaining = data["remaining"]
        return Schedule(
            kind=_kind(str(data["kind"])),
            text=str(data["text"]),
            fire_at=datetime.fromisoformat(str(data["fire_at"])),
            index=int(data["index"] or 0),
            anchor=datetime.fromisoformat(str(data["anchor"])),
            remaining=None if remaining is None else int(remaining),
            zone=str(data["zone"]),
            quartz=bool(data["quartz"]),
        )


@dataclass(frozen=True, slots=True)
class _Cycle:
    """`R[n]/...`, read: occurrences are anchor + (index + lead) * period, or counted back from an end."""

    count: int | None
    period: Period
    start: datetime | None
    end: datetime | None

    @property
    def lead(self) -> int:
        return 0 if self.start is not None else 1


def check(kind: Kind, text: str, *, quartz: bool = True) -> None:
    """Raise TimerFault when the text of a timer cannot be read, as at deployment."""
    text = text.strip()
    if kind == "duration":
        parse_duration(text)
    elif kind == "date":
        _ = parse_duration(text) if looks_like_duration(text) else parse_date(text)
    elif text.startswith("R"):
        _parse_cycle(text, "UTC")
    elif looks_like_duration(text):
        raise fault(text, f"a cycle says how often: R/{text} endlessly, R1/{text} once")
    else:
        parse_cron(text, quartz)


def first(kind: Kind, text: object, now: datetime, *, zone: str = "UTC", quartz: bool = True) -> Schedule | None:
    """The first occurrence of a timer that is set at `now` (aware); None when it never fires.

    text may be what an expression gave instead of a text: a date or duration, FEEL's or Python's. zone is the one meant
    by wall-clock times that name none, quartz the dialect of cron (Camunda 7; else Spring's, Camunda 8). TimerFault as
    `check`, and for moments more than 100 years ahead."""
    now = now.astimezone(UTC)
    text = _text_of(text, zone).strip()
    check(kind, text, quartz=quartz)
    found: Schedule | None
    if kind == "cycle":
        found = _first_of_cycle(text, now, zone, quartz)
    elif looks_like_duration(text):
        found = Schedule(kind, text, shift(now, parse_duration(text), zone_of(zone), text), 0, now, 0, zone, quartz)
    else:
        moment = parse_date(text, zone)
        found = Schedule(kind, text, moment, 0, moment, 0, zone, quartz)
    if found and found.fire_at.year > now.year + LONGEST_YEARS:
        raise fault(text, f"more than {LONGEST_YEARS} years ahead")
    return found


def following(schedule: Schedule, now: datetime | None = None) -> Schedule | None:
    """The occurrence after a schedule's; None when there is none.

    With `now`, occurrences that lie before it are counted and skipped; without, each one comes, however late."""
    if schedule.kind != "cycle" or schedule.remaining == 0:
        return None
    text, zone = schedule.text, zone_of(schedule.zone)
    if not text.startswith("R"):
        since = schedule.fire_at if now is None else max(schedule.fire_at, now.astimezone(UTC))
        moment = parse_cron(text, schedule.quartz).after(since, zone)
        return replace(schedule, fire_at=moment, index=schedule.index + 1) if moment else None
    cycle = _parse_cycle(text, schedule.zone)
    return _occurrence(schedule, cycle, schedule.index + 1, schedule.fire_at if now is None else now.astimezone(UTC))


def _first_of_cycle(text: str, now: datetime, zone: str, quartz: bool) -> Schedule | None:
    if not text.startswith("R"):
        moment = parse_cron(text, quartz).after(now, zone_of(zone))
        return Schedule("cycle", text, moment, 0, now, None, zone, quartz) if moment else None
    named = _ZONE.search(text)
    zone = named[1] if named else zone  # a start at midnight in Berlin repeats at midnight in Berlin
    cycle = _parse_cycle(text, zone)
    count = cycle.count
    if count == 0 or (cycle.end is not None and cycle.end < now):
        return None
    anchor = cycle.start or cycle.end or now
    if cycle.end is not None:
        # counted back from the end: how many periods fit between now and there
        fitting = _last_before(anchor, cycle.period.times(-1), now, zone) + 1
        count = fitting if count is None else min(count, fitting)
    blank = Schedule("cycle", text, anchor, -1, anchor, count, zone, quartz)
    return _occurrence(blank, cycle, 0, now)


def _occurrence(known: Schedule, cycle: _Cycle, index: int, since: datetime) -> Schedule | None:
    """The occurrence of that index, or the first later one that is not before `since`."""
    zone, text = zone_of(known.zone), known.text
    remaining = None if known.remaining is None else known.remaining - (index - known.index)
    if cycle.end is not None and remaining is not None:  # an end makes any cycle finite
        later = _last_before(known.anchor, cycle.period.times(-1), since, known.zone)
        skipped = max(0, remaining - later)
        moment = shift(known.anchor, cycle.period.times(skipped - remaining), zone, text)
    else:
        nearest = _last_before(known.anchor, cycle.period, since, known.zone)
        if shift(known.anchor, cycle.period.times(nearest), zone, text) < since:
            nearest += 1
        skipped = max(0, nearest - cycle.lead - index)
        moment = shift(known.anchor, cycle.period.times(index + skipped + cycle.lead), zone, text)
    if remaining is not None and remaining - skipped < 0:
        return None
    left = None if remaining is None else remaining - skipped
    return replace(known, fire_at=moment, index=index + skipped, remaining=left)


def _last_before(anchor: datetime, period: Period, limit: datetime, zone_name: str) -> int:
    """How many whole periods from the anchor stay on its side of the limit or meet it; 0 when the first does not.

    Guessed by the mean length and then walked: months differ, and so do days when clocks change."""
    zone = zone_of(zone_name)
    mean = timedelta(days=period.months * 30.436875 + period.days, microseconds=period.microseconds)
    distance = limit - anchor
    if (distance > timedelta()) != (mean > timedelta()) or not distance:
        return 0
    ahead = mean > timedelta()

    def beyond(count: int) -> bool:
        moment = shift(anchor, period.times(count), zone, "")
        return moment > limit if ahead else moment < limit

    count = max(0, int(distance / mean))
    while count > 0 and beyond(count):
        count -= 1
    while not beyond(count + 1):
        count += 1
    return count


@lru_cache(maxsize=512)
def _parse_cycle(text: str, zone: str) -> _Cycle:
    parts = _SLASH.split(text)
    repeat = _REPEAT.fullmatch(parts[0])
    if not repeat or not 2 <= len(parts) <= 3:
        raise fault(text, "not a repetition such as R3/PT10S, R/2030-01-01T00:00:00Z/PT1H or R3/PT1H/2030-01-01")
    count = None if repeat["count"] in {None, "-1"} else int(repeat["count"])
    try:
        start, period, end = _span(parts[1:], zone)
    except TimerFault as error:
        raise fault(text, error.message if error.text == text else f"{error.text!r} is {error.message}") from None
    if not period.is_positive:
        raise fault(text, "the period of a repetition must be longer than nothing")
    return _Cycle(count, period, start, end)


def _span(parts: list[str], zone: str) -> tuple[datetime | None, Period, datetime | None]:
    """Start, period and end of `duration`, `duration/end`, `start/duration` or `start/end`."""
    if looks_like_duration(parts[0]):
        return None, parse_duration(parts[0]), parse_date(parts[1], zone) if len(parts) == 2 else None
    start = parse_date(parts[0], zone)
    if len(parts) == 1:
        raise fault(parts[0], "a date, where a repetition needs a duration")
    if looks_like_duration(parts[1]):
        return start, parse_duration(parts[1]), None
    return start, Period(microseconds=(parse_date(parts[1], zone) - start) // timedelta(microseconds=1)), None


def _kind(name: str) -> Kind:
    kinds: dict[str, Kind] = {"date": "date", "duration": "duration", "cycle": "cycle"}
    return kinds[name]


def _text_of(value: object, zone: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, date):
        return moment_of(value, zone).isoformat()
    span = from_python(value) or value
    if isinstance(span, DaysDuration):  # exact time: FEEL's P1D is 24 hours
        seconds, rest = divmod(abs(span.nanoseconds), SECOND)
        return f"{'-' if span.nanoseconds < 0 else ''}PT{seconds}.{rest:09d}S"
    text = temporal_text(value)
    if text is None:
        raise fault(repr(value)[:80], "an expression gave this where a timer needs a text, a date or a duration")
    return text
