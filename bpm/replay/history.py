"""The history of one instance: its commits in order, each with its command and its events.

Locks are no steps of the instance (a fetch takes tasks of many instances at once), so their commits have no version of
it: `version` is None, and they carry only the events of this instance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from bpm.replay.upcast import upcast
from bpm.semantics import Event


class Commit(Protocol):
    """What replay reads of a commit, wherever it comes from: memory, the database or an exported file."""

    @property
    def sequence(self) -> int:
        """Its number in the commit log; grows within an instance, with gaps."""
        ...

    @property
    def version(self) -> int | None:
        """The instance's version after it; None for a commit that is no step of the instance (a lock)."""
        ...

    @property
    def command(self) -> str:
        """The name of the command."""
        ...

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The command's arguments as JSON, answers from outside the instance included."""
        ...

    @property
    def at(self) -> datetime:
        """Its time."""
        ...

    @property
    def events(self) -> Sequence[Event]:
        """What it decided, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A commit as plain data, as an exported file has it."""

    sequence: int
    version: int | None
    command: str
    at: datetime
    arguments: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[Event] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON values that `from_json` reads back; events without their defaults."""
        return {
            "sequence": self.sequence,
            "version": self.version,
            "command": self.command,
            "at": self.at.isoformat(),
            "arguments": dict(self.arguments),
            "events": [_event_to_json(event) for event in self.events],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any], *, format: int | None = None) -> Recorded:
        """The commit that `to_json` wrote; `format` is the version of the events' payloads (None: that of today).

        KeyError or TypeError for data that was not written so, UnknownFormat for events from the future.
        """
        events = (Event(**event) for event in data["events"])
        return Recorded(
            sequence=data["sequence"],
            version=data["version"],
            command=data["command"],
            at=datetime.fromisoformat(data["at"]),
            arguments=data["arguments"],
            events=tuple(events if format is None else upcast(events, format)),
        )


def _event_to_json(event: Event) -> dict[str, Any]:
    return {
        f.name: getattr(event, f.name)
        for f in dataclasses.fields(event)
        if f.name in ("type", "id") or getattr(event, f.name) not in (0, None, {})
    }
