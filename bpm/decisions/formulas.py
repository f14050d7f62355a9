"""Texts of a DMN model as closures.

A text that cannot be read gives null and a warning: the reader of the file has already said what is wrong with it, and
the other decisions of the file work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bpm.decisions.model import Expression, Language
from bpm.expressions import Compiled, ExpressionError, Host, compile_text, compile_unary_tests
from bpm.expressions.feel_compile import compile_feel
from bpm.expressions.feel_frames import Scope
from bpm.expressions.limits import Budget
from bpm.expressions.tree import Literal, Name, Test, UnaryTests
from bpm.expressions.walkers import walk

type Formula = Callable[[Scope, Host, Budget], object]


def formula(source: Expression | str, names: frozenset[str]) -> Formula:
    """An expression as a closure; nothing at all gives null."""
    text, language = _said(source)
    if not text.strip():
        return _nothing
    try:
        return _named(compile_text(text, language=language, names=names))
    except ExpressionError as error:
        return _unreadable(str(error))


def unary_tests(source: Expression | str, names: frozenset[str], variable: str = "?") -> Compiled:
    """A cell as a closure that looks at `?`, or at the name that the column gives its value."""
    text, language = _said(source)
    try:
        if language != "feel":
            return compile_text(text, language=language)
        compiled = compile_unary_tests(text, names=names)
        return compiled if variable == "?" else _looking_at(variable, compiled)
    except ExpressionError as error:
        unreadable = _unreadable(str(error))
        return Compiled(text, "feel", frozenset(), False, False, Literal(None), unreadable)


def _looking_at(variable: str, compiled: Compiled) -> Compiled:
    """The tests with the column's name for its value counting as `?` does: they say themselves whether they are met."""
    tree = compiled.tree
    if not isinstance(tree, UnaryTests) or not any(_mentions(test, variable) for test in tree.tests):
        return compiled
    tests = tuple(replace(test, uses_input=test.uses_input or _mentions(test, variable)) for test in tree.tests)
    tree = replace(tree, tests=tests)
    return replace(compiled, tree=tree, closure=compile_feel(tree, compiled.text))


def _mentions(test: Test, variable: str) -> bool:
    return any(isinstance(node, Name) and node.name == variable for node in walk(test.operand))


def _said(source: Expression | str) -> tuple[str, Language]:
    return (source, "feel") if isinstance(source, str) else (source.text, source.language)


def _named(compiled: Compiled) -> Formula:
    """The closure, its faults naming the text."""
    closure, text = compiled.closure, compiled.text

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        try:
            return closure(scope, host, budget)
        except ExpressionError as fault:
            raise fault.within(text) from None

    return run


def _nothing(scope: Scope, host: Host, budget: Budget) -> object:
    return None


def _unreadable(reason: str) -> Formula:
    def run(scope: Scope, host: Host, budget: Budget) -> object:
        budget.warn(reason)
        return None

    return run
