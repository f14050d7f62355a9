"""What JSON has no form for: written as JSON, read by FEEL, JUEL and Python as the same value again."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpm.expressions import compile_text, to_json, typed
from bpm.expressions.feel_time import Date, DaysDuration, MonthsDuration, parse_temporal
from bpm.sdk import typed as sdk

PARIS = ZoneInfo("Europe/Paris")
# Python's value -> its JSON.
PAIRS = [
    (date(2024, 2, 29), {"$type": "date", "value": "2024-02-29"}),
    (time(10, 15), {"$type": "time", "value": "10:15:00"}),
    (time(10, 15, 0, 500_000, UTC), {"$type": "time", "value": "10:15:00.5Z"}),
    (datetime.fromisoformat("2024-02-29T10:15:00"), {"$type": "dateTime", "value": "2024-02-29T10:15:00"}),
    (datetime(2024, 2, 29, 10, 15, tzinfo=UTC), {"$type": "dateTime", "value": "2024-02-29T10:15:00Z"}),
    (datetime(2024, 2, 29, 10, tzinfo=PARIS), {"$type": "dateTime", "value": "2024-02-29T10:00:00@Europe/Paris"}),
    (
        datetime(2024, 2, 29, 10, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
        {"$type": "dateTime", "value": "2024-02-29T10:00:00-03:30"},
    ),
    (timedelta(days=1, hours=2), {"$type": "duration", "value": "P1DT2H"}),
    (-timedelta(seconds=1.5), {"$type": "duration", "value": "-PT1.5S"}),
]


@pytest.mark.parametrize(("value", "as_json"), PAIRS)
def test_pythons_values_come_back(value, as_json):
    assert typed.written(value) == as_json
    assert typed.canonical(as_json) == as_json
    assert typed.for_python(as_json) == value
    assert typed.text_of(as_json) == as_json["value"]


@given(st.datetimes(timezones=st.none() | st.timezones()) | st.dates() | st.timedeltas())
def test_any_value_of_python_comes_back(value):
    as_json = typed.written(value)
    again = typed.for_python(as_json)
    assert again == value and typed.written(again) == as_json


@pytest.mark.parametrize(
    "text",
    [
        *("-0044-03-15", "999999999-12-31", "2024-02-29T10:00:00.123456789@Europe/Berlin", "23:59:59@Europe/Paris"),
        *("P1Y2M", "-P3M", "PT0S", "P10DT1.000000001S"),
    ],
)
def test_feels_values_come_back(text):
    value = parse_temporal(text)
    as_json = to_json({"inside": [value]})
    assert typed.for_feel(as_json) == {"inside": [value]}
    # JUEL passes on what Python has no exact value for.
    assert to_json(typed.for_juel(as_json)) == as_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('=due < date("2026-12-01")', True),
        ('=due + duration("P1D")', {"$type": "date", "value": "2026-11-30"}),
        ("=due.weekday", 7),
        ("=order.placed.year", 2026),
        ("=order.lines[1].wait + wait", {"$type": "duration", "value": "PT3H"}),
        ("=string(due)", "2026-11-29"),
        ("=date and time(order.placed).hour", 12),
        ("=due", {"$type": "date", "value": "2026-11-29"}),
        ("=order.invoice.value.name", "a.pdf"),
        ("${due > '2026-11-28'}", True),
        ("${due.plusDays(1)}", {"$type": "date", "value": "2026-11-30"}),
        ("${order.placed.getTime()}", 1795953600000),
        ("on ${due}, in ${wait}", "on 2026-11-29, in PT1H"),
        ("${wait}", {"$type": "duration", "value": "PT1H"}),
    ],
)
def test_expressions_see_the_value(text, value):
    variables = {
        "due": {"$type": "date", "value": "2026-11-29"},
        "wait": {"$type": "duration", "value": "PT1H"},
        "order": {
            "placed": {"$type": "dateTime", "value": "2026-11-29T12:00:00Z"},
            "lines": [{"wait": {"$type": "duration", "value": "PT2H"}}],
            "invoice": typed.file_reference("a.pdf", "application/pdf", 3, "0" * 64),
        },
    }
    compiled = compile_text(text)
    read = typed.for_feel if compiled.language == "feel" else typed.for_juel
    assert to_json(compiled.evaluate({name: read(value) for name, value in variables.items()})) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${here < utc}", False),
        ("${here == utc}", True),
        ("${early < here}", True),
        ("${paris >= utc}", True),
        ("${early > utc}", False),
    ],
)
def test_juel_compares_times_with_and_without_a_zone(text, value):
    times = {"here": "10:00:00", "utc": "10:00:00Z", "early": "10:00:00+02:00", "paris": "10:00:00@Europe/Paris"}
    seen = {name: typed.for_juel({"$type": "time", "value": said}) for name, said in times.items()}
    assert compile_text(text).evaluate(seen) is value


def test_what_holds_nothing_typed_is_the_same_object():
    for value in (1, "x", None, {"a": [1, {"b": 2}]}, [], {"$type": "Some.Class, Its", "value": "1"}):
        assert typed.for_feel(value) is value


@pytest.mark.parametrize(
    "more",
    [
        {"$type": "date", "value": "x"},
        {"$type": "date", "value": 1},
        {"$type": "date"},
        {"$type": ["date"], "value": "2026-11-29"},
        {"$type": {"a": 1}, "value": "2026-11-29"},
    ],
)
def test_what_only_looks_typed_stays_as_it_is(more):
    assert typed.for_feel([more]) == [more]
    assert typed.for_python(more) == more


def test_one_text_for_one_value():
    assert typed.canonical({"$type": "dateTime", "value": "2024-01-01T24:00:00+00:00"}) == typed.written(
        datetime(2024, 1, 2, tzinfo=UTC)
    )
    assert typed.canonical({"$type": "duration", "value": "PT36H"})["value"] == str(DaysDuration(36 * 3600 * 10**9))
    assert typed.canonical({"$type": "duration", "value": "P14M"})["value"] == str(MonthsDuration(14))
    assert typed.canonical({"$type": "date", "value": "2024-02-29"})["value"] == str(Date(2024, 2, 29))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("date", bad) for bad in ("2024-02-30", "29.2.2024", "", 5, None, "2024-02-29T10:00:00", "9" * 1000)),
        *(("time", bad) for bad in ("25:00:00", "10", "10:00:00@No/Where")),
        *(("dateTime", bad) for bad in ("2024-02-29 10:00", "now")),
        *(("duration", bad) for bad in ("P1Y1D", "1h", "PT")),
    ],
)
def test_no_such_value(name, content):
    with pytest.raises(typed.Untyped, match=f"a {name} is a text such as"):
        typed.canonical({"$type": name, "value": content})


FILE = {"name": "a.pdf", "mediaType": "application/pdf", "size": 3, "sha256": "0" * 64}


@pytest.mark.parametrize(
    "more",
    [
        *(
            {"name": bad}
            for bad in ("", ".", " ..", "../a", "a\\b", "a\x00", "a\r\nX: y", "\u202efdp.exe", "a" * 256, 1)
        ),
        *({"mediaType": bad} for bad in ("", "pdf", "text/html; charset=x", "a/b\r\nc", "TEXT/HTML", "*/*", None)),
        *({"size": bad} for bad in (-1, 1.5, True, "3", 2**60)),
        *({"sha256": bad} for bad in ("", "0" * 63, "G" * 64, "0" * 65)),
        {"more": 1},
    ],
)
def test_no_such_file(more):
    with pytest.raises(typed.Untyped, match="file"):
        typed.canonical({"$type": "file", "value": FILE | more})
    assert typed.as_file({"$type": "file", "value": FILE | more}) is None


def test_files_are_seen_as_they_are():
    value = typed.file_reference("a.pdf", "application/pdf", 3, "0" * 64)
    assert typed.as_file(value) == FILE
    assert typed.for_feel(value) is value
    assert typed.text_of(value) is None


@given(st.datetimes(timezones=st.none() | st.timezones()) | st.dates() | st.timedeltas())
def test_the_worker_library_writes_and_reads_the_same_values(value):
    as_json = sdk.written(value)
    assert typed.canonical(as_json) == typed.written(value)
    assert sdk.read([typed.written(value)]) == [value]
    assert sdk.read(as_json) == value


def test_the_worker_library_leaves_the_rest_as_it_is():
    for value in (
        {"$type": "duration", "value": "P1M"},
        {"$type": "date", "value": 1},
        {"$type": [], "value": "x"},
        "x",
    ):
        assert sdk.read({"a": [value]}) == {"a": [value]}
    assert sdk.written("x") is None
