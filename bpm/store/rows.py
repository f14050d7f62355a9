"""Entities of the core and rows of the runtime tables: one table says which field is which column, and how it is
written.

The same table loads a part of an instance, loads all of it, and writes what a commit has touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any
from uuid import UUID

from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import ENTITIES, Entity, State, build, key_of
from bpm.store import ids
from bpm.store.values import moment

type Encode = Callable[[UUID, Any], Any]
type Decode = Callable[[Any], Any]


def _same(instance: UUID, value: Any) -> Any:
    return value


def _reference(instance: UUID, value: int) -> str:
    """0 is the instance itself."""
    return ids.text(instance, value)


def _optional_reference(instance: UUID, value: int | None) -> str | None:
    """0 and None are nothing at all."""
    return ids.text(instance, value) if value else None


def _listed(instance: UUID, value: tuple[str, ...]) -> list[str]:
    return list(value)


def _read(value: Any) -> Any:
    return value


def _ordinal(value: str) -> int:
    return int(value[-8:], 16)


def _optional_ordinal(value: str | None) -> int:
    return 0 if value is None else _ordinal(value)


def _ordinal_or_none(value: str | None) -> int | None:
    return None if value is None else _ordinal(value)


def _moment(value: str | None) -> datetime | None:
    return None if value is None else moment(value)


@dataclass(frozen=True, slots=True)
class Column:
    """One field of an entity as a column."""

    field: str
    name: str
    write: Encode = _same
    read: Decode = _read


_ID = Column("id", "ordinal")
_VERSION = Column("version", "version")
_TOKEN = Column("token", "token_id", _reference, _ordinal)
_NODE = Column("node", "node_id")
_STATE = Column("state", "state")

# kind -> (table, columns): every field of the core's entity is a column.
TABLES: dict[str, tuple[str, tuple[Column, ...]]] = {
    "instance": (
        "process_instances",
        (
            _ID,
            _STATE,
            Column("definition", "definition_key"),
            Column("business_key", "business_key"),
            Column("caller", "caller"),
            _VERSION,
        ),
    ),
    "token": (
        "tokens",
        (
            _ID,
            _NODE,
            _STATE,
            Column("scope", "scope_id", _reference, _ordinal),
            Column("parent", "parent_token_id", _optional_reference, _optional_ordinal),
            Column("flow", "flow_id"),
            Column("step", "step"),
            Column("local", "local_scope"),
            Column("index", "loop_index"),
            _VERSION,
        ),
    ),
    "task": (
        "external_tasks",
        (
            _ID,
            _TOKEN,
            _NODE,
            Column("topic", "topic"),
            _STATE,
            Column("retries", "retries"),
            Column("retry_at", "retry_at", read=_moment),
            Column("priority", "priority"),
            Column("lock_owner", "lock_owner"),
            Column("lock_expire_at", "lock_expire_at", read=_moment),
            _VERSION,
        ),
    ),
    "timer": (
        "timers",
        (
            _ID,
            _TOKEN,
            _NODE,
            Column("fire_at", "fire_at", read=_moment),
            Column("schedule", "schedule"),
            _STATE,
            _VERSION,
        ),
    ),
    "user_task": (
        "user_tasks",
        (
            _ID,
            _TOKEN,
            _NODE,
            _STATE,
            Column("assignee", "assignee"),
            Column("candidate_users", "candidate_users", _listed, tuple),
            Column("candidate_groups", "candidate_groups", _listed, tuple),
            Column("due", "due"),
            Column("follow_up", "follow_up"),
            Column("priority", "priority"),
            Column("form_key", "form_key"),
            Column("owner", "owner"),
            Column("delegation", "delegation"),
            _VERSION,
        ),
    ),
    "ticket": (
        "runtime_wait_ticket",
        (
            _ID,
            _TOKEN,
            _NODE,
            Column("kind", "kind"),
            Column("name", "name"),
            Column("correlation", "correlation"),
            _STATE,
            Column("data", "data"),
            _VERSION,
        ),
    ),
    "incident": (
        "incidents",
        (
            _ID,
            _TOKEN,
            _NODE,
            Column("kind", "kind"),
            Column("message", "message"),
            Column("task", "task_id", _optional_reference, _ordinal_or_none),
            _STATE,
            _VERSION,
        ),
    ),
    "variable": (
        "variables",
        (
            Column("scope", "scope"),
            Column("name", "name"),
            Column("value", "value"),
            Column("present", "present"),
            _VERSION,
        ),
    ),
    "link": (
        "token_links",
        (
            Column("parent", "parent_token_id", _reference, _ordinal),
            Column("child", "child_token_id", _reference, _ordinal),
            Column("type", "link_type"),
            _VERSION,
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class _Plan:
    """The columns of a kind, taken apart once: most of them are copied as they are, in one go."""

    fields: tuple[str, ...]
    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    columns: Callable[[Any], tuple[Any, ...]]
    writes: tuple[tuple[str, Encode], ...]
    reads: tuple[tuple[str, Decode], ...]
    make: Callable[..., Entity]


def _plan(kind: str) -> _Plan:
    columns = TABLES[kind][1]
    fields, names = tuple(c.field for c in columns), tuple(c.name for c in columns)
    return _Plan(
        fields=fields,
        names=names,
        values=attrgetter(*fields),
        columns=itemgetter(*names),
        writes=tuple((c.name, c.write) for c in columns if c.write is not _same),
        reads=tuple((c.field, c.read) for c in columns if c.read is not _read),
        make=ENTITIES[kind][0],
    )


_PLANS = {kind: _plan(kind) for kind in TABLES}


def row_id(instance: UUID, kind: str, key: Any) -> UUID:
    """The UUID of an entity's row; `key` as the state has it."""
    if kind in ("variable", "link"):
        return ids.derived(instance, kind, *key)
    return ids.entity(instance, key)


def row_text(instance: UUID, kind: str, key: Any) -> str:
    """The same as text."""
    if kind in ("variable", "link"):
        return ids.derived_text(instance, kind, *key)
    return ids.text(instance, key)


def to_row(instance: UUID, kind: str, entity: Entity) -> dict[str, Any]:
    """The row of an entity, with its id; versions are the entity's own."""
    plan = _PLANS[kind]
    row = dict(zip(plan.names, plan.values(entity), strict=True))
    for name, write in plan.writes:
        row[name] = write(instance, row[name])
    row["id"] = row_text(instance, kind, key_of(kind, entity))
    if kind in ("variable", "link"):
        row["ordinal"] = entity.scope if kind == "variable" else entity.child
    elif kind == "instance":
        row["ended"] = is_final("instance", entity.state)
    return row


def to_entity(kind: str, row: dict[str, Any]) -> Entity:
    """The entity of a row as JSON has it (UUIDs and times as text); columns that are no field are ignored."""
    plan = _PLANS[kind]
    values = dict(zip(plan.fields, plan.columns(row), strict=True))
    for field, read in plan.reads:
        values[field] = read(values[field])
    return plan.make(**values)


def to_state(thread: UUID, version: int, counter: int, rows: dict[str, list[dict[str, Any]]], **header: Any) -> State:
    """A state of rows by kind; `header` sets `known` and the like."""
    entities = [(kind, to_entity(kind, row)) for kind, found in rows.items() for row in found]
    return build(entities, thread=str(thread), version=version, counter=counter, **header)
