"""Events as flat rows: what CSV and Parquet have, a row an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bpm.audit.histories import LiveHistory
from bpm.semantics import Event
from bpm.semantics.events import entity_of
from bpm.store import ids
from bpm.store.reading import Logged
from bpm.store.values import dumps

# column -> its type: text, number or time.
COLUMNS: dict[str, str] = {
    "at": "time",
    "type": "text",
    "definition": "text",
    "definition_version": "number",
    "instance": "text",
    "business_key": "text",
    "node": "text",
    "node_name": "text",
    "topic": "text",
    "worker": "text",
    "error": "text",
    "actor": "text",
    "stated_reason": "text",
    "reason": "text",
    "from_state": "text",
    "to_state": "text",
    "variable": "text",
    "scope": "number",
    "value": "text",
    "entity": "text",
    "entity_id": "text",
    "token_id": "text",
    "command": "text",
    "commit": "number",
    "ordinal": "number",
    "instance_version": "number",
    "caused_by": "number",
    "payload": "text",
    "engine_version": "text",
}
# Parts of a payload that have a column of their own.
_SHOWN = {"task": ("worker", "error", "topic"), "variable": ("name", "value")}


@dataclass(slots=True)
class Shaping:
    """Makes rows of one instance's events, in order: what was said once (topics, the business key) is said in each."""

    history: LiveHistory
    business_key: str | None = None
    topics: dict[int, str] = field(default_factory=dict)

    def rows(self, commit: Logged) -> Iterator[dict[str, Any]]:
        """The rows of one commit."""
        for ordinal, event in enumerate(commit.events):
            yield self._row(commit, ordinal, event)

    def _row(self, commit: Logged, ordinal: int, event: Event) -> dict[str, Any]:
        payload, kind = event.payload, entity_of(event.type)
        if event.type == "INSTANCE_STARTED":
            self.business_key = payload.get("business_key")
        elif event.type == "TASK_CREATED":
            self.topics[event.id] = payload["topic"]
        definition, node = self.history.definition, self.history.definition.graph.nodes.get(event.node or "")
        variable = kind == "variable"
        instance = self.history.instance
        return {
            "at": commit.at,
            "type": event.type,
            "definition": definition.key,
            "definition_version": definition.version,
            "instance": str(instance),
            "business_key": self.business_key,
            "node": event.node,
            "node_name": None if node is None else " ".join(node.name.split()) or None,
            "topic": self.topics.get(event.id) if kind == "task" else None,
            "worker": payload.get("worker"),
            "error": payload.get("error"),
            "actor": commit.actor,
            "stated_reason": commit.reason,
            "reason": event.reason,
            "from_state": event.from_state,
            "to_state": event.to_state,
            "variable": payload["name"] if variable else None,
            "scope": event.id if variable else None,
            "value": dumps(payload["value"]) if event.type == "VARIABLE_SET" else None,
            "entity": kind,
            "entity_id": None if variable else str(ids.entity(instance, event.id)),
            "token_id": str(ids.entity(instance, event.token)) if event.token else None,
            "command": commit.command,
            "commit": commit.sequence,
            "ordinal": ordinal,
            "instance_version": commit.version,
            "caused_by": commit.caused_by,
            "payload": dumps({name: value for name, value in payload.items() if name not in _SHOWN.get(kind, ())}),
            "engine_version": commit.engine_version,
        }
