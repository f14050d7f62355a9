"""States side by side: live, replayed and stored must be one."""

from __future__ import annotations

from typing import Any

from bpm.semantics.state import ENTITIES, State, field_names

_HEADER = ("version", "counter")


def compare(live: State, replayed: State, stored: State | None = None) -> tuple[str, ...]:
    """Every difference as a sentence, "token 3 (Ship): state is WAITING live, ACTIVE replayed"; nothing when equal.

    `stored` is left out where there is no database. What a state knows of itself (`known`, `index`) is not compared.
    """
    states = {"live": live, "replayed": replayed} | ({} if stored is None else {"stored": stored})
    found = [
        f"the instance: {said}"
        for name in _HEADER
        if (said := _said(name, {side: getattr(state, name) for side, state in states.items()}))
    ]
    for kind, (_, attribute) in ENTITIES.items():
        tables = {side: getattr(state, attribute) for side, state in states.items()}
        for key in sorted({key for table in tables.values() for key in table}):
            found += _entity(kind, key, {side: table.get(key) for side, table in tables.items()})
    return tuple(found)


def _entity(kind: str, key: Any, sides: dict[str, Any]) -> list[str]:
    there = [entity for entity in sides.values() if entity is not None]
    if len(there) == len(sides) and all(entity == there[0] and repr(entity) == repr(there[0]) for entity in there):
        return []
    name = f"{kind} {key}" + (f" ({there[0].node})" if hasattr(there[0], "node") else "")
    lacking = [side for side, entity in sides.items() if entity is None]
    if lacking:
        having = [side for side, entity in sides.items() if entity is not None]
        return [f"{name} is there {' and '.join(having)}, not {' or '.join(lacking)}"]
    found = []
    for field in field_names(kind):
        said = _said(field, {side: getattr(entity, field) for side, entity in sides.items()})
        if said:
            found.append(f"{name}: {said}")
    return found


def _said(name: str, values: dict[str, Any]) -> str:
    """ "state is A live, B replayed", or nothing where all are the same."""
    first, *others = values.values()
    if all(_same(first, other) for other in others):
        return ""
    return f"{name} is " + ", ".join(f"{value!r} {side}" for side, value in values.items())


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON and as moments: true is no 1, a list and a tuple of the same are the same, 1 and 1.0 are."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)
