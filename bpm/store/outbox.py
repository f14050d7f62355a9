"""Messages: published from outside, waiting for their receivers, closed when those have consumed them.

Delivery is a commit of the receiver: its step carries the message as `Incoming`, and the row that this writes makes a
second delivery impossible. Closing the sender's row afterwards only spares the relay from asking again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bpm.semantics.events import FORMAT
from bpm.store import ids
from bpm.store.channel import Channel
from bpm.store.outside import one_by_one, query
from bpm.store.records import Incoming
from bpm.store.values import dumps, loads, normal
from bpm.store.version import ENGINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A message that waits. `target` is its receiver where that is known; `many`: for all who wait (a signal)."""

    id: UUID
    sender: UUID
    version: int
    ordinal: int
    kind: str
    name: str
    correlation: str | None
    business_key: str | None
    body: dict[str, Any]
    target: UUID | None
    many: bool
    created_at: datetime

    def incoming(self, ticket: int = 0) -> Incoming:
        """The message as a step consumes it."""
        return Incoming(
            sender=self.sender,
            version=self.version,
            ordinal=self.ordinal,
            kind=self.kind,
            name=self.name,
            many=self.many,
            ticket=ticket,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A message from outside that now waits: its row, and its name (sender nil, version, ordinal 1)."""

    id: UUID
    sequence: int
    at: datetime


def publish(
    kind: str,
    name: str,
    body: Mapping[str, Any],
    *,
    actor: str,
    correlation: str | None = None,
    business_key: str | None = None,
    target: UUID | None = None,
    many: bool = False,
    live_seconds: float | None = None,
    reason: str | None = None,
    key: str | None = None,
    id: UUID | None = None,
    channel: Channel | None = None,
) -> Published:
    """Leave a message from outside (MESSAGE or SIGNAL). It touches no instance. Raises UnfitValue for a body that is no
    JSON.

    `id` is given by who must not publish it twice.
    """
    id = id or ids.new_instance()
    rows = query(
        channel,
        "publish",
        {
            "id": id,
            "kind": kind,
            "name": name,
            "body": dumps(normal(body)),
            "correlation": correlation,
            "business_key": business_key,
            "target": target,
            "many": many,
            "live_seconds": live_seconds,
            "actor": actor,
            "reason": reason,
            "key": key,
            "engine": ENGINE,
            "format": FORMAT,
        },
    )
    return Published(id=id, sequence=rows[0][0], at=rows[0][1])


def pending(*, after: Pending | None = None, limit: int = 100, channel: Channel | None = None) -> list[Pending]:
    """Messages that wait to be delivered, first in first out; the next ones `after` that one."""
    first = {"after_at": datetime(1, 1, 2, tzinfo=UTC), "after_id": ids.NIL}
    start = first if after is None else {"after_at": after.created_at, "after_id": after.id}
    return [_pending(row) for row in query(channel, "pending_messages", start | {"limit": limit})]


def sent_by(sender: UUID, version: int, *, channel: Channel | None = None) -> list[Pending]:
    """What that commit of the sender sent and is not delivered yet."""
    return [_pending(row) for row in query(channel, "messages_of", {"sender": sender, "version": version})]


def pending_named(kind: str, name: str, limit: int = 100, *, channel: Channel | None = None) -> list[Pending]:
    """Messages of that name that wait for a receiver, first in first out."""
    return [_pending(row) for row in query(channel, "pending_named", {"kind": kind, "name": name, "limit": limit})]


def delivered(receivers: Mapping[UUID, Sequence[UUID]], *, actor: str, channel: Channel | None = None) -> list[UUID]:
    """Close messages: id -> the instances that consumed it (none: nobody waits for it). Which were closed by this
    call.
    """
    asked = [{"id": str(id), "receivers": [str(one) for one in found]} for id, found in receivers.items()]
    arguments = {"messages": dumps(asked), "actor": actor, "engine": ENGINE, "format": FORMAT}
    return [row[0] for row in query(channel, "deliver_messages", arguments)] if asked else []


def expire(
    *, actor: str, limit: int = 100, without_life: float | None = None, channel: Channel | None = None
) -> list[UUID]:
    """Let messages and signals expire whose time to live is over, each in a transaction of its own; which. Those that
    came without one live for `without_life` seconds (None: for ever).
    """
    arguments = {"actor": actor, "without_life": without_life, "engine": ENGINE, "format": FORMAT}
    return one_by_one(limit, lambda: query(channel, "expire_messages", arguments))


def _pending(row: tuple[Any, ...]) -> Pending:
    (id, sender, version, ordinal, kind, name, correlation, business_key, body, target, many, _, created) = row
    return Pending(
        id=id,
        sender=sender,
        version=version,
        ordinal=ordinal,
        kind=kind,
        name=name,
        correlation=correlation,
        business_key=business_key,
        body=loads(body),
        target=target,
        many=many,
        created_at=created,
    )
