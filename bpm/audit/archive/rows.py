"""Rows of tables as the log and the view of all events have them: what replay and trace read."""

from __future__ import annotations

from typing import Any

from bpm.audit.canonical import NUMBERS
from bpm.store.values import loads

# table -> (entity, the column of its id); None: the row says which entity.
ENTITIES: dict[str, tuple[str | None, str]] = {
    "token_events": ("token", "token_id"),
    "external_task_events": ("task", "task_id"),
    "timer_events": ("timer", "timer_id"),
    "work_events": (None, "entity_id"),
    "engine_events": (None, "instance_id"),
    "runtime_state_command": ("variable", "variable_id"),
}
_ABSENT = {"worker_id": None, "error": None, "scope": None, "name": None, "value": None}
_JSON = ("arguments", "counters", "payload", "value")

type Fields = dict[str, str | None]


def commit_row(row: Fields) -> dict[str, Any]:
    """A row of the log as JSON values, numbers exact."""
    return {name: _value(name, text) for name, text in row.items()}


def event_row(table: str, row: Fields) -> dict[str, Any]:
    """A row of the view of all events as JSON values, numbers exact."""
    found = _ABSENT | {name: _value(name, text) for name, text in row.items()}
    entity, id = ENTITIES[table]
    found["entity"], found["entity_id"] = entity or found["entity"], found[id]
    if entity == "variable":
        found |= {"event_type": f"VARIABLE_{found['op']}", "from_state": None, "to_state": None}
    return found


def _value(name: str, text: str | None) -> Any:
    if text is None:
        return None
    if name in NUMBERS:
        return int(text)
    return loads(text) if name in _JSON else text
