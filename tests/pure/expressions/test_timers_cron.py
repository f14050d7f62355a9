"""Cron: the fields of each dialect, the day forms, and the two days a year on which clocks change."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from bpm.expressions.timers import TimerFault, check, first, following

BERLIN = "Europe/Berlin"


def fires(text, since, count, zone="UTC", quartz=True):
    now = datetime.fromisoformat(since).replace(tzinfo=ZoneInfo(zone))

    def run():
        schedule = first("cycle", text, now, zone=zone, quartz=quartz)
        while schedule is not None:
            yield schedule.fire_at.astimezone(ZoneInfo(zone)).isoformat(timespec="seconds")
            schedule = following(schedule)

    return list(islice(run(), count))


def days(text, since, count, quartz=True):
    return [moment[:10] for moment in fires(text, since, count, quartz=quartz)]


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("0 0/5 * * * ?", ["10:05:00", "10:10:00", "10:15:00"]),
        ("0/2 * * * * ?", ["10:03:06", "10:03:08", "10:03:10"]),
        ("*/20 * * * * ?", ["10:03:20", "10:03:40", "10:04:00"]),
        ("10-40/15 * * ? * *", ["10:03:10", "10:03:25", "10:03:40"]),
        ("5,1 0 11 ? * *", ["11:00:01", "11:00:05", "11:00:01"]),
        ("0 0 22-2 * * ?", ["22:00:00", "23:00:00", "00:00:00"]),
        ("* * * * *", ["10:04:00", "10:05:00", "10:06:00"]),
        ("@hourly", ["11:00:00", "12:00:00", "13:00:00"]),
        ("@daily", ["00:00:00", "00:00:00", "00:00:00"]),
    ],
)
def test_clock_fields(text, clock):
    assert [moment[11:19] for moment in fires(text, "2026-01-31T10:03:05", 3)] == clock


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0 0 12 15W * ?", ["2026-01-15", "2026-02-16", "2026-03-16", "2026-04-15", "2026-05-15"]),
        ("0 0 12 1W * ?", ["2026-01-01", "2026-02-02", "2026-03-02", "2026-04-01", "2026-05-01"]),
        ("0 0 12 31W * ?", ["2026-01-30", "2026-03-31", "2026-05-29"]),
        ("0 0 12 L * ?", ["2026-01-31", "2026-02-28", "2026-03-31"]),
        ("0 0 12 L-3 * ?", ["2026-01-28", "2026-02-25", "2026-03-28"]),
        ("0 0 12 LW * ?", ["2026-01-30", "2026-02-27", "2026-03-31"]),
        ("0 0 12 L-3W * ?", ["2026-01-28", "2026-02-25", "2026-03-27"]),
        ("0 0 12 1,L * ?", ["2026-01-01", "2026-01-31", "2026-02-01"]),
        ("0 0 12 ? * 6L", ["2026-01-30", "2026-02-27", "2026-03-27"]),
        ("0 0 12 ? * FRIL", ["2026-01-30", "2026-02-27", "2026-03-27"]),
        ("0 0 12 ? * 6#3", ["2026-01-16", "2026-02-20", "2026-03-20"]),
        ("0 0 12 ? * FRI#5", ["2026-01-30", "2026-05-29"]),
        ("0 0 12 ? * MON#1,FRI#1", ["2026-01-02", "2026-01-05", "2026-02-02", "2026-02-06"]),
        ("0 0 12 ? * L", ["2026-01-03", "2026-01-10"]),
        ("0 0 12 ? * 1", ["2026-01-04", "2026-01-11"]),  # Quartz: Sunday
        ("0 0 12 ? * MON-FRI", ["2026-01-01", "2026-01-02", "2026-01-05"]),
        ("0 0 12 ? * FRI-MON", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05", "2026-01-09"]),
        ("0 0 12 ? * 2/2", ["2026-01-02", "2026-01-05", "2026-01-07"]),
        ("0 0 12 29 2 ?", ["2028-02-29", "2032-02-29"]),
        ("0 0 12 1 JAN,jul ? 2027-2028", ["2027-01-01", "2027-07-01", "2028-01-01", "2028-07-01"]),
        ("0 0 12 1 1 ? 2020", []),
        ("0 0 12 * * *", ["2026-01-01", "2026-01-02"]),
        ("0 12 13 * 5", ["2026-01-02", "2026-01-09", "2026-01-13", "2026-01-16"]),  # Unix: either day
    ],
)
def test_days(text, found):
    assert days(text, "2026-01-01T00:00", len(found) or 1) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0 0 12 ? * 1", ["2026-01-05"]),  # Spring: Monday
        ("0 0 12 * * 0", ["2026-01-04"]),
        ("0 0 12 * * 7", ["2026-01-04"]),
        ("0 0 12 * * FRI-SUN", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-09"]),
        ("0 0 12 13 * FRI", ["2026-02-13", "2026-03-13", "2026-11-13"]),  # both must hold
        ("0 0 12 * * 5L", ["2026-01-30"]),
        ("@weekly", ["2026-01-04", "2026-01-11"]),
    ],
)
def test_days_in_the_dialect_of_camunda_8(text, found):
    assert days(text, "2026-01-01T00:00", len(found), quartz=False) == found


@pytest.mark.parametrize(
    "text",
    [
        *["", "*", "* * * *", "* * * * * * * *", "@fortnightly", "60 * * * * ?", "* 60 * * * ?", "* * 24 * * ?"],
        *[
            "* * * 0 * ?",
            "* * * 32 * ?",
            "* * * * 13 ?",
            "* * * ? * 8",
            "* * * ? * 0",
            "* * * * FOO ?",
            "* * * ? * XYZ",
        ],
        *["0/0 * * * * ?", "0/x * * * * ?", "0/-1 * * * * ?", "/5 * * * * ?", "1- * * * * ?", "1,,2 * * * * ?"],
        *["* * * L-31 * ?", "* * * 32W * ?", "* * * W * ?", "* * * ? * 6#6", "* * * ? * 6#0", "* * * ? * #1"],
        *["* * * 1 * 1", "* * * ? * ?", "? * * * * ?", "0 0 0 30 2 ?", "0 0 0 31 4,6 ?", "0 0 0 1 1 ? 1969"],
        *["0 0 0 1 1 ? 2030-2020", "٣ * * * * ?", "0 0 0 1 1 ? " + "1,2" * 99, "R3/0 0 * * * ?", "time is an illusion"],
    ],
)
def test_what_is_refused(text):
    with pytest.raises(TimerFault):
        check("cycle", text)


def test_a_given_hour_keeps_its_wall_clock():
    assert fires("0 30 2 * * ?", "2026-03-28T00:00", 3, BERLIN) == [
        "2026-03-28T02:30:00+01:00",
        "2026-03-29T03:30:00+02:00",  # 02:30 does not exist
        "2026-03-30T02:30:00+02:00",
    ]
    assert fires("0 30 2 * * ?", "2026-10-24T00:00", 3, BERLIN) == [
        "2026-10-24T02:30:00+02:00",
        "2026-10-25T02:30:00+02:00",  # the first of two
        "2026-10-26T02:30:00+01:00",
    ]
    assert fires("0 0 2,3 * * ?", "2026-03-28T12:00", 2, BERLIN) == [
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:00:00+02:00",
    ]


def test_every_hour_follows_time_itself():
    assert fires("0 0/30 * * * ?", "2026-03-29T01:10", 3, BERLIN) == [
        "2026-03-29T01:30:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-29T03:30:00+02:00",
    ]
    assert fires("0 0/30 * * * ?", "2026-10-25T02:10", 5, BERLIN) == [
        "2026-10-25T02:30:00+02:00",
        "2026-10-25T02:00:00+01:00",
        "2026-10-25T02:30:00+01:00",
        "2026-10-25T03:00:00+01:00",
        "2026-10-25T03:30:00+01:00",
    ]
    assert fires("0 0 * ? * MON", "2026-03-23T23:30", 1, BERLIN) == ["2026-03-30T00:00:00+02:00"]


@pytest.mark.parametrize("text", ["0 0/7 * * * ?", "0 15 1-4 * * ?", "0 0/20 2 * * ?", "30 59 23 L * ?"])
def test_moments_only_ever_grow(text):
    for zone in (BERLIN, "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia"):
        schedule = first("cycle", text, datetime(2011, 3, 26, tzinfo=UTC), zone=zone)
        for _ in range(400):
            later = following(schedule)
            assert later.fire_at > schedule.fire_at
            schedule = later
