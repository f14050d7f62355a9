"""FEEL operators, three-valued: null where nothing can be said, never an exception, a warning that says why."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.pure.expressions.feel import explained, met, text, value

T, F, N = True, False, None


@pytest.mark.parametrize(
    ("source", "result"),
    [
        *[("1 = 1", T), ("1 = 1.0", T), ("1 = 2", F), ('1 = "1"', N), ("null = null", T), ("1 = null", F)],
        *[("1 != 2", T), ('1 != "1"', N), ("null != 1", T), ("true = 1", N), ("[1] = 1", T), ("1 = [1]", T)],
        *[("[1, 2] = [1, 2]", T), ("[1, 2] = [2, 1]", F), ("[1] = [1, 2]", F), ("{a: 1} = {a: 1}", T)],
        *[("{a: 1} = {b: 1}", F), ("{a: 1, b: 2} = {b: 2, a: 1}", T), ("[1..2] = [1..2]", T), ("[1..2] = [1..2)", F)],
        *[('@"P0M" = @"PT0S"', T), ('@"P1M" = @"P30D"', F), ('@"P1Y" = @"P12M"', T)],
        *[('@"10:00:00Z" = @"11:00:00+01:00"', T), ('@"10:00:00" = @"10:00:00Z"', F)],
        *[('@"2024-01-01T00:00:00@Europe/Berlin" = @"2023-12-31T23:00:00Z"', T)],
        *[('@"2024-01-01" = @"2024-01-01T00:00:00"', N), ("sum = sum", N)],
        *[("1 < 2", T), ("2 < 1", F), ('1 < "2"', N), ("null < 1", N), ('"a" < "b"', T), ("1 <= 1", T), ("1 >= 2", F)],
        *[
            ('@"2024-01-01" < @"2024-01-02"', T),
            ('@"-0001-12-31" < @"0001-01-01"', T),
            ('@"10:00:00" < @"10:00:00Z"', N),
        ],
        *[("true < false", N), ("[1] < [2]", N), ('@"P1Y" > @"P11M"', T), ('@"PT1H" >= @"PT60M"', T)],
        *[("2 between 1 and 3", T), ("0 between 1 and 3", F), ("2 between null and 3", N), ('2 between "a" and 3', N)],
        *[
            ("true and true", T),
            ("true and false", F),
            ("false and null", F),
            ("null and false", F),
            ("true and null", N),
        ],
        *[("true or null", T), ("null or true", T), ("false or null", N), ("false or false", F), ('true and "x"', N)],
        *[('false and "x"', F), ('"x" or true', T), ("not(true)", F), ("not(null)", N), ("not(1)", N)],
        *[("1 = 1 and 2 = 2", T), ("1 = 2 or 2 = 2 and 3 = 3", T), ("not(1 = 2)", T)],
    ],
)
def test_truth(source, result):
    assert value(source) is result


@pytest.mark.parametrize(
    ("source", "result"),
    [
        *[("1 + 2 * 3", "7"), ("(1 + 2) * 3", "9"), ("10 - 2 - 3", "5"), ("2 ** 3 ** 2", "64"), ("-2 ** 2", "4")],
        *[("0.1 + 0.2", "0.3"), ("10 / 4", "2.5"), ("1 / 3", "0.3333333333333333333333333333333333"), ("6 / 3", "2")],
        *[("9007199254740993 + 0", "9007199254740993"), ("1 / 0", "null"), ('1 + "a"', "null"), ("1 + null", "null")],
        *[("10 ** 34 + 1", "10000000000000000000000000000000000"), ("2 ** 0.5 > 1.41", "true"), ("0 ** -1", "null")],
        *[('"a" + "b"', '"ab"'), ('"a" - "b"', "null"), ('"a" + 1', "null"), ("--1", "1"), ("-null", "null")],
        *[('@"2024-01-31" + @"P1M"', "2024-02-29"), ('@"P1M" + @"2024-01-31"', "2024-02-29")],
        *[('@"2024-03-31" - @"P1M"', "2024-02-29"), ('@"2024-02-29" + @"P1Y"', "2025-02-28")],
        *[('@"2024-01-01" + @"PT36H"', "2024-01-02"), ('@"2024-01-01" - @"PT1S"', "2023-12-31")],
        *[
            ('@"10:00:00" + @"PT15H"', "01:00:00"),
            ('@"10:00:00Z" - @"PT11H"', "23:00:00Z"),
            ('@"10:00:00" + @"P1M"', "null"),
        ],
        *[('@"2026-03-28T12:00:00@Europe/Berlin" + @"P1D"', "2026-03-29T13:00:00@Europe/Berlin")],
        *[('@"2024-01-02" - @"2024-01-01"', "P1D"), ('@"10:00:00" - @"11:00:00"', "-PT1H")],
        *[('@"2024-01-02T00:00:00Z" - @"2024-01-01"', "P1D"), ('@"2024-01-02T00:00:00" - @"2024-01-01"', "null")],
        *[('@"P1D" * 2', "P2D"), ('2 * @"P1M"', "P2M"), ('@"P1D" / 2', "PT12H"), ('@"P1Y" / 5', "P2M")],
        *[('@"P1D" / @"PT1H"', "24"), ('@"P1Y" / @"P1M"', "12"), ('@"P1D" / @"P1M"', "null"), ('@"P1D" / 0', "null")],
        *[('@"P1D" + @"PT1H"', "P1DT1H"), ('@"P1Y" - @"P1M"', "P11M"), ('@"P1D" + @"P1M"', "null")],
        *[('-@"P1D"', "-P1D"), ('-@"P1M"', "-P1M"), ('@"999999999-12-31" + @"P1D"', "null"), ("1e6144 * 10", "null")],
    ],
)
def test_arithmetic(source, result):
    assert text(source) == result


def test_numbers_are_exact():
    assert value("1234567890.12 * 100") == Decimal("123456789012")
    assert type(value("1 + 1")) is int
    assert type(value("10 ** 40")) is Decimal


@pytest.mark.parametrize(
    ("source", "result"),
    [
        *[("5 in [1..5]", T), ("5 in [1..5)", F), ("5 in ]1..5]", T), ("5 in (> 3)", T), ("5 in (<= 4)", F)],
        *[
            ("5 in (1, 5)", T),
            ("5 in (1, > 4)", T),
            ("5 in [1, 5]", T),
            ("5 in [[1..2], [4..6]]", T),
            ("null in null", T),
        ],
        *[
            ("5 in null", F),
            ('5 in ["a"]', F),
            ("null in [1..5]", N),
            ('"a" in ["a", "b"]', T),
            ("[1] in [[1], [2]]", T),
        ],
        *[("5 in (? > 4)", T), ("5 in (? > 7, ? < 6)", T), ('@"2024-06-01" in [@"2024-01-01"..@"2024-12-31"]', T)],
    ],
)
def test_membership(source, result):
    assert value(source) is result


@pytest.mark.parametrize(
    ("tests", "input", "result"),
    [
        *[
            ("-", 1, T),
            ("1", 1, T),
            ("1, 2", 2, T),
            ("1, 2", 3, F),
            ("> 1", 2, T),
            ("[1..3]", 2, T),
            ("< 1, > 3", 5, T),
        ],
        *[("not(1, 2)", 3, T), ("not(1, 2)", 1, F), ("not(> 1)", 2, F), ('"a"', "a", T), ('"a"', 1, N), ("null", N, T)],
        *[
            ("null", 1, F),
            ("> 1", N, N),
            ("not(> 1)", N, N),
            ("true", T, T),
            ("? > 3 and ? < 5", 4, T),
            ("? = null", N, T),
        ],
        *[
            ("x", 5, T),
            ("x + 1", 6, T),
            ("limits", 2, T),
            ('contains(?, "b")', "abc", T),
            ("= 1", 1, T),
            ("!= 1", 2, T),
        ],
        *[("[1, 2]", [1, 2], T), ("1", [1], T), ("count(?) > 1", [1, 2], T), ("[[1..2], [5..6]]", 5, T)],
    ],
)
def test_unary_tests(tests, input, result):
    assert met(tests, input, {"x": 5, "limits": [1, 2, 3]}) is result


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x + 1", "no 'x'"),
        ('1 + "a"', "number + string is not defined"),
        ('1 < "a"', "number < string cannot be said"),
        ("1 / 0", "no result"),
        ("{a: 1}.b", "no entry 'b'"),
        ("[1, 2][5]", "no item 5"),
        ('date("x")', "'x' is no date"),
        ('@"x"', "'x' is no time"),
        ("upper case(1)", "cannot be called with (number)"),
        ("5(1)", "called as if it were a function"),
        ("if 1 then 2 else 3", "the condition of an if is number"),
        ("for i in null return i", "nothing to iterate over"),
        ("1 instance of tSomething", "unknown type"),
        ("{a: 1, a: 2}", "two entries"),
    ],
)
def test_null_is_explained(source, said):
    outcome = explained(source)
    assert said in " / ".join(outcome.warnings)


def test_what_can_be_said_has_no_warnings():
    assert explained('if 1 < 2 then {a: [1, 2][item > 1]}.a else "no"').warnings == ()
