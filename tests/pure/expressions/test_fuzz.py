"""Whatever comes in: parsing raises nothing but SyntaxFault and LimitFault, evaluating nothing but ExpressionErrors."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpm.expressions import (
    ExpressionError,
    Host,
    HostObject,
    LimitFault,
    SyntaxFault,
    compile_text,
    compile_unary_tests,
    to_json,
)
from bpm.expressions.parse_feel import parse_feel, parse_unary_tests
from bpm.expressions.parse_juel import parse_juel
from bpm.expressions.printer import print_tree

HOST = Host(
    now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    objects={"execution": HostObject("execution", {"businessKey": "K"}, variables=True)},
    beans={"f": lambda *arguments: arguments, "x.f": lambda *arguments: None},
)
FEEL_PIECES = """
    if then else for in return some every satisfies and or between instance of function external true false null not
    date time item partial ? x y l m a-b string length number list + - * / ** = != < <= > >= ( ) [ ] { } , : . ..
    @ "a" "P1D" "2024-01-01" 1 0 2.5 1e3 1..3 ` " \\ // /* */ -> sum count min flatten append substring contains
    get value now
"""
JUEL_PIECES = """
    ${ #{ } \\ and or not && || ! empty eq ne lt gt le ge div mod == != < > <= >= + - * / % ? : ( ) [ ] . , ; =
    'a' "b" ' 1 0 2.5 1e3 true false null x y l m execution task now S JSON vars:get f .size() .get(0) .toString()
    .substring(1) .prop('a') getVariable('x') .value()
"""
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.text(max_size=5)
    | st.sampled_from([Decimal("2.5"), "1", "2024-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "x", "item"]), inner, max_size=3),
    max_leaves=6,
)
SCOPES = st.fixed_dictionaries({}, optional=dict.fromkeys(("x", "y", "l", "m", "a-b", "?"), VALUES))


def texts(pieces: str) -> st.SearchStrategy[str]:
    """Token soup, with and without blanks, and plain nonsense."""
    soup = st.lists(st.sampled_from(pieces.split()), max_size=25)
    return st.one_of(soup.map(" ".join), soup.map("".join), st.text(max_size=40))


@st.composite
def feel(draw: st.DrawFn, depth: int = 3) -> str:
    """A FEEL expression that is well formed."""
    if depth == 0:
        return draw(
            st.sampled_from(
                ["1", "2.5", '"a"', "true", "null", "x", "y", "l", "m", "m.a", '@"P1D"', '@"2024-01-01"', "now()"]
            )
        )
    part = feel(depth=depth - 1)
    form = draw(
        st.sampled_from(
            [
                "({} + {})",
                "{} * {} - {}",
                "-({})",
                "({}) ** ({})",
                "({} and {} or {})",
                "({} < {})",
                "({} = {})",
                "[{}, {}]",
                "{{a: {}, b c: {}}}",
                "if {} then {} else {}",
                "for i in {} return ({} + i)",
                "some i in {} satisfies {}",
                "({})[{}]",
                "({}).a",
                "(({}) between ({}) and ({}))",
                "({} in ({}, < {}))",
                "[{}..({})]",
                "string({})",
                "count({})",
                "function(p, q) ({})",
                "(function(p) p + ({}))({})",
                "({} instance of number)",
                "sum([{}, {}])",
                "substring({}, {})",
                "flatten([{}, [{}]])",
                "date({})",
                "duration({})",
                "max({}, {})",
            ]
        )
    )
    return form.format(*(draw(part) for _ in range(form.count("{}"))))


@st.composite
def juel(draw: st.DrawFn, depth: int = 3) -> str:
    """What stands in a well-formed hole."""
    if depth == 0:
        return draw(
            st.sampled_from(["1", "2.5", "'a'", "true", "null", "x", "y", "l", "m.a", "execution.businessKey", "now()"])
        )
    part = juel(depth=depth - 1)
    form = draw(
        st.sampled_from(
            [
                "({} + {})",
                "{} * {} - {}",
                "-{}",
                "!({})",
                "empty {}",
                "({} && {} || {})",
                "({} < {})",
                "{} == {}",
                "({} ? {} : {})",
                "({})[{}]",
                "({}).a",
                "({}).equals({})",
                "({}).size()",
                "({}).toString()",
                "({}).contains({})",
                "({}).substring({})",
                "f({}, {})",
                "S({})",
                "vars:get(x)",
                "execution.getVariable({})",
                "({}).plusDays({})",
            ]
        )
    )
    return form.format(*(draw(part) for _ in range(form.count("{}"))))


@pytest.mark.parametrize(
    ("parse", "pieces"), [(parse_feel, FEEL_PIECES), (parse_unary_tests, FEEL_PIECES), (parse_juel, JUEL_PIECES)]
)
@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_parsing_never_crashes(parse, pieces, data):
    text = data.draw(texts(pieces))
    try:
        tree = parse(text)
    except (SyntaxFault, LimitFault) as fault:
        assert fault.text == text
        assert fault.position is None or 0 <= fault.position <= len(text)
        return
    shown = print_tree(tree, "juel" if parse is parse_juel else "feel")
    assert parse(shown) == tree


@given(text=feel())
@settings(max_examples=300, deadline=None)
def test_well_formed_feel_parses_and_prints(text):
    tree = parse_feel(text)
    assert parse_feel(print_tree(tree, "feel")) == tree


@given(text=juel().map("${{{}}}".format))
@settings(max_examples=300, deadline=None)
def test_well_formed_juel_parses_and_prints(text):
    tree = parse_juel(text)
    assert parse_juel(print_tree(tree, "juel")) == tree


@given(text=juel().map("${{{}}}".format), scope=SCOPES)
@settings(max_examples=500, deadline=None)
def test_juel_gives_a_value_or_a_fault(text, scope):
    evaluate(text, scope)


@given(text=feel().map("={}".format), scope=SCOPES)
@settings(max_examples=500, deadline=None)
def test_feel_gives_a_value_or_a_fault(text, scope):
    evaluate(text, scope)


@given(text=texts(FEEL_PIECES), scope=SCOPES)
@settings(max_examples=300, deadline=None)
def test_unary_tests_give_a_value_or_a_fault(text, scope):
    try:
        value = compile_unary_tests(text).evaluate(scope, HOST)
    except ExpressionError:
        return
    assert value is None or isinstance(value, bool)


class Watched(dict[str, object]):
    """A scope that remembers what was read."""

    def __init__(self, values: dict[str, object]) -> None:
        super().__init__(values)
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> object:
        self.seen.add(name)
        return super().__getitem__(name)


def evaluate(text: str, values: dict[str, object]) -> None:
    """Evaluate and store: nothing but ExpressionErrors, nothing read that was not announced, constants constant."""
    try:
        compiled = compile_text(text)
    except (SyntaxFault, LimitFault):
        return
    scope = Watched(values)
    try:
        stored = to_json(compiled.evaluate(scope, HOST))
        assert not compiled.constant or stored == to_json(compiled.evaluate({}))
    except ExpressionError as fault:
        assert str(fault)
    assert compiled.dynamic or scope.seen - {"execution"} <= compiled.names
