"""Unary tests: the cells of decision tables and `value in test` (DMN 1.5, 10.3.2.8 and tables 55 and 56)."""

from __future__ import annotations

from collections.abc import Callable

from bpm.expressions.feel_frames import Bound, Build, Frame, Run, Scope
from bpm.expressions.feel_operators import ORDERED, Truth, any_of, compare, meets
from bpm.expressions.feel_values import FeelRange, kind_of
from bpm.expressions.host import Host
from bpm.expressions.limits import Budget
from bpm.expressions.tree import In, Literal, Test, UnaryTests

INPUT = "?"
"""The name of the value under test."""

type _Check = Callable[[object, Scope, Host, Budget], Truth]


def compile_unary_tests(node: UnaryTests, bound: Bound, build: Build) -> Run:
    """A cell: whether the value at `?` meets one of its tests; `-` is met by anything."""
    checks = [_compile_test(test, bound, build, in_cell=True) for test in node.tests]
    if not checks:
        return lambda scope, host, budget: True
    if len(checks) == 1 and not node.negated:
        return lambda scope, host, budget: checks[0](_input(scope), scope, host, budget)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        value = _input(scope)
        found = any_of(check(value, scope, host, budget) for check in checks)
        return found if not node.negated or found is None else not found

    return run


def _input(scope: Scope) -> object:
    try:
        return scope[INPUT]
    except KeyError:
        return None


def compile_in(node: In, bound: Bound, build: Build) -> Run:
    """`value in (test, test)`."""
    source = build(node.value, bound)
    checks = [_compile_test(test, bound, build) for test in node.tests]
    named = any(test.uses_input for test in node.tests)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        value = source(scope, host, budget)
        around = Frame(scope, {INPUT: value}) if named else scope
        return any_of(check(value, around, host, budget) for check in checks)

    return run


def _compile_test(test: Test, bound: Bound, build: Build, *, in_cell: bool = False) -> _Check:
    operand = build(test.operand, bound)
    sign = test.operator
    speaks = in_cell and not isinstance(test.operand, Literal)
    if sign is not None:
        return lambda value, scope, host, budget: compare(sign, value, operand(scope, host, budget), budget)

    def check(value: object, scope: Scope, host: Host, budget: Budget) -> Truth:
        wanted = operand(scope, host, budget)
        if test.uses_input and isinstance(wanted, bool):
            return wanted
        if speaks and wanted is True and not isinstance(value, bool | list):
            return True  # a cell that says so itself, by other names than `?` (as Camunda has it)
        return meets(value, wanted, budget)

    return check


def range_of_test(sign: str, end: object, budget: Budget) -> FeelRange | None:
    """`(< 10)` and its like as a range; null for `!=`, which is none, and for an end without an order."""
    if sign == "=":
        return FeelRange(end, end, True, True)
    if sign == "!=" or kind_of(end) not in ORDERED:
        budget.warn(f"({sign} {kind_of(end)}) is no range")
        return None
    if sign in ("<", "<="):
        return FeelRange(None, end, False, sign == "<=")
    return FeelRange(end, None, sign == ">=", False)
