"""Decision tables: which rules match, and what the hit policy makes of them (DMN 1.5, 8.2.8 to 8.2.11).

Most cells are plain values (`"gold"`, `1, 2, 3`) or nothing. Each column keeps, for every plain value, the
rules that it matches as the bits of an integer; a table of a thousand rules is then a few ANDs, and only cells
that are really expressions are evaluated, and only in rules that all other columns have left over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bpm.decisions.formulas import Formula, formula, unary_tests
from bpm.decisions.model import Input, Output, Table
from bpm.decisions.trace import TRACE, RuleTrace, TableTrace, Trace
from bpm.decisions.types import Types, read_as
from bpm.expressions import Compiled, Host
from bpm.expressions.feel_frames import Frame, Run, Scope
from bpm.expressions.feel_functions import BUILT_IN
from bpm.expressions.feel_operators import same
from bpm.expressions.feel_tests import INPUT
from bpm.expressions.feel_types import FeelType, coerce
from bpm.expressions.feel_values import kind_of
from bpm.expressions.limits import Budget
from bpm.expressions.tree import Literal, UnaryTests

ANYTHING = frozenset({"", "-"})


@dataclass(frozen=True, slots=True)
class _Column:
    """An input column: how to get its value, and which rules a value matches. Sets of rules are bits of an int."""

    label: str
    value: Formula
    type: FeelType | None
    variable: str
    allowed: Compiled | None
    open: int
    plain: Mapping[tuple[str, object], int]
    tested: Mapping[int, Compiled]
    tested_bits: int

    def read(self, scope: Scope, host: Host, budget: Budget) -> object:
        found = read_as(self.value(scope, host, budget), self.type)
        return coerce(found, self.type, budget) if self.type is not None else found

    def admits(self, value: object, scope: Scope, host: Host, budget: Budget) -> bool:
        """Whether the value is among the allowed ones; lists and null are not asked."""
        if self.allowed is None or value is None or isinstance(value, list):
            return True
        return self.allowed.closure(Frame(scope, {INPUT: value}), host, budget) is True

    def candidates(self, value: object) -> int:
        """The rules that may match a value: all but those whose plain cell holds another one."""
        if isinstance(value, list | dict):
            return ~0
        return self.open | self.tested_bits | self.plain.get((kind_of(value), value), 0)


@dataclass(frozen=True, slots=True)
class Hits:
    """The rules that matched, with their outputs, in the order of the table."""

    outputs: Sequence[Sequence[object]]
    columns: Sequence[Output]
    priorities: Callable[[], Sequence[Sequence[object]]]
    aggregation: str
    host: Host
    budget: Budget
    broken: list[str]

    def against_policy(self, why: str) -> None:
        """More matched than the hit policy allows: the result is null (DMN 1.5, 8.2.11), and whoever asks is told."""
        self.budget.warn(why)
        self.broken.append(why)

    def packed(self, outputs: Sequence[object]) -> object:
        """A rule's outputs as one value: a context when there are several columns."""
        if len(self.columns) == 1:
            return outputs[0]
        return {column.name: value for column, value in zip(self.columns, outputs, strict=True)}

    def by_priority(self) -> list[Sequence[object]]:
        """The outputs, those first that stand first in the lists of output values."""
        orders = self.priorities()

        def rank(outputs: Sequence[object]) -> list[int]:
            return [
                next((place for place, one in enumerate(order) if same(one, value, self.budget)), len(order))
                for order, value in zip(orders, outputs, strict=True)
            ]

        return sorted(self.outputs, key=rank)


# -- hit policies ----------------------------------------------------------------------------------


def _unique(hits: Hits) -> object:
    if len(hits.outputs) > 1:
        hits.against_policy(f"{len(hits.outputs)} rules match where the hit policy is UNIQUE")
        return None
    return hits.packed(hits.outputs[0])


def _any(hits: Hits) -> object:
    first = hits.packed(hits.outputs[0])
    if not all(same(hits.packed(outputs), first, hits.budget) for outputs in hits.outputs):
        hits.against_policy("rules with different outputs match where the hit policy is ANY")
        return None
    return first


def _collect(hits: Hits) -> object:
    values = [hits.packed(outputs) for outputs in hits.outputs]
    if not hits.aggregation:
        return values
    return BUILT_IN[AGGREGATIONS[hits.aggregation]].invoke([values], None, hits.host, hits.budget)


HIT_POLICIES: dict[str, Callable[[Hits], object]] = {
    "UNIQUE": _unique,
    "ANY": _any,
    "FIRST": lambda hits: hits.packed(hits.outputs[0]),
    "PRIORITY": lambda hits: hits.packed(hits.by_priority()[0]),
    "RULE ORDER": lambda hits: [hits.packed(outputs) for outputs in hits.outputs],
    "OUTPUT ORDER": lambda hits: [hits.packed(outputs) for outputs in hits.by_priority()],
    "COLLECT": _collect,
}
# How cells call their input where the file does not say (Camunda 7, DMN, "Name of the Input Variable").
CELL_INPUT = "cellInput"
AGGREGATIONS = {"SUM": "sum", "MIN": "min", "MAX": "max", "COUNT": "count"}


# -- the table -------------------------------------------------------------------------------------


