"""The boundary through which variables come in: JSON values with exact numbers, of a bounded size.

What passes looks as the database will give it back (`bpm.store.values`), so that what is decided now is what replay
decides later: Python's dates, times and durations as `bpm.expressions.typed` writes them, a UUID as its text. And it is
refused before it costs anything: a text of ten characters can mean a number of megabytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any
from uuid import UUID

from django.conf import settings

from bpm.engine.errors import InvalidVariables
from bpm.expressions.typed import Untyped, canonical, is_typed, written
from bpm.store.values import dumps, in_order

__all__ = ["checked", "dumps", "loads"]

# The whole of what one call brings, as JSON text. Settings: BPM_VARIABLES_LIMIT; BPM_VARIABLE_LIMIT, of one of them.
SIZE_LIMIT = 4 * 1024 * 1024
NAME_LIMIT = 255
DEPTH_LIMIT = 100
# FEEL's decimal128 reaches to 10^6144; further out a short text makes a number of megabytes.
EXPONENT_LIMIT = 6144


def checked(variables: Mapping[str, Any] | None, *, what: str = "variables") -> dict[str, Any]:
    """The variables as the engine keeps them: a new dict of JSON values. None gives none.

    Raises InvalidVariables, saying where: no map, a name that is none, a value that is not JSON, NaN, NUL characters,
    more than the limit.
    """
    if variables is None:
        return {}
    if not isinstance(variables, Mapping):
        raise InvalidVariables(f"{what} must be a map of names to values, not {_kind(variables)}")
    limit = int(getattr(settings, "BPM_VARIABLES_LIMIT", SIZE_LIMIT))
    size = _Size(limit=limit, each=int(getattr(settings, "BPM_VARIABLE_LIMIT", limit)), what=what)
    found: dict[str, Any] = {}
    for name, value in variables.items():
        if not isinstance(name, str) or not name or len(name) > NAME_LIMIT:
            shown = repr(name)[:60]
            raise InvalidVariables(f"{what}: {shown} is no name; a name is a text of 1 to {NAME_LIMIT} characters")
        size.begin(name)
        found[_text(name, f"the name {name!r}")] = _value(value, name, 0, size)
    return in_order(found)


def loads(text: str | bytes) -> Any:
    """JSON text to values with exact numbers. Raises InvalidVariables for what is no JSON (NaN and Infinity, too)."""
    try:
        return json.loads(text, parse_float=_decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise InvalidVariables(f"this is no JSON: {problem}") from None


@dataclass(slots=True)
class _Size:
    """Counts what has come, so that a huge value is refused before it is copied. `each`: the limit of one variable."""

    limit: int
    each: int
    what: str
    used: int = 0
    before: int = 0
    name: str = ""

    def begin(self, name: str) -> None:
        self.before, self.name = self.used, name

    def add(self, size: int) -> None:
        self.used += size
        if self.used > self.limit:
            raise InvalidVariables(f"{self.what} are larger than {self.limit} bytes", code="too_large")
        if self.used - self.before > self.each:
            raise InvalidVariables(f"{self.what}: {self.name} is larger than {self.each} bytes", code="too_large")


def _value(value: Any, path: str, depth: int, size: _Size) -> Any:
    if depth > DEPTH_LIMIT:
        raise InvalidVariables(f"{size.what}: {path[:80]} is nested deeper than {DEPTH_LIMIT} levels")
    if value is None or value is True or value is False:
        size.add(4)
        return value
    if isinstance(value, str):
        size.add(len(value))
        text = _text(value, path)
        size.add(len(text.encode()) - len(text))
        return text
    if isinstance(value, int | float | Decimal):
        return _number(value, path, size)
    if isinstance(value, Mapping):
        return _typed(value, path, size) if is_typed(value) else _map(value, path, depth, size)
    if isinstance(value, list | tuple):
        size.add(2 + len(value))
        return [_value(item, f"{path}[{index}]", depth + 1, size) for index, item in enumerate(value)]
    return _of_python(value, path, size)


def _typed(value: Mapping[str, Any], path: str, size: _Size) -> dict[str, Any]:
    """A date, time, duration or file in its JSON form (`bpm.expressions.typed`)."""
    try:
        found = canonical(value)
    except Untyped as fault:
        raise InvalidVariables(f"{size.what}: {path[:80]}: {fault}") from None
    size.add(len(dumps(found)))
    return found


def _of_python(value: Any, path: str, size: _Size) -> Any:
    """What JSON has no form for: dates and the like become typed values, a UUID its text."""
    if isinstance(value, UUID):
        size.add(38)
        return str(value)
    found = written(value)
    if found is None:
        raise InvalidVariables(f"{size.what}: {path} is {_kind(value)}, which is no JSON value")
    size.add(len(dumps(found)))
    return found


def _map(value: Mapping[Any, Any], path: str, depth: int, size: _Size) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidVariables(f"{size.what}: {path} has the key {key!r:.60}, which is no text")
        size.add(len(key) + 4)
        found[_text(key, path)] = _value(item, f"{path}.{key}", depth + 1, size)
    return in_order(found)


def _number(value: int | float | Decimal, path: str, size: _Size) -> int | Decimal:
    if isinstance(value, int):
        # Counted before it is written out: a shift makes an int of megabytes.
        size.add(value.bit_length() // 3 + 1)
        if value.bit_length() > EXPONENT_LIMIT * 4:
            raise InvalidVariables(f"{size.what}: {path} is a number beyond 10^{EXPONENT_LIMIT}")
        return int(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise InvalidVariables(f"{size.what}: {path} is {value}, which is no JSON number")
        value = Decimal(repr(value))
    if not value.is_finite():
        raise InvalidVariables(f"{size.what}: {path} is {value}, which is no JSON number")
    exponent = int(value.as_tuple().exponent)
    if abs(value.adjusted()) > EXPONENT_LIMIT or abs(exponent) > EXPONENT_LIMIT:
        raise InvalidVariables(f"{size.what}: {path} is a number beyond 10^{EXPONENT_LIMIT}")
    size.add(len(value.as_tuple().digits) + 8)
    # As jsonb gives it back: no exponent; what has no fraction part is an int; zero has no sign.
    if exponent >= 0:
        return int(value)
    return abs(value) if value.is_zero() else value


def _text(text: str, path: str) -> str:
    if "\x00" in text:
        raise InvalidVariables(f"{path[:80]!r} holds a NUL character, which PostgreSQL does not store")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidVariables(f"{path[:80]!r} holds half a surrogate pair, which is no Unicode text") from None
    return str(text)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text[:60]} is no number") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _kind(value: Any) -> str:
    return type(value).__name__
