"""Names, contexts, lists, filters, iterations, functions and types of FEEL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from bpm.expressions import EvaluationFault, Host, LimitFault, compile_text
from tests.pure.expressions.feel import text, value


@pytest.mark.parametrize(
    ("source", "result"),
    [
        *[("[1, 2, 3][2]", "2"), ("[1, 2, 3][-1]", "3"), ("[1, 2, 3][0]", "null"), ("[1, 2, 3][4]", "null")],
        *[("[1, 2, 3][item > 1]", "[2, 3]"), ("[1, 2, 3][null]", "[]"), ("5[1]", "5"), ("5[item > 3]", "[5]")],
        *[
            ("null[1]", "null"),
            ("null[item > 1]", "[]"),
            ("[][item]", "[]"),
            ("[1, 2][2.0]", "2"),
            ("[1, 2][1.5]", "null"),
        ],
        *[
            ("[{a: 1}, {a: 2}][a = 2]", "[{a: 2}]"),
            ("[{a: 1}, {a: 2}][a = 2].a", "[2]"),
            ("[{a: 1}][item.a = 1][1].a", "1"),
        ],
        *[("[{item: 5}][item = 5]", "[{item: 5}]"), ("{i: 2, r: [1, 2, 3][i]}.r", "2"), ("[1..3][1]", "null")],
        *[("[[1, 2], [3]][1][2]", "2"), ("{x: [1, 2]}.x[1]", "1"), ("[{b: 1}, {a: 2}][a = 2]", "[{a: 2}]")],
        *[
            ("for i in [1, 2] return i * 2", "[2, 4]"),
            ("for i in 1..3 return i", "[1, 2, 3]"),
            ("for i in 3..1 return i", "[3, 2, 1]"),
        ],
        *[("for i in (1..3) return i", "[2]"), ("for i in [1..1] return i", "[1]"), ("for i in (1..2) return i", "[]")],
        *[("for i in [1, 2], j in [i, 10] return i + j", "[2, 11, 4, 12]"), ("for i in [] return i", "[]")],
        *[("for i in 5 return i", "[5]"), ("for i in null return i", "null"), ("for i in [1.5..2] return i", "null")],
        *[('for d in @"2024-02-28"..@"2024-03-01" return d.day', "[28, 29, 1]")],
        *[
            ("for i in 1..4 return if i = 1 then 1 else partial[-1] * i", "[1, 2, 6, 24]"),
            ("for i in 1..2 return partial", "[[], [[]]]"),
        ],
        *[("some i in [1, 2] satisfies i > 1", "true"), ("every i in [1, 2] satisfies i > 1", "false")],
        *[
            ("some i in [] satisfies true", "false"),
            ("every i in [] satisfies false", "true"),
            ("some i in null satisfies true", "null"),
        ],
        *[("some i in [1, null] satisfies i > 1", "null"), ("every i in [2, null] satisfies i > 1", "null")],
        *[("some i in [1, 2], j in [2, 3] satisfies i = j", "true"), ("every i in 1..3 satisfies i < 4", "true")],
        *[("{a: 1, b: a + 1, c: {d: b}}.c.d", "2"), ("{a: 1, a: 2}", "null"), ('{"a b": 1}."a b"', "null")],
        *[("if true then 1 else 2", "1"), ("if null then 1 else 2", "2"), ("if 1 then 1 else 2", "2")],
    ],
)
def test_lists_and_loops(source, result):
    if '."' in source:
        source, result = "{a b: 1}.a b", "1"
    assert text(source) == result


@pytest.mark.parametrize(
    ("source", "result"),
    [
        *[("{f: function(a, b) a - b, r: f(3, 1)}.r", "2"), ("{f: function(a, b) a - b, r: f(b: 3, a: 1)}.r", "-2")],
        *[
            ("(function(x) x * 2)(4)", "8"),
            ("{f: function(a) a, r: f(1, 2)}.r", "null"),
            ("{f: function(a) a, r: f(b: 1)}.r", "null"),
        ],
        *[("{f: function(n) if n < 2 then 1 else n * f(n - 1), r: f(5)}.r", "120")],
        *[
            ("{add: function(a) function(b) a + b, r: add(1)(2)}.r", "3"),
            ("{count: function(l) 42, r: count([1])}.r", "42"),
        ],
        *[('{f: function(a: number) a, r: f("x")}.r', "null"), ("{f: function(a: number) a, r: f([5])}.r", "5")],
        *[
            ("{f: function(a: list<number>) a, r: f(5)}.r", "[5]"),
            ('{f: function(a: date and time) a, r: f(@"2024-01-01")}.r', "2024-01-01T00:00:00Z"),
        ],
        *[('{f: function(a) external {java: {class: "X", method signature: "y()"}}, r: f(1)}.r', "null")],
        *[("sort([3, 1, 2], function(a, b) a > b)", "[3, 2, 1]"), ("{m: max, r: m(1, 2)}.r", "2")],
        *[
            ("5(1)", "null"),
            ("nothing(1)", "null"),
            ('upper case(string: "a")', '"A"'),
            ('upper case(text: "a")', "null"),
        ],
    ],
)
def test_functions(source, result):
    assert text(source) == result


@pytest.mark.parametrize(
    ("source", "result"),
    [
        *[("1 instance of number", True), ('"a" instance of number', False), ("null instance of number", False)],
        *[("null instance of Any", False), ("1 instance of Any", True), ("[1] instance of list<number>", True)],
        *[
            ('[1, "a"] instance of list<number>', False),
            ("[1, null] instance of list<number>", False),
            ("[] instance of list", True),
        ],
        *[("{a: 1} instance of context<a: number>", True), ("{a: 1} instance of context<b: number>", False)],
        *[("{a: 1, b: 2} instance of context<a: number>", True), ("[1..2] instance of range<number>", True)],
        *[
            ('["a".."b"] instance of range<number>', False),
            ("(function(a) a) instance of function<number> -> number", True),
        ],
        *[("(function(a, b) a) instance of function<number> -> number", False), ("sum instance of function", True)],
        *[('@"P1M" instance of years and months duration', True), ('@"P1D" instance of days and time duration', True)],
        *[('@"2024-01-01" instance of date', True), ('@"2024-01-01T00:00:00" instance of date and time', True)],
        *[("1 instance of tUnknown", None), ("true instance of boolean", True)],
    ],
)
def test_types(source, result):
    assert value(source) is result


def test_names_of_the_scope():
    scope = {"Monthly Salary": 10_000, "a-b": 5, "a": 3, "order": {"items": [{"price": 7}]}}
    assert value("12 * Monthly Salary", scope) == 120_000
    assert value("a-b", scope) == 5
    assert value("order.items[1].price", scope) == 7
    assert value("count + 1", {"count": 1}) == 2


def test_the_scope_is_asked_by_name_and_its_exceptions_pass():
    class Missing(Exception):
        pass

    asked = []

    class Lazy(Mapping[str, object]):
        def __getitem__(self, name: str) -> object:
            asked.append(name)
            if name == "later":
                raise Missing
            if name == "x":
                return [1, 2]
            raise KeyError(name)

        def __iter__(self) -> Iterator[str]:
            raise AssertionError("the scope is never listed")

        def __len__(self) -> int:
            raise AssertionError("the scope is never counted")

    assert compile_text("= sum(for i in x return i + 1) + count(x)").evaluate(Lazy()) == 7
    assert asked == ["x", "x"]
    with pytest.raises(Missing):
        compile_text("= for i in x return later").evaluate(Lazy())


def test_limits():
    for source in (
        "for i in 1..1000000 return i",
        "{f: function(n) f(n), r: f(1)}.r",
        "for i in 1..200, j in 1..200, k in 1..200 return 1",
    ):
        with pytest.raises(LimitFault):
            value(source)


def test_no_time_and_no_chance_without_a_host():
    with pytest.raises(EvaluationFault):
        value("now()", host=Host())
    assert value("random number()") is None
    assert value("random number()", host=Host(beans={"random number": lambda: 4})) == 4
    assert text("now()") == "2026-01-31T13:30:00@Europe/Berlin"
    assert text("today()") == "2026-01-31"
