"""What schedulers ask again and again: what is due, what was left behind, what has ended. Each is one statement.

Nothing is locked here: whoever does what is due makes a step, and the step refuses what somebody else has done before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from bpm.semantics.events import FORMAT
from bpm.store import ids
from bpm.store.channel import Channel
from bpm.store.outside import one_by_one, outside, query
from bpm.store.values import dumps, loads
from bpm.store.version import ENGINE

# What is due for so many seconds must have failed before: schedulers ask every few seconds.
OVERDUE = 30.0
EARLY = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """Something of an instance, by its ordinal."""

    instance_id: UUID
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A token to advance or a timer to fire. `token` is the one it is or hangs on (0: the instance), `node` the timer's
    event; `since` when it became due, `overdue` whether that is so long ago that it must have failed before.
    """

    id: UUID
    instance_id: UUID
    ordinal: int
    token: int
    node: str | None
    since: datetime
    overdue: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DueStart:
    """A start timer whose moment has come."""

    id: UUID
    version: int
    definition_id: UUID
    key: str
    node: str
    fire_at: datetime
    schedule: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStart:
    """A start event that waits for a message or signal."""

    id: UUID
    definition_id: UUID
    key: str
    node: str


def due_timers(limit: int = 100, *, channel: Channel | None = None) -> list[Due]:
    """Timers whose moment has come, oldest first; but for those that could not be fired and have an incident."""
    return [
        Due(
            id=id, instance_id=instance, ordinal=ordinal, token=ids.ordinal(token), node=node, since=at, overdue=overdue
        )
        for id, instance, ordinal, token, node, at, overdue in query(
            channel, "timers_due", {"limit": limit, "overdue": OVERDUE}
        )
    ]


def active_tokens(
    *, older_than: float = 0, limit: int = 100, after: Due | None = None, channel: Channel | None = None
) -> list[Due]:
    """Tokens that are ACTIVE for longer than so many seconds, oldest first; the next ones `after` that one."""
    at, last = (EARLY, ids.NIL) if after is None else (after.since, after.id)
    asked = {"seconds": older_than, "limit": limit, "overdue": OVERDUE, "after_at": at, "after_id": last}
    return [
        Due(id=id, instance_id=instance, ordinal=ordinal, token=ordinal, node=None, since=at, overdue=overdue)
        for id, instance, ordinal, at, overdue in query(channel, "left_behind", asked)
    ]


def note_try(
    kind: str, id: UUID, *, instance: UUID, token: int, since: datetime, most: int, channel: Channel | None = None
) -> int:
    """Note in history (ENGINE_RECOVERY) that something overdue is tried, unless it was `most` times; how often."""
    asked = {
        "kind": kind,
        "id": str(id),
        "instance": instance,
        "token": ids.entity(instance, token),
        "since": since,
        "most": most,
        "engine": ENGINE,
        "format": FORMAT,
    }
    return int(query(channel, "note_try", asked)[0][0])


def active_of_instance(instance: UUID, limit: int = 100, *, channel: Channel | None = None) -> list[int]:
    """The instance's ACTIVE tokens, oldest first."""
    return [row[0] for row in query(channel, "active_of_instance", {"instance": instance, "limit": limit})]


def due_starts(limit: int = 100, *, channel: Channel | None = None) -> list[DueStart]:
    """Start timers whose moment has come, oldest first."""
    return [
        DueStart(
            id=id, version=version, definition_id=definition, key=key, node=node, fire_at=at, schedule=loads(schedule)
        )
        for id, version, definition, key, node, at, schedule in query(channel, "due_starts", {"limit": limit})
    ]


def advance_start(
    due: DueStart,
    fire_at: datetime | None,
    schedule: Mapping[str, Any] | None,
    *,
    actor: str,
    channel: Channel | None = None,
) -> bool:
    """Move a start timer to its next moment (None: it is done); False where somebody else did before."""
    about = {"subscription": str(due.id), "key": due.key, "node": due.node}
    with outside(channel, "FireStartTimer", about, actor=actor) as commit:
        moved = commit.run(
            "advance_start",
            {
                "id": due.id,
                "version": due.version,
                "fire_at": fire_at,
                "schedule": None if schedule is None else dumps(schedule),
            },
        )
    return bool(moved)


def starts_named(
    kind: str, name: str, *, at: datetime | None = None, channel: Channel | None = None
) -> list[NamedStart]:
    """Start events that wait for a MESSAGE or SIGNAL of that name: now, or that waited at that moment."""
    return [
        NamedStart(id=id, definition_id=definition, key=key, node=node)
        for id, definition, key, node in query(channel, "subscriptions_named", {"kind": kind, "name": name, "at": at})
    ]


def timeouts(tasks: Sequence[UUID], *, channel: Channel | None = None) -> dict[UUID, int]:
    """How many locks of each task ran out in a row: since something else but locking became of it."""
    if not tasks:
        return {}
    return dict(query(channel, "timeouts_in_a_row", {"tasks": list(tasks)}))


def engine_event(
    type: str,
    payload: Mapping[str, Any],
    *,
    actor: str = "engine",
    reason: str | None = None,
    channel: Channel | None = None,
) -> int:
    """Note what the engine itself did: ENGINE_TICK, ENGINE_RECOVERY or ENGINE_VERSION. Returns the event's id."""
    rows = query(
        channel,
        "engine_event",
        {"type": type, "payload": dumps(payload), "actor": actor, "reason": reason, "engine": ENGINE, "format": FORMAT},
    )
    return int(rows[0][0])


def sweep_ended(*, older_than: float, limit: int = 100, channel: Channel | None = None) -> list[UUID]:
    """Remove the runtime rows of instances that ended so many seconds ago, each in a transaction of its own; which."""
    return one_by_one(limit, lambda: query(channel, "sweep_ended", {"seconds": older_than}))


def sweep_receipts(*, older_than: float, limit: int = 1000, channel: Channel | None = None) -> int:
    """Forget receipts older than so many seconds; how many."""
    return len(query(channel, "sweep_receipts", {"seconds": older_than, "limit": limit}))


def sweep_messages(*, older_than: float, limit: int = 1000, channel: Channel | None = None) -> int:
    """Remove messages from outside that were delivered or expired so many seconds ago; how many."""
    return len(query(channel, "sweep_messages", {"seconds": older_than, "limit": limit}))


def ensure_partitions(months: int = 3, *, channel: Channel | None = None) -> list[str]:
    """Make what is missing of the months ahead; the partitions made."""
    return [row[0] for row in query(channel, "ensure_partitions", {"months": months})]


def now(*, channel: Channel | None = None) -> datetime:
    """The time of the only clock."""
    at: datetime = query(channel, "now")[0][0]
    return at


def move_clock(ahead: timedelta | None, *, channel: Channel | None = None) -> datetime:
    """Set the clock of a test database so far ahead of the real time (None: back to it). RuleBroken anywhere else."""
    at: datetime = query(channel, "move_clock", {"ahead": ahead})[0][0]
    return at
