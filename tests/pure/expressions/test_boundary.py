"""What leaves the languages (JSON, conditions) and what comes in from beans."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from bpm.expressions import EvaluationFault, LimitFault, SyntaxFault, compile_text, to_json, truth
from bpm.expressions.boundary import from_host
from bpm.expressions.limits import bounded


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("=1 + 0.5", Decimal("1.5")),
        ('=[1, null, true, {a: "x"}]', [1, None, True, {"a": "x"}]),
        ('=date("2024-02-29")', {"$type": "date", "value": "2024-02-29"}),
        ('=time("10:00:00+02:00")', {"$type": "time", "value": "10:00:00+02:00"}),
        ('=date and time("2024-02-29T10:00:00Z")', {"$type": "dateTime", "value": "2024-02-29T10:00:00Z"}),
        (
            '=date and time("2024-02-29T10:00:00@Europe/Berlin")',
            {"$type": "dateTime", "value": "2024-02-29T10:00:00@Europe/Berlin"},
        ),
        ('=duration("P1Y2M")', {"$type": "duration", "value": "P1Y2M"}),
        ('=[duration("-P1DT2H")]', [{"$type": "duration", "value": "-P1DT2H"}]),
        ("${1 / 4}", Decimal("0.25")),
    ],
)
def test_values_become_json(text, value):
    assert to_json(compile_text(text).evaluate({})) == value


@pytest.mark.parametrize(
    "value", [1.5, Decimal("NaN"), Decimal("-Infinity"), Decimal("1e99999"), object(), {1: 2}, {"a": [1.5]}, len]
)
def test_what_is_no_value_is_refused(value):
    with pytest.raises(EvaluationFault):
        to_json(value)


def test_ranges_and_functions_are_no_json():
    for text in ("=[1..2]", "=function(a) a"):
        with pytest.raises(EvaluationFault):
            to_json(compile_text(text).evaluate({}))


@pytest.mark.parametrize(("value", "decided"), [(True, True), (False, False), ("true", True), ("False ", False)])
def test_a_condition_decides(value, decided):
    assert truth(value, "x") is decided


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "null"), (1, "1"), (0, "0"), ("yes", "'yes'"), ([], "[]"), ({}, "{}")]
)
def test_a_condition_that_decides_nothing_is_a_fault(value, shown):
    with pytest.raises(EvaluationFault) as caught:
        truth(value, "${x}")
    assert caught.value.text == "${x}"
    assert shown in caught.value.message


def test_what_beans_return_becomes_values():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert from_host({"a": (0.1, [now])}) == {"a": [Decimal("0.1"), [now]]}
    for value in (float("nan"), object(), {1: 2}, b"x", {1, 2}):
        with pytest.raises(EvaluationFault):
            from_host(value)


def test_numbers_from_outside_are_bounded():
    assert bounded(5) == 5
    assert bounded(10**40) == Decimal("1E+40")
    assert bounded(Decimal("0." + "1" * 50)) == Decimal("0." + "1" * 34)
    for value in (Decimal("1e9999"), 10**7000, Decimal("NaN")):
        with pytest.raises(LimitFault):
            bounded(value)


def test_faults_travel_between_processes():
    fault = SyntaxFault("wrong", "a b", 2, "an operator")
    again = pickle.loads(pickle.dumps(fault))  # noqa: S301
    assert (str(again), again.position) == (str(fault), 2) == ("wrong, expected an operator at position 2 in 'a b'", 2)
