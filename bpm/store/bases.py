"""Base states: all of a thread as it stood at one of its versions, stored so that folding its history may begin there.

They are a cache. A projection hydrates from them and from what came after; losing them costs time, never truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from bpm.store import ids
from bpm.store.channel import Channel
from bpm.store.outside import query

PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a round over all open threads did: how many there are, of how many the base state was taken anew, and how
    many base states of ended threads were dropped.
    """

    open: int
    taken: int
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A base state; `state` is the JSON text of its rows by kind."""

    thread_id: UUID
    sequence: int
    version: int
    at: datetime
    taken_at: datetime
    state: str


def take(*, least: int = 1, channel: Channel | None = None) -> Taken:
    """Store the base state of every open thread that has gone on by `least` commits since its last one."""
    after, seen, taken = ids.NIL, 0, 0
    while True:
        rows = query(channel, "take_bases", {"after": after, "limit": PAGE, "least": least})
        seen += len(rows)
        taken += sum(new for _, new in rows)
        if len(rows) < PAGE:
            break
        after = rows[-1][0]
    return Taken(open=seen, taken=taken, dropped=len(query(channel, "drop_old_bases")))


def stored(*, channel: Channel | None = None) -> Iterator[Base]:
    """All base states, by thread."""
    after = ids.NIL
    while True:
        rows = query(channel, "bases_after", {"after": after, "limit": PAGE})
        for thread, sequence, version, at, taken_at, state in rows:
            yield Base(thread_id=thread, sequence=sequence, version=version, at=at, taken_at=taken_at, state=state)
        if len(rows) < PAGE:
            return
        after = rows[-1][0]
