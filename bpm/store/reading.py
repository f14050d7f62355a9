"""Authoritative reads: the history of an instance as replay takes it, and its state as it is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bpm.replay import Recorded
from bpm.semantics.events import FORMAT, Event
from bpm.semantics.state import State
from bpm.store.arguments import decode
from bpm.store.channel import Channel
from bpm.store.history_rows import to_event
from bpm.store.ids import NIL
from bpm.store.outside import query
from bpm.store.records import CommitRecord
from bpm.store.rows import to_state
from bpm.store.values import loads
from bpm.store.version import ENGINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged(Recorded):
    """A commit of an instance with what the log says of it beyond what replay needs."""

    thread_id: UUID
    run_id: UUID
    definition_id: UUID | None
    actor: str
    reason: str | None
    key: str | None
    caused_by: int | None
    engine_version: str = ENGINE
    format: int = FORMAT


def history(thread: UUID, *, channel: Channel | None = None) -> list[Logged]:
    """All commits of the instance in order, each with its command and events; locks (`version` None) at their place.

    Empty where there is no such instance.
    """
    rows = query(channel, "start_of_thread", {"thread": thread})
    since: datetime | None = rows[0][0]
    if since is None:
        return []
    asked = {"thread": thread, "since": since}
    events: dict[int, list[Event]] = {}
    values: dict[int, dict[int, Any]] = {}
    for (text,) in query(channel, "events_of_thread", asked):
        row = loads(text)
        sequence = row["commit_sequence"]
        if row["entity"] == "message" and row["event_type"] != "MESSAGE_SENT":
            continue  # what became of a message is no part of its sender's state
        events.setdefault(sequence, []).append(to_event(row))
        if row["entity"] == "variable":
            values.setdefault(sequence, {})[row["ordinal"]] = row["value"]
    return [_logged(thread, row, events, values) for row in query(channel, "commits_of_thread", asked)]


def _logged(
    thread: UUID, row: tuple[Any, ...], events: dict[int, list[Event]], values: dict[int, dict[int, Any]]
) -> Logged:
    (sequence, own, run, version, definition, command, arguments, at, actor, reason, key, cause) = row
    return Logged(
        sequence=sequence,
        version=version if own == thread else None,
        command=command,
        at=at.astimezone(UTC),
        arguments=decode(loads(arguments), values.get(sequence, {})),
        events=tuple(events.get(sequence, ())),
        thread_id=own,
        run_id=run,
        definition_id=definition,
        actor=actor,
        reason=reason,
        key=key,
        caused_by=cause,
    )


def stored_state(thread: UUID, *, channel: Channel | None = None) -> State | None:
    """The instance's state, whole, from its runtime rows; None where there are none (unknown, or swept)."""
    found = loads(query(channel, "whole_state", {"thread": thread})[0][0])
    header = found.pop("header")
    if header is None or found["instance"] is None:
        return None
    rows = {kind: list(some or ()) for kind, some in found.items()}
    return to_state(thread, header["version"], header["counters"]["entity"], rows)


def receipt(thread: UUID, actor: str, key: str, *, channel: Channel | None = None) -> CommitRecord | None:
    """What the actor's command with that key did to the thread; None where no receipt is there (any more)."""
    rows = query(channel, "receipt_of_thread", {"thread": thread, "actor": actor, "key": key})
    return CommitRecord.from_result(loads(rows[0][0]), repeated=True) if rows else None


def standing(thread: UUID, *, channel: Channel | None = None) -> tuple[int, datetime] | None:
    """The thread's version and the time of its last commit; None where there is no such thread."""
    rows = query(channel, "version_of_thread", {"thread": thread})
    return (rows[0][0], rows[0][1]) if rows else None


def version(thread: UUID, *, channel: Channel | None = None) -> int:
    """The thread's version; 0 where there is no such thread."""
    found = standing(thread, channel=channel)
    return found[0] if found else 0


def ledger_page(after: int, limit: int, *, channel: Channel | None = None) -> Sequence[tuple[int, UUID, UUID]]:
    """(sequence, thread, run) of the next commits after that sequence, in order."""
    return [(row[0], row[1], row[2]) for row in query(channel, "ledger", {"after": after, "limit": limit})]


def versions_page(after: UUID, limit: int, *, channel: Channel | None = None) -> Sequence[tuple[UUID, int]]:
    """(thread, version) of the next threads after that one, in order."""
    return [(row[0], row[1]) for row in query(channel, "thread_versions", {"after": after, "limit": limit})]


def thread_versions(*, channel: Channel | None = None, size: int = 1_000) -> Iterator[tuple[UUID, int]]:
    """(thread, version) of every thread, in order; read by pages."""
    after = NIL
    while page := versions_page(after, size, channel=channel):
        yield from page
        after = page[-1][0]
