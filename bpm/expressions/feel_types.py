"""FEEL's types at run time: what `instance of` asks, what a typed parameter does to its argument (DMN 1.5, 10.3.2.9).

Types of a model (DMN item definitions) come from outside: whoever evaluates may put a mapping of names to types
into the scope under `TYPES`, a key that no expression can write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from bpm.expressions.feel_operators import at_midnight
from bpm.expressions.feel_time import Date
from bpm.expressions.feel_values import (
    BOOLEAN,
    CONTEXT,
    DATE,
    DATETIME,
    DAYS,
    FUNCTION,
    LIST,
    MONTHS,
    NULL,
    NUMBER,
    RANGE,
    STRING,
    TIME,
    FeelRange,
    kind_of,
)
from bpm.expressions.limits import Budget
from bpm.expressions.tree import ContextType, FunctionType, ListType, NamedType, RangeType, TypeNode

TYPES = "\0types"
"""Where the scope holds the types of the model, by name."""


class FeelType(Protocol):
    """A set of values with a name."""

    def accepts(self, value: object, budget: Budget) -> bool:
        """Whether a value other than null is one of the type; null is in every type that may be missing."""


@dataclass(frozen=True, slots=True)
class AnyType:
    """Every value."""

    def accepts(self, value: object, budget: Budget) -> bool:
        """True."""
        return True


@dataclass(frozen=True, slots=True)
class KindType:
    """The values of one kind, such as `number`."""

    kind: str

    def accepts(self, value: object, budget: Budget) -> bool:
        """Whether the value is of the kind."""
        return kind_of(value) == self.kind


@dataclass(frozen=True, slots=True)
class ListOfType:
    """`list<element>`."""

    element: FeelType

    def accepts(self, value: object, budget: Budget) -> bool:
        """Whether it is a list of such elements; null among them is none."""
        if not isinstance(value, list):
            return False
        budget.charge(len(value))
        return all(item is not None and self.element.accepts(item, budget) for item in value)


@dataclass(frozen=True, slots=True)
class RangeOfType:
    """`range<element>`."""

    element: FeelType

    def accepts(self, value: object, budget: Budget) -> bool:
        """Whether it is a range whose ends, where there are ends, are such elements."""
        if not isinstance(value, FeelRange):
            return False
        return all(end is None or self.element.accepts(end, budget) for end in (value.low, value.high))


@dataclass(frozen=True, slots=True)
class ContextOfType:
    """`context<name: type, ...>`: these entries at least."""

    entries: tuple[tuple[str, FeelType], ...]

    def accepts(self, value: object, budget: Budget) -> bool:
        """Whether it is a context that has the entries, each null or of its type."""
        if not isinstance(value, dict):
            return False
        return all(
            name in value and (value[name] is None or kind.accepts(value[name], budget)) for name, kind in self.entries
        )


@dataclass(frozen=True, slots=True)
class FunctionOfType:
    """`function<parameters> -> result`, told apart by the number of parameters alone: functions declare no result."""

    arity: int

    def accepts(self, value: object, budget: Budget) -> bool:
        """Whether it is a function of so many parameters."""
        return kind_of(value) == FUNCTION and getattr(value, "arity", None) == self.arity


ANY = AnyType()
BUILT_IN_TYPES: Mapping[str, FeelType] = {
    "Any": ANY,
    "Null": KindType(NULL),
    **{kind: KindType(kind) for kind in (NULL, NUMBER, STRING, BOOLEAN, DATE, TIME, DATETIME)},
    **{kind: KindType(kind) for kind in (DAYS, MONTHS, LIST, CONTEXT, RANGE, FUNCTION)},
    # as DMN 1.1 and 1.2 write them
    "dateTime": KindType(DATETIME),
    "dayTimeDuration": KindType(DAYS),
    "yearMonthDuration": KindType(MONTHS),
}


def resolve(node: TypeNode, known: Mapping[str, FeelType]) -> FeelType | None:
    """The type that a text names; None when a name in it is unknown."""
    if isinstance(node, NamedType):
        return known.get(node.name) or BUILT_IN_TYPES.get(node.name)
    if isinstance(node, ListType):
        element = resolve(node.element, known)
        return ListOfType(element) if element else None
    if isinstance(node, RangeType):
        element = resolve(node.element, known)
        return RangeOfType(element) if element else None
    if isinstance(node, ContextType):
        entries = [(name, resolve(kind, known)) for name, kind in node.entries]
        found = tuple((name, kind) for name, kind in entries if kind is not None)
        return ContextOfType(found) if len(found) == len(entries) else None
    if isinstance(node, FunctionType):
        return FunctionOfType(len(node.parameters))
    return None


def types_in(scope: Mapping[str, object]) -> Mapping[str, FeelType]:
    """The types that a scope brings."""
    try:
        return scope[TYPES]  # type: ignore[return-value]
    except KeyError:
        return {}


def is_instance(value: object, kind: FeelType, budget: Budget) -> bool:
    """`value instance of kind`: null is an instance of Null alone."""
    if value is None:
        return isinstance(kind, KindType) and kind.kind == NULL
    return kind.accepts(value, budget)


def coerce(value: object, kind: FeelType, budget: Budget) -> object:
    """A value as one of a type (DMN 1.5, 10.3.2.9.4).

    As it is; a list of one as its item, an item as a list of one, a date as its midnight. Null, with a warning,
    when none of these fits.
    """
    if value is None or kind.accepts(value, budget):
        return value
    if isinstance(value, list) and len(value) == 1 and kind.accepts(value[0], budget):
        return value[0]
    if kind.accepts([value], budget):
        return [value]
    if isinstance(value, Date) and kind.accepts(at_midnight(value), budget):
        return at_midnight(value)
    budget.warn(f"a {kind_of(value)} is not of the type that is asked for")
    return None
