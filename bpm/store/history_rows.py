"""Events of the core and rows of history: written by a flush, read back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from bpm.semantics.events import EVENT_TYPES, ROWLESS, Event
from bpm.semantics.state import State
from bpm.store import ids
from bpm.store.rows import row_text

# entity -> (history table, its own column of the entity's id)
HISTORY: dict[str, tuple[str, str | None]] = {
    "token": ("token_events", None),
    "task": ("external_task_events", "task_id"),
    "timer": ("timer_events", "timer_id"),
    "user_task": ("work_events", "entity_id"),
    "ticket": ("work_events", "entity_id"),
    "incident": ("work_events", "entity_id"),
    "message": ("work_events", "entity_id"),
    "decision": ("work_events", "entity_id"),
    "instance": ("engine_events", None),
    "variable": ("runtime_state_command", "variable_id"),
}
# Parts of a task event's payload that have a column of their own and stand only there.
LIFTED = {"worker": "worker_id", "error": "error"}


def to_rows(instance: UUID, events: Sequence[Event], after: State) -> dict[str, list[dict[str, Any]]]:
    """The rows of a commit's events by table; `after`: the sealed state, which knows each entity's row version."""
    found: dict[str, list[dict[str, Any]]] = {}
    for ordinal, event in enumerate(events):
        kind = EVENT_TYPES[event.type][0]
        table, _ = HISTORY[kind]
        found.setdefault(table, []).append(_row(instance, kind, ordinal, event, after))
    return found


def _row(instance: UUID, kind: str, ordinal: int, event: Event, after: State) -> dict[str, Any]:
    payload = dict(event.payload)
    row: dict[str, Any] = {
        "ordinal": ordinal,
        "token_id": ids.text(instance, event.token) if event.token else None,
        "node_id": event.node,
        "reason": event.reason,
        "payload": payload,
    }
    if kind == "variable":
        name = payload.pop("name")
        key = (event.id, name)
        return row | {
            "op": event.type.removeprefix("VARIABLE_"),
            "scope": event.id,
            "name": name,
            "value": payload.pop("value", None),
            "variable_id": row_text(instance, kind, key),
            "row_version": after.variables[key].version,
        }
    row |= {"event_type": event.type, "from_state": event.from_state, "to_state": event.to_state}
    row["row_version"] = 1 if kind in ROWLESS else after.table(kind)[event.id].version
    id = ids.text(instance, event.id)
    own = HISTORY[kind][1]
    if own is not None:
        row[own] = id
    if kind == "token":
        row["token_id"] = id
    elif kind == "task":
        for name, column in LIFTED.items():
            if payload.get(name) is not None:
                row[column] = payload.pop(name)
    else:
        row["entity"] = kind
    return row


def to_event(row: dict[str, Any]) -> Event:
    """The event of a row of the view `runtime_event` (UUIDs as text)."""
    payload = dict(row["payload"])
    kind = row["entity"]
    token = ids.ordinal_of_text(row["token_id"]) if row["token_id"] else 0
    if kind == "variable":
        payload["name"] = row["name"]
        if row["event_type"] == "VARIABLE_SET":
            payload["value"] = row["value"]
        return Event(row["event_type"], row["scope"], token, row["node_id"], None, None, row["reason"], payload)
    for name, column in LIFTED.items():
        if row[column] is not None:
            payload[name] = row[column]
    id = 0 if kind == "instance" else ids.ordinal_of_text(row["entity_id"])
    return Event(
        row["event_type"], id, token, row["node_id"], row["from_state"], row["to_state"], row["reason"], payload
    )


def messages(instance: UUID, events: Iterable[Event]) -> list[dict[str, Any]]:
    """The outbox rows of the messages that a commit sends."""
    found = []
    for event in events:
        if event.type != "MESSAGE_SENT":
            continue
        kind, body = event.payload["kind"], event.payload["body"]
        caller = body.get("caller") or {}
        found.append(
            {
                "id": ids.text(instance, event.id),
                "ordinal": event.id,
                "kind": kind,
                "name": event.payload["name"],
                "correlation": body.get("correlation"),
                "business_key": body.get("business_key"),
                "body": body,
                "target": _target(instance, kind, body, caller),
                "many": kind == "SIGNAL",
            }
        )
    return found


def _target(instance: UUID, kind: str, body: dict[str, Any], caller: dict[str, Any]) -> str | None:
    """Who must receive it, where that is known: a called instance has an id derived from the ticket of its call."""
    if kind in ("RESULT", "ESCALATION"):
        return str(caller["thread"])
    if kind in ("CALL", "CANCEL"):
        return str(called_instance(instance, body["ticket"]))
    return None


def called_instance(caller: UUID, ticket: int) -> UUID:
    """The id of the instance that a call activity starts: one ticket, one instance, however often the call is
    delivered.
    """
    return ids.derived_instance("call", caller, ticket)
