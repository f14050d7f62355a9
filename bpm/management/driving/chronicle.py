"""What history says of everything that a scenario has brought about, read on as it grows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from bpm.graph import Process
from bpm.scenarios.world import BIRTHS
from bpm.semantics import Event
from bpm.semantics.footprints import passes, reaches_end
from bpm.store import definitions, django_channel
from bpm.store.history_rows import to_event
from bpm.store.values import loads

# All instances at once, in the order of their commits. Bounded by the scenario's own months, so that no others are
# looked into.
_GROWN: LiteralString = """
    SELECT to_jsonb(e)::text FROM runtime_event e
    WHERE e.commit_sequence > %(after)s AND e.at >= %(since)s AND e.at < %(until)s
    ORDER BY e.commit_sequence, e.ordinal
"""
_DEFINITIONS: LiteralString = "SELECT id, process_def_id FROM process_instances WHERE id = ANY (%(ids)s)"


@dataclass(slots=True)
class Chronicle:
    """Lists count over all instances, in order. `instances` are the graphs of those that have begun, the first one
    first; `births` says in which order what somebody may wait at came into being.
    """

    since: datetime
    until: datetime
    sequence: int = 0
    instances: dict[UUID, Process] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    ends: list[tuple[UUID, str]] = field(default_factory=list)
    births: dict[tuple[UUID, str, int], int] = field(default_factory=dict)
    _topics: dict[tuple[UUID, int], str] = field(default_factory=dict)

    def question(self) -> tuple[LiteralString, dict[str, Any]]:
        """The statement that asks for what has been committed since the last time."""
        return _GROWN, {"after": self.sequence, "since": self.since, "until": self.until}

    def take(self, answer: list[tuple[Any, ...]]) -> None:
        """Take in the rows of that statement."""
        rows = [loads(text) for (text,) in answer]
        begun = [UUID(row["thread_id"]) for row in rows if row["event_type"] == "INSTANCE_STARTED"]
        if begun:
            found = dict(django_channel().send((_DEFINITIONS, {"ids": begun}))[0])
            self.instances |= {instance: definitions.load(found[instance]).graph for instance in begun}
        for row in rows:
            self.sequence = row["commit_sequence"]
            if row["thread_id"] is not None and UUID(row["thread_id"]) in self.instances:
                self._note(UUID(row["thread_id"]), to_event(row))

    def _note(self, instance: UUID, event: Event) -> None:
        kind = BIRTHS.get(event.type)
        if kind is not None:
            self.births[instance, kind, event.id] = len(self.births)
        if event.type == "TASK_CREATED":
            self._topics[instance, event.id] = event.payload["topic"]
        elif event.type == "TASK_COMPLETED":
            self.trace.append(self._topics[instance, event.id])
        passed, end = passes(event), reaches_end(self.instances[instance], event)
        if passed is not None:
            self.passed.append(passed)
        if end is not None:
            self.ends.append((instance, end))
