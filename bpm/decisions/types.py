"""Item definitions as types of FEEL: what a `typeRef` means in a model (DMN 1.5, 7.3.2 and 7.3.3).

Resolved when first asked, because item definitions may refer to each other in any order, and to themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bpm.decisions.model import Decisions, ItemType, Model
from bpm.expressions import NO_HOST, ExpressionError, compile_unary_tests
from bpm.expressions.feel_time import NotTemporal, parse_temporal
from bpm.expressions.feel_types import ANY, BUILT_IN_TYPES, FeelType, KindType, resolve
from bpm.expressions.feel_values import DATE, DATETIME, DAYS, FUNCTION, MONTHS, TIME, kind_of
from bpm.expressions.limits import Budget
from bpm.expressions.parse_feel import parse_feel
from bpm.expressions.tree import InstanceOf

_PREFIXES = ("feel:", "feel.")


class Types(Mapping[str, FeelType]):
    """The types that a model knows by name, those of its imports included (`imported.tPerson`).

    As a mapping it is what expressions see: `256 instance of tByte` does not ask for allowed values (the compatibility
    kit, 0070). `find` gives what values are made to be: there allowed values count."""

    def __init__(self, decisions: Decisions, model: Model) -> None:
        self._model = model
        self._own = {item.name: item for item in model.types}
        by_namespace = {other.namespace: other for other in decisions.models}
        self._imported: dict[str, Types] = {}
        for known in model.imports:
            other = by_namespace.get(known.namespace)
            if other is not None and other is not model:
                self._imported[known.name] = Types(decisions, other)
        self._found: dict[str, FeelType | None] = {}

    def __getitem__(self, name: str) -> FeelType:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found.unlimited() if isinstance(found, _Item) else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)

    def find(self, name: str) -> FeelType | None:
        """The type that a typeRef names; None for no name and for an unknown one, which asks nothing of a value."""
        if name not in self._found:
            self._found[name] = self._resolve(name) if name else None
        return self._found[name]

    def result_of(self, name: str) -> FeelType | None:
        """What a function of that type gives; the type itself where it is no function type."""
        item = self._own.get(name)
        return self.find(item.result) if item is not None and item.function else self.find(name)

    def _resolve(self, name: str) -> FeelType | None:
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        if name in self._own:
            return _Item(self._own[name], self)
        if name in BUILT_IN_TYPES:
            return BUILT_IN_TYPES[name]
        prefix, dot, rest = name.partition(".")
        if dot and prefix in self._imported:
            return self._imported[prefix].find(rest)
        if "" in self._imported and self._imported[""].find(name) is not None:
            return self._imported[""].find(name)
        if ":" in name:
            return self.find(name.rpartition(":")[2])
        return self._written(name)

    def _written(self, name: str) -> FeelType | None:
        """A type written out, such as `list<number>`."""
        if "<" not in name:
            return None
        try:
            tree = parse_feel(f"null instance of {name}")
        except ExpressionError:
            return None
        return resolve(tree.type, self) if isinstance(tree, InstanceOf) else None


class _Item:
    """The values of an item definition."""

    def __init__(self, item: ItemType, types: Types, *, limited: bool = True) -> None:
        self._item = item
        self._types = types
        self._limited = limited

    def unlimited(self) -> _Item:
        """The same type without its allowed values."""
        return _Item(self._item, self._types, limited=False)

    def read(self, value: object) -> object:
        """A value from outside, its parts read by their types."""
        if self._item.collection and isinstance(value, list):
            return [self._read_one(part) for part in value]
        return self._read_one(value)

    def _read_one(self, value: object) -> object:
        if self._item.components and isinstance(value, dict):
            parts = {part.name: _Item(part, self._types) for part in self._item.components}
            return {name: parts[name].read(part) if name in parts else part for name, part in value.items()}
        return read_as(value, self._types.find(self._item.base))

    def accepts(self, value: object, budget: Budget) -> bool:
        """Whether the value is one: null parts are, missing ones are not."""
        item = self._item
        budget.charge()
        if item.collection:
            if not isinstance(value, list):
                return False
            fits = all(part is None or self._accepts_one(part, budget) for part in value)
        else:
            fits = self._accepts_one(value, budget)
        return fits and (not self._limited or _met(item.constraint, value, budget))

    def _accepts_one(self, value: object, budget: Budget) -> bool:
        item = self._item
        if item.function:
            return kind_of(value) == FUNCTION
        if item.components and not (isinstance(value, dict) and self._accepts_parts(value, budget)):
            return False
        base = self._types.find(item.base) or ANY
        if not self._limited:
            return (base.unlimited() if isinstance(base, _Item) else base).accepts(value, budget)
        return base.accepts(value, budget) and _met(item.allowed, value, budget)

    def _part(self, part: ItemType) -> _Item:
        return _Item(part, self._types, limited=self._limited)

    def _accepts_parts(self, value: dict[str, object], budget: Budget) -> bool:
        for part in self._item.components:
            if part.name not in value:
                return False
            found = value[part.name]
            if found is not None and not self._part(part).accepts(found, budget):
                return False
        return True


def read_as(value: object, kind: FeelType | None) -> object:
    """A value from outside as one of a type, as far as JSON is to blame: it has no dates, only their texts."""
    if isinstance(kind, KindType) and kind.kind in _TEMPORAL and isinstance(value, str):
        try:
            return parse_temporal(value.strip())
        except NotTemporal:
            return value
    return kind.read(value) if isinstance(kind, _Item) else value


_TEMPORAL = frozenset({DATE, TIME, DATETIME, DAYS, MONTHS})


def _met(tests: str, value: object, budget: Budget) -> bool:
    """Whether a value meets unary tests; tests that cannot be read limit nothing."""
    if not tests:
        return True
    try:
        compiled = compile_unary_tests(tests)
    except ExpressionError:
        return True
    return compiled.closure({"?": value}, NO_HOST, budget) is True
