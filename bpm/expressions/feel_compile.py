"""FEEL trees to closures: one small function a node (DMN 1.5, 10.3.2). Loops and tests are in their own modules.

Nothing here raises for bad data: FEEL answers null, and the budget keeps the warning. What a scope raises
besides KeyError passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bpm.expressions.feel_frames import Bound, Frame, Run, Scope
from bpm.expressions.feel_functions import BUILT_IN
from bpm.expressions.feel_loops import compile_filter, compile_for, compile_quantified
from bpm.expressions.feel_operators import ORDERED, PLAIN, QUICK, at_most, compare, compute, negate
from bpm.expressions.feel_properties import property_of
from bpm.expressions.feel_tests import compile_in, compile_unary_tests, range_of_test
from bpm.expressions.feel_time import NotTemporal, parse_temporal
from bpm.expressions.feel_types import coerce, is_instance, resolve, types_in
from bpm.expressions.feel_values import FeelFunction, FeelRange, admit, kind_of, measure
from bpm.expressions.host import Host
from bpm.expressions.limits import Budget
from bpm.expressions.tree import (
    Arithmetic,
    AtLiteral,
    Between,
    Call,
    Comparison,
    Conditional,
    Conjunction,
    ContextOf,
    Disjunction,
    Filter,
    For,
    Function,
    HalfRange,
    In,
    InstanceOf,
    ListOf,
    Literal,
    Name,
    Negation,
    Node,
    Path,
    Quantified,
    Range,
    UnaryTests,
)


def compile_feel(tree: Node, text: str) -> Run:
    """A FEEL tree as a closure of scope, host and budget. (`text`, its source, is for the reader of a trace.)"""
    run = build(tree, frozenset())

    def closure(scope: Scope, host: Host, budget: Budget) -> object:
        value = run(scope, host, budget)
        if isinstance(value, list | dict):
            measure(value, budget)
        return value

    return closure


def build(node: Node, bound: Bound) -> Run:
    """The closure of one node, its parts compiled."""
    return _COMPILERS[type(node)](node, bound)


# -- names and values ------------------------------------------------------------------------------


def _literal(node: Literal, bound: Bound) -> Run:
    value = node.value
    return lambda scope, host, budget: value


def _at_literal(node: AtLiteral, bound: Bound) -> Run:
    try:
        value = parse_temporal(node.text)
    except NotTemporal as error:
        return _null(str(error))
    return lambda scope, host, budget: value


def _null(reason: str) -> Run:
    def run(scope: Scope, host: Host, budget: Budget) -> object:
        budget.warn(reason)
        return None

    return run


def _name(node: Name, bound: Bound) -> Run:
    name = node.name
    built_in = BUILT_IN.get(name)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        try:
            value = scope[name]
        except KeyError:
            if built_in is None:
                budget.warn(f"there is no {name!r}")
            return built_in
        return admit(value)

    return run


def _path(node: Path, bound: Bound) -> Run:
    source, name = build(node.source, bound), node.name

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        value = source(scope, host, budget)
        if type(value) is dict and name in value:
            return value[name]
        return property_of(value, name, budget)

    return run


def _list(node: ListOf, bound: Bound) -> Run:
    items = [build(item, bound) for item in node.items]
    return lambda scope, host, budget: [item(scope, host, budget) for item in items]


def _context(node: ContextOf, bound: Bound) -> Run:
    entries: list[tuple[str, Run]] = []
    for key, value in node.entries:
        entries.append((key, build(value, bound)))
        bound |= {key}
    if len({key for key, _ in entries}) != len(entries):
        return _null("a context has two entries of one name")

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        frame = Frame(scope)
        for key, value in entries:
            frame[key] = value(frame, host, budget)
        return dict(frame)

    return run


def _range(node: Range, bound: Bound) -> Run:
    low, high = build(node.low, bound), build(node.high, bound)
    if isinstance(node.low, Literal) and isinstance(node.high, Literal):
        written = make_range(node.low.value, node.high.value, node, Budget())
        if written is not None:
            return lambda scope, host, budget: written

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        return make_range(low(scope, host, budget), high(scope, host, budget), node, budget)

    return run


def make_range(low: object, high: object, node: Range, budget: Budget) -> FeelRange | None:
    """`[low..high]` of these ends; null unless they are of one ordered kind or one of them is open."""
    kinds = {kind_of(end) for end in (low, high) if end is not None}
    if len(kinds) != 1 or not kinds <= ORDERED:
        budget.warn("the ends of a range must be of one kind that has an order")
        return None
    return FeelRange(low, high, low is not None and node.low_closed, high is not None and node.high_closed)


def _half_range(node: HalfRange, bound: Bound) -> Run:
    end, sign = build(node.bound, bound), node.operator
    return lambda scope, host, budget: range_of_test(sign, end(scope, host, budget), budget)


# -- operators -------------------------------------------------------------------------------------


def _comparison(node: Comparison, bound: Bound) -> Run:
    left, right = build(node.left, bound), build(node.right, bound)
    sign, quick = node.operator, QUICK[node.operator]

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        a, b = left(scope, host, budget), right(scope, host, budget)
        if type(a) is type(b) and type(a) in PLAIN:
            return quick(a, b)
        return compare(sign, a, b, budget)

    return run


def _arithmetic(node: Arithmetic, bound: Bound) -> Run:
    first = build(node.first, bound)
    rest = [(sign, build(operand, bound)) for sign, operand in node.rest]

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        value = first(scope, host, budget)
        for sign, operand in rest:
            value = compute(sign, value, operand(scope, host, budget), budget)
        return value

    return run


def _negation(node: Negation, bound: Bound) -> Run:
    operand = build(node.operand, bound)
    return lambda scope, host, budget: negate(operand(scope, host, budget), budget)


def _junction(items: Sequence[Node], bound: Bound, deciding: bool) -> Run:
    """`and` (decided by a false) and `or` (decided by a true), of any number of operands."""
    parts = [build(item, bound) for item in items]

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        unknown = False
        for part in parts:
            value = part(scope, host, budget)
            if value is deciding:
                return deciding
            if value is not (not deciding):
                unknown = True
                if value is not None:
                    budget.warn(f"a {kind_of(value)} where true or false is expected")
        return None if unknown else not deciding

    return run


def _conditional(node: Conditional, bound: Bound) -> Run:
    condition = build(node.condition, bound)
    positive, negative = build(node.positive, bound), build(node.negative, bound)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        value = condition(scope, host, budget)
        if value is not True and value is not False:
            budget.warn(f"the condition of an if is {kind_of(value)}")
        return (positive if value is True else negative)(scope, host, budget)

    return run


def _between(node: Between, bound: Bound) -> Run:
    value, low, high = build(node.value, bound), build(node.low, bound), build(node.high, bound)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        it = value(scope, host, budget)
        above = at_most(low(scope, host, budget), it, budget)
        below = at_most(it, high(scope, host, budget), budget)
        if above is False or below is False:
            return False if above is not None and below is not None else None
        return True if above and below else None

    return run


def _instance_of(node: InstanceOf, bound: Bound) -> Run:
    value, kind = build(node.value, bound), resolve(node.type, {})

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        found = kind or resolve(node.type, types_in(scope))
        if found is None:
            budget.warn("instance of an unknown type")
            return None
        return is_instance(value(scope, host, budget), found, budget)

    return run


# -- functions -------------------------------------------------------------------------------------


def _function(node: Function, bound: Bound) -> Run:
    names = [parameter.name for parameter in node.parameters]
    if node.external:
        return lambda scope, host, budget: FeelFunction(names, _external)
    body = build(node.body, bound | set(names))
    typed = any(parameter.type for parameter in node.parameters)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        def call(arguments: Sequence[object], host: Host, budget: Budget) -> object:
            return body(Frame(scope, dict(zip(names, arguments, strict=True))), host, budget)

        def convert(arguments: Sequence[object], budget: Budget) -> Sequence[object]:
            known = types_in(scope)
            kinds = [resolve(parameter.type, known) if parameter.type else None for parameter in node.parameters]
            return [
                coerce(value, kind, budget) if kind else value for value, kind in zip(arguments, kinds, strict=True)
            ]

        return FeelFunction(names, call, convert if typed else None)

    return run


def _external(arguments: Sequence[object], host: Host, budget: Budget) -> object:
    budget.warn("external functions are not run")
    return None


def _call(node: Call, bound: Bound) -> Run:
    arguments = [build(argument, bound) for argument in node.arguments]
    named = {name: build(argument, bound) for name, argument in node.named}
    fixed = None
    if isinstance(node.function, Name) and node.function.name not in bound:
        fixed = BUILT_IN.get(node.function.name)
    function = build(node.function, bound)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        callee: Any = fixed or function(scope, host, budget)
        if kind_of(callee) != "function":
            budget.warn(f"a {kind_of(callee)} is called as if it were a function")
            return None
        budget.charge()
        by_name: Mapping[str, object] | None = None
        if named:
            by_name = {name: argument(scope, host, budget) for name, argument in named.items()}
        return callee.invoke([argument(scope, host, budget) for argument in arguments], by_name, host, budget)

    return run


_COMPILERS: dict[type[Node], Callable[[Any, Bound], Run]] = {
    Literal: _literal,
    AtLiteral: _at_literal,
    Name: _name,
    Path: _path,
    ListOf: _list,
    ContextOf: _context,
    Range: _range,
    HalfRange: _half_range,
    Comparison: _comparison,
    Arithmetic: _arithmetic,
    Negation: _negation,
    Conjunction: lambda node, bound: _junction(node.items, bound, deciding=False),
    Disjunction: lambda node, bound: _junction(node.items, bound, deciding=True),
    Conditional: _conditional,
    Between: _between,
    InstanceOf: _instance_of,
    Function: _function,
    Call: _call,
    Filter: lambda node, bound: compile_filter(node, bound, build),
    For: lambda node, bound: compile_for(node, bound, build),
    Quantified: lambda node, bound: compile_quantified(node, bound, build),
    In: lambda node, bound: compile_in(node, bound, build),
    UnaryTests: lambda node, bound: compile_unary_tests(node, bound, build),
}
