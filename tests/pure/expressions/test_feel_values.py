"""FEEL's values: numbers, dates, durations, their text and their parts, and how the program's values enter."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from bpm.expressions import LimitFault
from bpm.expressions.feel_time import (
    Date,
    DateTime,
    DaysDuration,
    MonthsDuration,
    NotTemporal,
    Time,
    date_at,
    datetime_at,
    from_python,
    parse_temporal,
)
from bpm.expressions.feel_values import FeelRange, intake, measure
from bpm.expressions.limits import Budget
from tests.pure.expressions.feel import text, value


@pytest.mark.parametrize(
    "written",
    [
        *["2024-02-29", "-0044-03-15", "0000-01-01", "999999999-12-31", "-999999999-01-01", "12345-06-07"],
        *["10:15:30", "10:15:30.5", "10:15:30.123456789", "00:00:00Z", "10:15:30+02:00", "10:15:30-01:30:15"],
        *["10:15:30@Europe/Paris", "10:15:30@America/Toronto", "2024-02-29T00:00:00", "2024-02-29T23:59:59.1Z"],
        *["2024-02-29T10:00:00@Europe/Berlin", "P1Y", "P1Y2M", "-P3M", "P0M", "PT0S", "P1DT2H3M4.5S", "-PT1M"],
    ],
)
def test_text_and_back(written):
    assert str(parse_temporal(written)) == written


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("P13M", "P1Y1M"),
        ("PT25H", "P1DT1H"),
        ("PT3600S", "PT1H"),
        ("PT0.000000001S", "PT0.000000001S"),
        ("P0Y", "P0M"),
        ("2024-02-29T24:00:00", "2024-03-01T00:00:00"),
        ("10:15:30+00:00", "10:15:30Z"),
        ("T10:15:30", "10:15:30"),
    ],
)
def test_text_is_canonical(written, canonical):
    assert str(parse_temporal(written)) == canonical


@pytest.mark.parametrize(
    "written",
    [
        *["", "x", "2023-02-29", "2024-13-01", "2024-1-1", "01234-01-01", "1000000000-01-01", "20240101"],
        *["24:00:00", "10:15", "10:60:00", "10:15:30+19:00", "10:15:30@Nowhere", "10:15:30@Europe", "10:15:30 Z"],
        *["2024-01-01T", "2024-01-01TT10:00:00", "2024-01-01 10:00:00", "2024-01-01T25:00:00"],
        *["P", "PT", "P1DT", "P1Y1D", "P1W", "P1.5D", "PT.5S", "1D", "P1YT", "P-1D", "P1Y2H", "P٣D"],
    ],
)
def test_what_is_no_temporal_value(written):
    with pytest.raises(NotTemporal):
        parse_temporal(written)


def test_days_are_counted_as_python_counts_them():
    for ordinal in (-719_162, -1, 0, 59, 60, 11_016, 19_782, 2_932_896):
        known = date(1970, 1, 1) + timedelta(days=ordinal)
        assert date_at(ordinal) == Date(known.year, known.month, known.day)
        assert date_at(ordinal).ordinal == ordinal
        assert date_at(ordinal).weekday == known.isoweekday()


@pytest.mark.parametrize(
    ("moment", "local"),
    [
        ("2026-03-29T00:59:59Z", "2026-03-29T01:59:59@Europe/Berlin"),
        ("2026-03-29T01:00:00Z", "2026-03-29T03:00:00@Europe/Berlin"),
        ("20260-07-29T00:00:00Z", "20260-07-29T02:00:00@Europe/Berlin"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:53:28@Europe/Berlin"),
    ],
)
def test_zones(moment, local):
    known = parse_temporal(moment)
    assert str(datetime_at(known.moment, "Europe/Berlin")) == local
    assert parse_temporal(local).moment == known.moment


@pytest.mark.parametrize(
    ("python", "feel"),
    [
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 10, 0, 0, 5, tzinfo=UTC), "2024-02-29T10:00:00.000005Z"),
        (datetime(2024, 7, 1, 10, tzinfo=ZoneInfo("Europe/Paris")), "2024-07-01T10:00:00@Europe/Paris"),
        (datetime.fromisoformat("2024-07-01T10:00:00+02:00"), "2024-07-01T10:00:00+02:00"),
        (datetime.fromisoformat("2024-07-01T10:00:00"), "2024-07-01T10:00:00"),
        (time(10, 0, tzinfo=timezone(timedelta(hours=-1))), "10:00:00-01:00"),
        (timedelta(days=-1, hours=1), "-PT23H"),
    ],
)
def test_python_values(python, feel):
    assert str(from_python(python)) == feel
    assert text("x", {"x": python}) == feel


def test_intake():
    assert intake({"a": (1, 2.5), "b": [float("nan"), object()], 3: True}) == {
        "a": [1, Decimal("2.5")],
        "b": [None, None],
        "3": True,
    }
    assert value("x + 1", {"x": 0.1}) == Decimal("1.1")
    assert value("x", {"x": object()}) is None


@pytest.mark.parametrize(
    ("source", "written"),
    [
        *[("null", "null"), ("true", "true"), ('"a\\"b"', '"a\\"b"'), ("1.50", "1.5"), ("-0", "0"), ("1E3", "1000")],
        *[("1E-9", "0.000000001"), ("[1, [2, null]]", "[1, [2, null]]"), ('{a: 1, "b c": "x"}', '{a: 1, b c: "x"}')],
        *[("{}", "{}"), ("[]", "[]"), ("[1..2)", "[1..2)"), ("(< 5)", "(null..5)"), ("function(a) a", "function")],
        *[('string({d: @"2024-01-01"})', '"{d: 2024-01-01}"'), ("string(1.0)", '"1"'), ("string(null)", "null")],
        *[("{a: function(x) x}", "{a: function}"), ("sum", "function")],
    ],
)
def test_text(source, written):
    assert text(source) == written


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ('@"2024-02-29"', {"year": 2024, "month": 2, "day": 29, "weekday": 4, "hour": 0}),
        (
            '@"2024-02-29T10:11:12.5@Europe/Paris"',
            {
                "hour": 10,
                "minute": 11,
                "second": 12,
                "timezone": "Europe/Paris",
                "time offset": DaysDuration(3600 * 10**9),
            },
        ),
        ('@"10:11:12+02:00"', {"hour": 10, "timezone": None, "time offset": DaysDuration(7200 * 10**9)}),
        ('@"10:11:12"', {"time offset": None}),
        ('@"P2Y3M"', {"years": 2, "months": 3, "days": None}),
        ('@"-P1Y1M"', {"years": -1, "months": -1}),
        ('@"P1DT2H3M4.5S"', {"days": 1, "hours": 2, "minutes": 3, "seconds": Decimal("4.5"), "years": None}),
        ('@"-PT25H"', {"days": -1, "hours": -1}),
        ("[1..3)", {"start": 1, "end": 3, "start included": True, "end included": False}),
        ("{a: 5}", {"a": 5, "b": None}),
        ("[{a: 1}, {a: 2}]", {"a": [1, 2]}),
        ("null", {"a": None}),
        ("5", {"year": None}),
    ],
)
def test_properties(source, parts):
    for name, part in parts.items():
        assert value(f"({source}).{name}") == part, name


def test_python_equality_of_values():
    assert parse_temporal("P1M") == MonthsDuration(1)
    assert parse_temporal("2024-01-01T10:00:00Z") == DateTime(Date(2024, 1, 1), Time(10, 0, 0, 0, 0))
    assert FeelRange(1, 2, True, True) != FeelRange(1, 2, True, False)


def test_a_result_is_measured():
    nested = [1]
    for _ in range(300):
        nested = [nested]
    with pytest.raises(LimitFault):
        measure(nested, Budget())
    with pytest.raises(LimitFault):
        measure([[0] * 1000] * 101, Budget())
