"""What a DMN file says, as frozen data (DMN 1.5, 6 to 10): made by `bpm.compiler.dmn`, evaluated by `evaluate`.

A `Decisions` is self-contained: the file's own model first, then those it imports. References between elements are
`namespace#id`, with an empty namespace for the own model. A type is named as the file names it (`typeRef`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

type Language = Literal["feel", "juel"]

# -- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expression:
    """A literal expression. type: what its value is made to be."""

    text: str
    type: str = ""
    language: Language = "feel"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a context, a binding of an invocation, a column of a relation: something with a name."""

    name: str
    value: Logic | None = None
    type: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """A boxed context. Each entry sees those before it; a last one without a name is the result of the whole."""

    entries: tuple[Entry, ...]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of the function that an expression gives, with arguments by name."""

    function: Logic | None
    bindings: tuple[Entry, ...]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition. kind: FEEL, or Java and PMML, which are never run (their result is null)."""

    parameters: tuple[Entry, ...]
    body: Logic | None
    kind: str = "FEEL"
    type: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A boxed list."""

    items: tuple[Logic, ...]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A list of contexts written as a table."""

    columns: tuple[Entry, ...]
    rows: tuple[Items, ...]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Conditional:
    """Boxed if, then and else."""

    condition: Logic | None
    positive: Logic | None
    negative: Logic | None
    type: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """A boxed filter."""

    source: Logic | None
    match: Logic | None
    type: str = ""


@dataclass(frozen=True, slots=True)
class Iteration:
    """A boxed for, some or every."""

    kind: Literal["for", "some", "every"]
    variable: str
    domain: Logic | None
    body: Logic | None
    type: str = ""


# -- decision tables -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Input:
    """An input column. variable: the name of its value in the cells; allowed: unary tests that the value must meet."""

    expression: Expression
    label: str = ""
    variable: str = "?"
    allowed: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """An output column. values: its allowed values, by priority; default: its value when no rule matches."""

    name: str
    label: str = ""
    type: str = ""
    values: str = ""
    default: Expression | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A row: one test a column (`-` or nothing is met by anything), one expression an output, a note."""

    tests: tuple[Expression, ...]
    outputs: tuple[Expression, ...]
    id: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A decision table. hit_policy: `UNIQUE`, `RULE ORDER` and so on; aggregation: SUM, MIN, MAX, COUNT or ""."""

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    rules: tuple[Rule, ...]
    hit_policy: str = "UNIQUE"
    aggregation: str = ""
    id: str = ""
    type: str = ""


type Logic = Expression | Context | Invocation | Function | Items | Relation | Conditional | Filter | Iteration | Table


# -- requirements graph ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InputData:
    """A value that comes from outside."""

    id: str
    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision. name: what its result is called; title: what people call it; requires: references; tag: what people
    call this version of it."""

    id: str
    name: str
    logic: Logic | None = None
    type: str = ""
    requires: tuple[str, ...] = ()
    title: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A business knowledge model: a function."""

    id: str
    name: str
    function: Function | None = None
    type: str = ""
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """A decision service: a function that evaluates its output decisions; its parameters are the input data, then the
    input decisions, in order."""

    id: str
    name: str
    outputs: tuple[str, ...] = ()
    input_data: tuple[str, ...] = ()
    input_decisions: tuple[str, ...] = ()
    type: str = ""


type Element = InputData | Decision | Knowledge | Service


@dataclass(frozen=True, slots=True)
class ItemType:
    """An item definition: a base type or components, perhaps a list of them, perhaps limited to some values.

    allowed: unary tests on the value (on each item of a collection); constraint: on the value as a whole."""

    name: str
    base: str = ""
    collection: bool = False
    components: tuple[ItemType, ...] = ()
    allowed: str = ""
    constraint: str = ""
    function: bool = False
    result: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """Another model, known here by a name ("" for none: its names are the own model's too)."""

    name: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Model:
    """One DMN file."""

    namespace: str
    name: str = ""
    id: str = ""
    imports: tuple[Import, ...] = ()
    types: tuple[ItemType, ...] = ()
    elements: tuple[Element, ...] = ()


@dataclass(frozen=True, slots=True)
class Decisions:
    """A file's model and all that it imports, own model first."""

    models: tuple[Model, ...]

    @property
    def own(self) -> Model:
        """The model of the file itself."""
        return self.models[0]

    @property
    def callable(self) -> tuple[Decision | Service, ...]:
        """What can be asked for: the own decisions and services."""
        return tuple(element for element in self.own.elements if isinstance(element, Decision | Service))

    def decision(self, key: str) -> Decision | Service | None:
        """The own decision or service of that id or, failing that, name."""
        callable_ = self.callable
        by_id = (element for element in callable_ if element.id == key)
        return next(by_id, None) or next((element for element in callable_ if key in _names(element)), None)


def _names(element: Decision | Service) -> tuple[str, ...]:
    return (element.name, element.title) if isinstance(element, Decision) else (element.name,)
