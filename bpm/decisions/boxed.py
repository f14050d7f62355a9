"""Boxed expressions to closures (DMN 1.5, 7.3 and 10.2): one small function a kind.

Iterations and filters are those of FEEL itself: `Piece` lets a closure stand where FEEL's compilers expect a
part of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpm.decisions import model
from bpm.decisions.formulas import formula
from bpm.decisions.tables import compile_table
from bpm.decisions.types import Types
from bpm.expressions import Host
from bpm.expressions.feel_frames import Bound, Frame, Run, Scope
from bpm.expressions.feel_loops import PARTIAL, compile_filter, compile_for, compile_quantified
from bpm.expressions.feel_types import FeelType, coerce
from bpm.expressions.feel_values import FUNCTION, FeelFunction, is_number, kind_of
from bpm.expressions.limits import Budget
from bpm.expressions.tree import Filter, For, Iterator, Name, Node, Quantified


@dataclass(frozen=True, slots=True)
class Piece(Node):
    """A closure as a node of FEEL's tree."""

    run: Run
    names: tuple[Node, ...] = (Name(PARTIAL),)


@dataclass(frozen=True, slots=True)
class Workshop:
    """What compiling the logic of one element needs to know: its id, the model's types, its difficult names."""

    owner: str
    types: Types
    names: frozenset[str]

    def build(self, logic: model.Logic | None) -> Run:
        """The closure of a piece of logic; no logic gives null. Its value is made to be of its type."""
        if logic is None:
            return _nothing
        run = _COMPILERS[type(logic)](logic, self)
        wanted = self.types.find(logic.type) if not isinstance(logic, model.Function | model.Table) else None
        return run if wanted is None else typed(run, wanted)

    def function(self, function: model.Function, result: FeelType | None) -> Callable[[Scope], FeelFunction]:
        """A function definition as a maker of functions that see the scope they are made in."""
        names = [parameter.name for parameter in function.parameters]
        kinds = [self.types.find(parameter.type) for parameter in function.parameters]
        wanted = self.types.find(function.type) or result
        body = self.build(function.body) if function.kind == "FEEL" else _not_run(function.kind)
        run = body if wanted is None else typed(body, wanted)

        def make(scope: Scope) -> FeelFunction:
            def call(arguments: Sequence[object], host: Host, budget: Budget) -> object:
                return run(Frame(scope, dict(zip(names, arguments, strict=True))), host, budget)

            return FeelFunction(names, call, lambda arguments, budget: converted(arguments, kinds, budget))

        return make


def typed(run: Run, wanted: FeelType) -> Run:
    """The closure, its value made to be of a type."""
    return lambda scope, host, budget: coerce(run(scope, host, budget), wanted, budget)


def converted(arguments: Sequence[object], kinds: Sequence[FeelType | None], budget: Budget) -> list[object]:
    """Arguments made to be of their parameters' types."""
    return [coerce(value, kind, budget) if kind else value for value, kind in zip(arguments, kinds, strict=True)]


def _nothing(scope: Scope, host: Host, budget: Budget) -> object:
    return None


def _not_run(kind: str) -> Run:
    def run(scope: Scope, host: Host, budget: Budget) -> object:
        budget.warn(f"functions in {kind} are not run")
        return None

    return run


# -- one a kind ------------------------------------------------------------------------------------


def _context(logic: model.Context, shop: Workshop) -> Run:
    entries = [(entry.name, shop.build(entry.value), shop.types.find(entry.type)) for entry in logic.entries]

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        frame = Frame(scope)
        for name, build, wanted in entries:
            value = build(frame, host, budget)
            if not name:
                return value
            frame[name] = coerce(value, wanted, budget) if wanted else value
        return dict(frame)

    return run


def _invocation(logic: model.Invocation, shop: Workshop) -> Run:
    function = shop.build(logic.function)
    bindings = [(binding.name, shop.build(binding.value)) for binding in logic.bindings]

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        callee: Any = function(scope, host, budget)
        if kind_of(callee) != FUNCTION:
            budget.warn(f"a {kind_of(callee)} is invoked as if it were a function")
            return None
        arguments = {name: value(scope, host, budget) for name, value in bindings}
        return callee.invoke([], arguments, host, budget)

    return run


def _function(logic: model.Function, shop: Workshop) -> Run:
    make = shop.function(logic, None)
    return lambda scope, host, budget: make(scope)


def _items(logic: model.Items, shop: Workshop) -> Run:
    items = [shop.build(item) for item in logic.items]
    return lambda scope, host, budget: [item(scope, host, budget) for item in items]


def _relation(logic: model.Relation, shop: Workshop) -> Run:
    names = [column.name for column in logic.columns]
    rows = [[shop.build(cell) for cell in row.items] for row in logic.rows]
    kinds = [shop.types.find(column.type) for column in logic.columns]

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        return [
            dict(zip(names, converted([cell(scope, host, budget) for cell in row], kinds, budget), strict=True))
            for row in rows
        ]

    return run


def _conditional(logic: model.Conditional, shop: Workshop) -> Run:
    condition = shop.build(logic.condition)
    positive, negative = shop.build(logic.positive), shop.build(logic.negative)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        met = condition(scope, host, budget)
        if met is not None and not isinstance(met, bool):
            budget.warn(f"the condition of a boxed if is a {kind_of(met)}")
            return None
        return (positive if met is True else negative)(scope, host, budget)

    return run


def _filter(logic: model.Filter, shop: Workshop) -> Run:
    match = shop.build(logic.match)
    filtered = compile_filter(Filter(Piece(shop.build(logic.source)), Piece(_telling(match))), frozenset(), _piece)
    return _or_null(filtered, "the match of a boxed filter is not true or false")


def _iteration(logic: model.Iteration, shop: Workshop) -> Run:
    over = (Iterator(logic.variable, Piece(shop.build(logic.domain))),)
    body = Piece(shop.build(logic.body))
    if logic.kind == "for":
        return compile_for(For(over, body), frozenset(), _piece)
    body = Piece(_telling(body.run))
    found = compile_quantified(Quantified(logic.kind == "every", over, body), frozenset(), _piece)
    return _or_null(found, "the condition of a boxed some or every is not true or false")


class _NotTelling(Exception):
    """A boxed filter, some or every met a value that is no truth: unlike FEEL's, these give null for that."""


def _telling(run: Run) -> Run:
    def told(scope: Scope, host: Host, budget: Budget) -> object:
        value = run(scope, host, budget)
        if value is not None and not isinstance(value, bool) and not is_number(value):
            raise _NotTelling
        return value

    return told


def _or_null(run: Run, reason: str) -> Run:
    def guarded(scope: Scope, host: Host, budget: Budget) -> object:
        try:
            return run(scope, host, budget)
        except _NotTelling:
            budget.warn(reason)
            return None

    return guarded


def _piece(node: Node, bound: Bound) -> Run:
    return node.run if isinstance(node, Piece) else _nothing


_COMPILERS: Mapping[type, Callable[[Any, Workshop], Run]] = {
    model.Expression: lambda logic, shop: formula(logic, shop.names),
    model.Table: lambda logic, shop: compile_table(logic, shop.owner, shop.types, shop.names),
    model.Context: _context,
    model.Invocation: _invocation,
    model.Function: _function,
    model.Items: _items,
    model.Relation: _relation,
    model.Conditional: _conditional,
    model.Filter: _filter,
    model.Iteration: _iteration,
}
