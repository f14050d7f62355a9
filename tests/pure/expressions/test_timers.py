"""Timers: what each text means, table by table."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest

from bpm.expressions.errors import ExpressionError
from bpm.expressions.feel_time import parse_datetime, parse_duration
from bpm.expressions.timers import Schedule, TimerFault, check, first, following

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def moments(kind, text, count, now=NOW, **options):
    """The first `count` moments of a timer, each schedule stored and read back in between."""

    def run():
        schedule = first(kind, text, now, **options)
        while schedule is not None:
            yield schedule.fire_at
            schedule = following(Schedule.from_json(schedule.to_json()))

    return list(islice(run(), count))


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("PT10S", "2026-01-31T12:00:10Z"),
        ("PT0S", "2026-01-31T12:00:00Z"),
        ("PT0.25S", "2026-01-31T12:00:00.250Z"),
        ("PT1,5S", "2026-01-31T12:00:01.500Z"),
        ("P1M", "2026-02-28T12:00:00Z"),
        ("P1Y1M", "2027-02-28T12:00:00Z"),
        ("P2W", "2026-02-14T12:00:00Z"),
        ("P2DT4H", "2026-02-02T16:00:00Z"),
        ("+PT1H", "2026-01-31T13:00:00Z"),
        ("-PT5M", "2026-01-31T11:55:00Z"),
        (" PT99H ", "2026-02-04T15:00:00Z"),
        (timedelta(hours=1, microseconds=5), "2026-01-31T13:00:00.000005Z"),
        (timedelta(seconds=-1), "2026-01-31T11:59:59Z"),
        (parse_duration("P1DT0.5S"), "2026-02-01T12:00:00.5Z"),
        (parse_duration("P1M"), "2026-02-28T12:00:00Z"),
    ],
)
def test_durations(text, due):
    assert moments("duration", text, 5) == [at(due)]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2030-01-31", "2030-01-30T23:00Z"),
        ("2030-07-31T12:00", "2030-07-31T10:00Z"),
        ("2030-01-31T12:00:00Z", "2030-01-31T12:00Z"),
        ("2030-01-31T12:00:00.5+02:00", "2030-01-31T10:00:00.5Z"),
        ("2030-01-31T12:00:00-0130", "2030-01-31T13:30Z"),
        ("2030-01-31T12:00:00[America/New_York]", "2030-01-31T17:00Z"),
        ("2030-01-31T12:00:00+01:00[Europe/Berlin]", "2030-01-31T11:00Z"),
        ("2026-03-29T02:30", "2026-03-29T01:30Z"),  # jumped over: 03:30 summer time
        ("2026-10-25T02:30", "2026-10-25T00:30Z"),  # comes twice: the first
        ("2026-10-25T02:30+01:00[Europe/Berlin]", "2026-10-25T01:30Z"),  # the offset says the second
        ("2001-01-01", "2000-12-31T23:00Z"),  # past: due at once
        ("PT10M", "2026-01-31T12:10Z"),  # Camunda 7 takes a duration for a date
        (date(2030, 1, 31), "2030-01-30T23:00Z"),
        (datetime.fromisoformat("2030-01-31T12:00"), "2030-01-31T11:00Z"),
        (datetime(2030, 1, 31, 12, tzinfo=UTC), "2030-01-31T12:00Z"),
        ("2030-01-31T12:00:00@America/New_York", "2030-01-31T17:00Z"),
        (parse_datetime("2030-01-31T12:00:00@America/New_York"), "2030-01-31T17:00Z"),
    ],
)
def test_dates(text, due):
    assert moments("date", text, 5, zone=BERLIN) == [at(due)]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("R3/PT10S", ["2026-01-31T12:00:10Z", "2026-01-31T12:00:20Z", "2026-01-31T12:00:30Z"]),
        ("R1/P5D", ["2026-02-05T12:00Z"]),
        ("R0/PT10S", []),
        ("R3/P1M", ["2026-02-28T12:00Z", "2026-03-31T12:00Z", "2026-04-30T12:00Z"]),
        ("R3/2026-03-31T00:00Z/P1M", ["2026-03-31T00:00Z", "2026-04-30T00:00Z", "2026-05-31T00:00Z"]),
        ("R3/2026-01-31T11:30Z/PT1H", ["2026-01-31T12:30Z", "2026-01-31T13:30Z"]),  # one had passed
        ("R3/2026-01-31T10:00Z/PT1H", ["2026-01-31T12:00Z"]),
        ("R3/2026-01-31T09:00Z/PT1H", []),
        ("R3/PT1H/2026-01-31T20:00Z", ["2026-01-31T18:00Z", "2026-01-31T19:00Z", "2026-01-31T20:00Z"]),
        ("R3/PT1H/2026-01-31T13:30Z", ["2026-01-31T12:30Z", "2026-01-31T13:30Z"]),
        ("R/PT1H/2026-01-31T13:30Z", ["2026-01-31T12:30Z", "2026-01-31T13:30Z"]),
        ("R3/PT1H/2026-01-31T11:00Z", []),
        ("R2/2026-02-01T00:00Z/2026-02-01T06:00Z", ["2026-02-01T00:00Z", "2026-02-01T06:00Z"]),
    ],
)
def test_finite_cycles(text, due):
    assert moments("cycle", text, 9) == [at(moment) for moment in due]


@pytest.mark.parametrize("text", ["R/PT1H", "R-1/PT1H", "R/2026-01-31T13:00Z/PT1H", "R/2020-01-01T00:00Z/PT1H"])
def test_endless_cycles(text):
    schedule = first("cycle", text, NOW + timedelta(seconds=1))
    assert schedule and schedule.remaining is None
    assert moments("cycle", text, 500, now=NOW)[-1] in {NOW + timedelta(hours=500), NOW + timedelta(hours=499)}


def test_a_month_does_not_drift():
    due = moments("cycle", "R/2026-01-31T00:00:00[Europe/Berlin]/P1M", 4, now=at("2026-01-01T00:00Z"))
    assert due == [
        at(f"2026-{day}")
        for day in ("01-31T00:00+01:00", "02-28T00:00+01:00", "03-31T00:00+02:00", "04-30T00:00+02:00")
    ]


def test_a_day_is_a_day_of_the_calendar_and_24_hours_are_24_hours():
    eve = at("2026-03-28T12:00+01:00")
    assert moments("duration", "P1D", 1, now=eve, zone=BERLIN) == [at("2026-03-29T12:00+02:00")]
    assert moments("duration", "PT24H", 1, now=eve, zone=BERLIN) == [at("2026-03-29T13:00+02:00")]


def test_following_skips_what_lies_before_now():
    schedule = first("cycle", "R5/PT1H", NOW)
    late = following(schedule, NOW + timedelta(hours=3, minutes=30))
    assert (late.fire_at, late.index, late.remaining) == (NOW + timedelta(hours=4), 3, 1)
    assert following(schedule, NOW + timedelta(hours=9)) is None
    assert following(schedule).fire_at == NOW + timedelta(hours=2)


def test_a_schedule_counts():
    schedule = first("cycle", "R3/PT1H", NOW)
    seen = []
    while schedule:
        seen.append((schedule.index, schedule.remaining, schedule.anchor))
        schedule = following(schedule)
    assert seen == [(0, 2, NOW), (1, 1, NOW), (2, 0, NOW)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *[("duration", text) for text in ("", "P", "PT", "P1DT", "PT1", "10S", "P1Y1W", "PT0.5H", "P1.5D", "R3/PT1S")],
        *[("duration", text) for text in ("INVALID", "P101Y", "P36601D", "PT9999999999S", "PT1e9S", "P٣D")],
        *[("duration", "0 0 12 * * ?"), ("duration", "time is just an illusion")],
        *[("date", text) for text in ("", "2030-02-30", "2030-1-1", "20300101", "2030-01-01T25:00", "tomorrow")],
        *[("date", text) for text in ("2030-01-01[Europe/Nowhere]", "2030-01-01[Europe]", "2030-01-01[../x]")],
        *[("date", "2030-01-01T00:00+99:00"), ("date", "2030-01-01T12:00Z[Nowhere]")],
        *[("cycle", text) for text in ("", "R", "R/", "R3", "R-2/PT1S", "Rx/PT1S", "R3/PT0S", "R3/-PT1S", "PT10S")],
        *[("cycle", text) for text in ("R3/2030-01-01", "R3/2030-01-02/2030-01-01", "R3/PT1S/PT1S", "R/P/2030-01-01")],
        *[("cycle", "R3/PT1S/2030-01-01/x"), ("cycle", "R99999999999/PT1S")],
    ],
)
def test_what_is_refused(kind, text):
    with pytest.raises(TimerFault) as caught:
        check(kind, text)
    assert isinstance(caught.value, ExpressionError)
    assert text in str(caught.value)


def test_too_far_ahead_is_refused():
    with pytest.raises(TimerFault, match="100 years"):
        first("date", "2999-01-01", NOW)
    with pytest.raises(TimerFault, match="calendar"):
        first("duration", "P100Y", datetime(9950, 1, 1, tzinfo=UTC))


def test_what_no_timer_is():
    with pytest.raises(TimerFault, match="needs a text"):
        first("duration", 5, NOW)


def test_a_schedule_is_json_and_back():
    for kind, text in [("date", "2030-01-01"), ("duration", "PT1S"), ("cycle", "R3/PT1S"), ("cycle", "0 0 12 * * ?")]:
        schedule = first(kind, text, NOW, zone=BERLIN, quartz=True)
        assert Schedule.from_json(schedule.to_json()) == schedule
