"""The door for variables: what comes in as JSON comes in exactly, and nothing else does."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from bpm.engine.errors import InvalidVariables
from bpm.engine.variables import checked, dumps, loads


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (1.5, Decimal("1.5")),
        (0.1, Decimal("0.1")),
        (2.0, Decimal("2.0")),
        (Decimal("49.90"), Decimal("49.90")),
        (Decimal("1E+3"), 1000),
        (Decimal("7"), 7),
        (Decimal("-0.00"), Decimal("0.00")),
        (True, True),
        (None, None),
        ((1, [2, {"a": 3}]), [1, [2, {"a": 3}]]),
        ("naïve 🜁", "naïve 🜁"),
        (date(2026, 11, 29), {"$type": "date", "value": "2026-11-29"}),
        (datetime(2026, 11, 29, tzinfo=UTC), {"$type": "dateTime", "value": "2026-11-29T00:00:00Z"}),
        (timedelta(minutes=90), {"$type": "duration", "value": "PT1H30M"}),
        ({"$type": "duration", "value": "PT90M"}, {"$type": "duration", "value": "PT1H30M"}),
        ({"$type": "Their.Type, Its", "value": 1.5}, {"$type": "Their.Type, Its", "value": Decimal("1.5")}),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ],
)
def test_values_are_kept_as_the_database_gives_them_back(given, kept):
    found = checked({"x": given})["x"]
    assert found == kept
    assert type(found) is type(kept)
    if isinstance(kept, Decimal):
        assert str(found) == str(kept)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"x": float("nan")}, "no JSON number"),
        ({"x": Decimal("Infinity")}, "no JSON number"),
        ({"x": "a\x00b"}, "NUL"),
        ({"a\x00": 1}, "NUL"),
        ({"x": {"a\x00": 1}}, "NUL"),
        ({"x": "\ud800"}, "surrogate"),
        ({"x": object()}, "no JSON value"),
        ({"x": {1: 2}}, "no text"),
        ({"x": b"bytes"}, "no JSON value"),
        ({"": 1}, "no name"),
        ({1: 1}, "no name"),
        ({"n" * 300: 1}, "no name"),
        ({"x": Decimal("1E+100000000")}, "beyond"),
        ({"x": Decimal("1E-100000000")}, "beyond"),
        ({"x": 1 << 200_000}, "beyond"),
        ([], "must be a map"),
        ({"x": [{"$type": "date", "value": "tomorrow"}]}, r"x\[0\]: 'tomorrow' is no date; a date is a text such as"),
        ({"x": {"$type": "file", "value": {"name": "../x"}}}, "x: a file is an object of name, mediaType"),
    ],
)
def test_what_is_no_json_is_refused_with_the_reason(wrong, why):
    with pytest.raises(InvalidVariables, match=why):
        checked(wrong)


def test_depth_is_bounded():
    deep: list = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(InvalidVariables, match="nested deeper"):
        checked({"x": deep})
    while deep:
        deep = deep.pop()


def test_size_is_bounded_by_a_setting(settings):
    settings.BPM_VARIABLES_LIMIT = 1000
    checked({"x": "a" * 900})
    with pytest.raises(InvalidVariables, match="larger than 1000") as refusal:
        checked({"x": "a" * 400, "y": ["b" * 400, "c" * 400]})
    assert refusal.value.code == "too_large"


def test_one_variable_can_have_a_limit_of_its_own(settings):
    settings.BPM_VARIABLE_LIMIT = 1000
    checked({"x": "a" * 900, "y": "b" * 900})
    with pytest.raises(InvalidVariables, match="variables: y is larger than 1000 bytes") as refusal:
        checked({"x": "a" * 900, "y": ["b" * 600, {"c": "d" * 600}]})
    assert refusal.value.code == "too_large"


def test_the_given_map_is_left_alone():
    given = {"x": [1.5]}
    checked(given)["x"].append(2)
    assert given == {"x": [1.5]}


def test_json_text_keeps_numbers_exact():
    text = '{"a":1.10,"b":123456789012345678901234567890.5,"c":[true,null,"é"]}'
    assert dumps(checked(loads(text))) == text


def test_keys_stand_in_the_order_of_the_database():
    assert list(checked({"bb": 1, "a": {"yy": 1, "z": 2}, "c": 3})) == ["a", "c", "bb"]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "{", "[" * 100_000, '{"x":-Infinity}'])
def test_what_is_no_json_text_is_refused(text):
    with pytest.raises(InvalidVariables, match="no JSON"):
        loads(text)
