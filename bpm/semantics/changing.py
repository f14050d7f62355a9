"""`dataclasses.replace` for entities of the state and commands, in a fifth of the time: replay and the live engine do
little else.

They are frozen dataclasses with slots and without a `__post_init__`, so a copy of the slots is a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

type Get = Callable[[Any], Any]
type Set = Callable[[Any, Any], None]


def changed[T](entity: T, **changes: Any) -> T:
    """The entity with other values in these fields. KeyError for a field that there is none of."""
    of: Any = type(entity)
    slots, setters = _slots(of)
    twin: T = object.__new__(of)
    for get, put in slots:
        put(twin, get(entity))
    for name, value in changes.items():
        setters[name](twin, value)
    return twin


@cache
def _slots(of: type[Any]) -> tuple[tuple[tuple[Get, Set], ...], dict[str, Set]]:
    """(get and set of each slot, set by name)."""
    slots = {field.name: getattr(of, field.name) for field in fields(of)}
    pairs = tuple((slot.__get__, slot.__set__) for slot in slots.values())
    return pairs, {name: slot.__set__ for name, slot in slots.items()}
