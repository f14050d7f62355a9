"""What a commit gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from bpm.semantics.events import Event
from bpm.semantics.state import State
from bpm.store import ids
from bpm.store.ids import entity
from bpm.store.values import moment


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRecord:
    """One commit of an instance. `repeated`: it had been made before (same key, same message), nothing was done now;
    then `events` and `state` are empty, as they are for a record that was only read.

    `active`, `topics` and `sent` say what the commit left to be done: tokens that are ACTIVE now, topics of tasks that
    are READY now (one entry a task), kinds of messages that were sent. `definition_id`: of the process decided on.
    """

    sequence: int
    thread_id: UUID
    version: int
    run_id: UUID
    at: datetime
    command: str
    repeated: bool = False
    # Not in what a log or a prompt shows of it: they hold all that the instance holds.
    events: tuple[Event, ...] = field(default=(), repr=False)
    state: State | None = field(default=None, repr=False)
    active: tuple[int, ...] = ()
    topics: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    definition_id: UUID | None = None

    def id_of(self, ordinal: int) -> UUID:
        """The UUID of an entity of this instance."""
        return entity(self.thread_id, ordinal)

    @staticmethod
    def from_result(result: dict[str, Any], **more: Any) -> CommitRecord:
        """The record of what the flush returned, or a receipt kept."""
        return CommitRecord(
            sequence=result["sequence"],
            thread_id=UUID(result["thread_id"]),
            version=result["version"],
            run_id=UUID(result["run_id"]),
            at=moment(result["at"]),
            command=result["command"],
            **more,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message that a step consumes: its name (sender, version, ordinal), and for one to many the consuming ticket."""

    sender: UUID
    version: int
    ordinal: int
    kind: str
    name: str = ""
    many: bool = False
    ticket: int = 0

    def to_json(self) -> dict[str, Any]:
        """The name, as commands carry it."""
        return {"sender": str(self.sender), "version": self.version, "ordinal": self.ordinal}

    def row(self, receiver: UUID) -> dict[str, Any]:
        """The receiver's row."""
        return {
            "id": str(ids.derived(receiver, "received", self.sender, self.version, self.ordinal, self.ticket)),
            "sender": str(self.sender),
            "sender_version": self.version,
            "sender_ordinal": self.ordinal,
            "kind": self.kind,
            "name": self.name,
            "many": self.many,
            "ticket": self.ticket,
        }
