"""Built-in functions: how they are declared and how arguments find their parameters (DMN 1.5, 10.3.4 and 10.3.2.13.2).

A function is one or more overloads, each declared by a text such as `string: string, start position: number,
length: number?`:

    name: kind|kind    what the argument must be; `any` takes everything, null too
    ...?               may be left out
    ...~               may be null
    *name: any         the last one: all arguments as one list; a single list is that list (`sum(1, 2)`, `sum([1, 2])`)
    **name: any        the last one: all remaining arguments as one list, whatever they are (`append(list, 1, 2)`)

An argument that does not fit is made to fit as the standard says: an item becomes a list of one, a list of one
its item. The first overload that takes the arguments answers. Where none does, or the function refuses, the
answer is null with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from typing import NamedTuple

from bpm.expressions.feel_time import NotTemporal
from bpm.expressions.feel_values import CHARACTERS_A_STEP, LIST, integer_part, kind_of, register_function_type
from bpm.expressions.host import Host
from bpm.expressions.limits import Budget


class Refused(Exception):
    """What a function raises to answer null; it says why."""


class Call(NamedTuple):
    """The surroundings of one call, the first argument of every function here."""

    host: Host
    budget: Budget


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter of an overload; kinds is None where any value will do."""

    name: str
    kinds: frozenset[str] | None
    optional: bool
    nullable: bool

    def take(self, value: object) -> tuple[bool, object]:
        """Whether the value fits, and the value as it fits."""
        if self.kinds is None or kind_of(value) in self.kinds:
            return True, value
        if value is None:
            return self.nullable, value
        if LIST in self.kinds:
            return True, [value]
        if isinstance(value, list) and len(value) == 1 and kind_of(value[0]) in self.kinds:
            return True, value[0]
        return False, None


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function. rest: the last slot takes "one list" or "the rest" of the arguments, or "" """

    slots: tuple[Slot, ...]
    rest: str
    body: Callable[..., object]

    def arrange(self, arguments: Sequence[object], named: Mapping[str, object] | None) -> list[object] | None:
        """The arguments in the order of the slots, made to fit; None when they do not."""
        if named is not None:
            if not named.keys() <= {slot.name for slot in self.slots}:
                return None
            given = [(slot, slot.name in named, named.get(slot.name)) for slot in self.slots]
        else:
            values = self._gathered(arguments)
            if len(values) > len(self.slots):
                return None
            missing = len(self.slots) - len(values)
            known = [True] * len(values) + [False] * missing
            given = list(zip(self.slots, known, [*values, *[None] * missing], strict=True))
        found = []
        for slot, there, value in given:
            fits, value = slot.take(value) if there else (slot.optional, None)
            if not fits:
                return None
            found.append(value)
        return found

    def _gathered(self, arguments: Sequence[object]) -> list[object]:
        fixed = len(self.slots) - 1
        if self.rest == "one list" and not (len(arguments) == 1 and isinstance(arguments[0], list)):
            return [list(arguments)] if arguments else []
        if self.rest == "the rest" and len(arguments) > fixed:
            return [*arguments[:fixed], list(arguments[fixed:])]
        return list(arguments)


class BuiltIn:
    """A function of the language, as a value."""

    __slots__ = ("name", "overloads")

    def __init__(self, name: str) -> None:
        self.name = name
        self.overloads: list[Overload] = []

    @property
    def arity(self) -> int | None:
        """How many parameters its first overload has; None when it takes any number."""
        first = self.overloads[0]
        return None if first.rest else len(first.slots)

    def invoke(
        self, arguments: Sequence[object], named: Mapping[str, object] | None, host: Host, budget: Budget
    ) -> object:
        """The result of the first overload that takes the arguments; null and a warning when none does."""
        for overload in self.overloads:
            arranged = overload.arrange(arguments, named)
            if arranged is not None:
                budget.charge(_effort(arranged))
                try:
                    return overload.body(Call(host, budget), *arranged)
                except (Refused, NotTemporal) as error:
                    budget.warn(f"{self.name}: {error}")
                except (DecimalException, OverflowError):
                    budget.warn(f"{self.name}: no result with these values")
                return None
        values = arguments if named is None else named.values()
        kinds = ", ".join(kind_of(value) for value in values)
        budget.warn(f"{self.name} cannot be called with ({kinds})")
        return None


register_function_type(BuiltIn)


type Declaration = tuple[str, str, Callable[..., object]]
"""Name, signature, body."""


def declare(declarations: Iterable[Declaration]) -> dict[str, BuiltIn]:
    """The functions of a table; overloads of one name in the order of the table."""
    functions: dict[str, BuiltIn] = {}
    for name, signature, body in declarations:
        functions.setdefault(name, BuiltIn(name)).overloads.append(_overload(signature, body))
    return functions


def _overload(signature: str, body: Callable[..., object]) -> Overload:
    parts = [part.strip() for part in signature.split(",") if part.strip()]
    rest = ""
    if parts and parts[-1].startswith("*"):
        rest = "the rest" if parts[-1].startswith("**") else "one list"
        parts[-1] = parts[-1].lstrip("*")
    return Overload(tuple(_slot(part) for part in parts), rest, body)


def _slot(part: str) -> Slot:
    name, _, kinds = part.partition(":")
    optional, nullable = "?" in kinds, "~" in kinds
    kinds = kinds.strip(" ?~")
    return Slot(name, None if kinds == "any" else frozenset(kinds.split("|")), optional, nullable)


def _effort(values: Iterable[object]) -> int:
    """Steps that looking once at every item and character of the arguments is worth."""
    steps = 0
    for value in values:
        if isinstance(value, list):
            steps += len(value) // 8
        elif isinstance(value, str):
            steps += len(value) // CHARACTERS_A_STEP
    return steps


def whole_number(value: int | Decimal) -> int:
    """A number as an int, what follows the point left out: `substring("foobar", 3.8)` is "obar" (table 73)."""
    return integer_part(value)
