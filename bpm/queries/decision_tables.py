"""How a decision comes about, ready to be shown: its table and those of all that it requires, with the rules that
matched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any
from uuid import UUID

from bpm.decisions import Decisions
from bpm.decisions.model import Decision, Element, Expression, Input, InputData, Knowledge, Service, Table
from bpm.expressions import ExpressionError, compile_text
from bpm.store import decisions


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `given`: whether `value` is what the input was."""

    label: str
    text: str
    type: str
    given: bool = False
    value: Any = None


@dataclass(frozen=True, slots=True)
class Row:
    """A rule as the file writes it; `matched`: it did."""

    number: int
    id: str
    tests: tuple[str, ...]
    outputs: tuple[str, ...]
    note: str
    matched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A decision on the way: a table, or an expression (`text`), or something that is only named (`kind`).

    `evaluated`: whether the trace that was given tells of it.
    """

    id: str
    title: str
    kind: str
    text: str = ""
    hit_policy: str = ""
    inputs: tuple[Column, ...] = ()
    outputs: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    evaluated: bool = False

    @property
    def matched(self) -> int:
        """How many rules matched."""
        return sum(row.matched for row in self.rows)

    @property
    def noted(self) -> bool:
        """Whether any rule has a note."""
        return any(row.note for row in self.rows)


def parts_of(definition_id: UUID, tables: Sequence[Mapping[str, Any]] = ()) -> tuple[Part, ...]:
    """The decision of that definition and all that it requires, nearest first, each with what the trace `tables` (as
    history has it) tells of it. KeyError where there is no such definition.
    """
    definition = decisions.load(definition_id)
    return tuple(
        part
        for element in _reached(definition.decisions, definition.key)
        if not isinstance(element, InputData)
        for part in _parts(element, tables)
    )


def variables_of(definition_id: UUID) -> tuple[str, ...]:
    """The variables that the decision reads, as far as its inputs tell; in order of appearance. KeyError as above."""
    definition = decisions.load(definition_id)
    found = _reached(definition.decisions, definition.key)
    known = {name for element in found if not isinstance(element, InputData) for name in _names(element)}
    read = [element.name for element in found if isinstance(element, InputData)]
    for element in found:
        for table in _tables(element):
            for column in table.inputs:
                read += sorted(_read_by(column) - known)
    return tuple(dict.fromkeys(read))


def _reached(found: Decisions, key: str) -> list[Element]:
    """The element of that key and all that it requires, nearest first, each once."""
    elements = {(model.namespace, element.id): element for model in found.models for element in model.elements}
    waiting = [(found.own.namespace, key)]
    reached: dict[tuple[str, str], Element] = {}
    while waiting:
        name = waiting.pop(0)
        if name in elements and name not in reached:
            reached[name] = elements[name]
            for reference in _requires(elements[name]):
                namespace, _, id = reference.rpartition("#")
                waiting.append((namespace or name[0], id))
    return list(reached.values())


def _requires(element: Element) -> tuple[str, ...]:
    if isinstance(element, Decision | Knowledge):
        return element.requires
    return element.outputs + element.input_data + element.input_decisions if isinstance(element, Service) else ()


def _parts(element: Element, tables: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    title = getattr(element, "title", "") or element.name or element.id
    nested = list(_tables(element))
    for table in nested:
        yield _part(element.id, title, table, tables)
    if not nested:
        logic = getattr(element, "logic", None) or getattr(element, "function", None)
        text = logic.text if isinstance(logic, Expression) else ""
        yield Part(id=element.id, title=title, kind=type(logic or element).__name__.lower(), text=text)


def _part(id: str, title: str, table: Table, tables: Sequence[Mapping[str, Any]]) -> Part:
    # A function's table may have been evaluated several times: all its rules that matched, the inputs of the last time.
    told = [one for one in tables if (one["decision"], one["table"]) == (id, table.id)]
    matched = {rule["number"] for one in told for rule in one["rules"]}
    given = [value for _, value in told[-1]["inputs"]] if told else []
    inputs = [
        Column(column.label or column.expression.text, column.expression.text, column.expression.type)
        for column in table.inputs
    ]
    if len(given) == len(inputs):
        inputs = [Column(one.label, one.text, one.type, True, value) for one, value in zip(inputs, given, strict=True)]
    return Part(
        id=id,
        title=title,
        kind="table",
        hit_policy=" ".join(filter(None, (table.hit_policy, table.aggregation))),
        inputs=tuple(inputs),
        outputs=tuple(Column(one.label or one.name, one.name, one.type) for one in table.outputs),
        rows=tuple(
            Row(
                number,
                rule.id,
                tuple(cell.text for cell in rule.tests),
                tuple(cell.text for cell in rule.outputs),
                rule.note,
                number in matched,
            )
            for number, rule in enumerate(table.rules, 1)
        ),
        evaluated=bool(told),
    )


def _tables(value: Any) -> Iterator[Table]:
    """The tables in an element, however deep they stand in its boxed expressions."""
    if isinstance(value, Table):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _tables(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _tables(getattr(value, field.name))


def _names(element: Element) -> Iterator[str]:
    """By what names others see an element's result."""
    yield from (element.id, element.name)
    for table in _tables(element):
        yield from (output.name for output in table.outputs)


def _read_by(column: Input) -> frozenset[str]:
    try:
        return frozenset(compile_text(column.expression.text, language=column.expression.language).names)
    except ExpressionError:
        return frozenset()