def compile_table(table: Table, owner: str, types: Types, names: frozenset[str]) -> Run:
    """The table as a closure; owner: the id of the decision it stands in, for the trace."""
    columns = [_column(place, column, table, types, names) for place, column in enumerate(table.inputs)]
    rules = [[formula(cell, names) for cell in rule.outputs] for rule in table.rules]
    orders = [formula_list(output.values, names) for output in table.outputs]
    everything = (1 << len(table.rules)) - 1
    policy = HIT_POLICIES.get(table.hit_policy, _unique)
    default = _default(table, names)

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        values = []
        for column in columns:
            value = column.read(scope, host, budget)
            if not column.admits(value, scope, host, budget):
                budget.warn(f"the value of {column.label!r} is not one of those allowed")
                return None
            values.append(value)
        left = everything
        for column, value in zip(columns, values, strict=True):
            left &= column.candidates(value)
        tried = [
            (column, value, Frame(scope, {INPUT: value, column.variable: value}))
            for column, value in zip(columns, values, strict=True)
            if column.tested
        ]
        matched = []
        for place in _bits(left):
            if _matches(place, tried, host, budget):
                matched.append(place)
                if table.hit_policy == "FIRST":
                    break
        outputs = [[cell(scope, host, budget) for cell in rules[place]] for place in matched]
        _record(scope, table, owner, columns, values, matched, outputs)
        if not matched:
            return default(scope, host, budget)
        hits = Hits(
            outputs,
            table.outputs,
            lambda: [order(scope, host, budget) for order in orders],
            table.aggregation,
            host,
            budget,
            trace.broken if isinstance(trace := scope[TRACE], Trace) else [],
        )
        return policy(hits)

    return run


def _matches(place: int, tried: Sequence[tuple[_Column, object, Frame]], host: Host, budget: Budget) -> bool:
    """Whether a rule that the plain cells leave over is met by the others."""
    for column, value, frame in tried:
        test = column.tested.get(place)
        if test is None and isinstance(value, list | dict):
            test = column.tested.get(~place)  # a plain cell, which a list of one may meet
        if test is not None:
            budget.charge()
            if test.closure(frame, host, budget) is not True:
                return False
    return True


def _column(place: int, column: Input, table: Table, types: Types, names: frozenset[str]) -> _Column:
    variable = CELL_INPUT if column.variable == INPUT else column.variable
    names |= {variable}
    open_bits = tested_bits = 0
    plain: dict[tuple[str, object], int] = {}
    tested: dict[int, Compiled] = {}
    for row, rule in enumerate(table.rules):
        cell = rule.tests[place]
        if cell.text in ANYTHING:
            open_bits |= 1 << row
            continue
        test = unary_tests(cell, names, variable)
        values = _plain_values(test)
        if values is None:
            tested_bits |= 1 << row
            tested[row] = test
            continue
        tested[~row] = test
        for value in values:
            plain[value] = plain.get(value, 0) | 1 << row
    return _Column(
        label=column.label or column.expression.text,
        value=formula(column.expression, names),
        type=types.find(column.expression.type),
        variable=variable,
        allowed=unary_tests(column.allowed, names) if column.allowed else None,
        open=open_bits,
        plain=plain,
        tested=tested,
        tested_bits=tested_bits,
    )


def _plain_values(test: Compiled) -> list[tuple[str, object]] | None:
    """The values of a cell that only lists values; None for any other."""
    tree = test.tree
    if not isinstance(tree, UnaryTests) or tree.negated or not tree.tests:
        return None
    found: list[tuple[str, object]] = []
    for item in tree.tests:
        if item.operator not in (None, "=") or not isinstance(item.operand, Literal):
            return None
        found.append((kind_of(item.operand.value), item.operand.value))
    return found


def _bits(number: int) -> list[int]:
    """The places of the ones, lowest first."""
    places = []
    while number:
        lowest = number & -number
        places.append(lowest.bit_length() - 1)
        number ^= lowest
    return places


def formula_list(values: str, names: frozenset[str]) -> Callable[[Scope, Host, Budget], Sequence[object]]:
    """The list of an output column's values, in the order in which they are written."""
    run = formula(f"[{values}]", names) if values else None

    def listed(scope: Scope, host: Host, budget: Budget) -> Sequence[object]:
        found = run(scope, host, budget) if run is not None else []
        return found if isinstance(found, list) else []

    return listed


def _default(table: Table, names: frozenset[str]) -> Run:
    """What the table gives when no rule matches: the default outputs, a count of zero, or null."""
    cells = [formula(output.default, names) if output.default else None for output in table.outputs]

    def run(scope: Scope, host: Host, budget: Budget) -> object:
        if not any(cells):
            return 0 if table.aggregation == "COUNT" and table.hit_policy == "COLLECT" else None
        values = [cell(scope, host, budget) if cell else None for cell in cells]
        if len(values) == 1:
            return values[0]
        return {output.name: value for output, value in zip(table.outputs, values, strict=True)}

    return run


def _record(
    scope: Scope,
    table: Table,
    owner: str,
    columns: Sequence[_Column],
    values: Sequence[object],
    matched: Sequence[int],
    outputs: Sequence[Sequence[object]],
) -> None:
    trace = scope[TRACE]
    if isinstance(trace, Trace):
        found = tuple(
            RuleTrace(
                place + 1,
                table.rules[place].id,
                {column.name: value for column, value in zip(table.outputs, row, strict=True)},
            )
            for place, row in zip(matched, outputs, strict=True)
        )
        read = tuple((column.label, value) for column, value in zip(columns, values, strict=True))
        trace.tables.append(TableTrace(owner, table.id, read, found))
