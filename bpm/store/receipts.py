"""Receipts of what is done outside of instances: locks, messages, deployments. Done once, however often it is asked.

What is done and its receipt are one transaction. Of two that come with one key at once the second waits for the first
one and finds its receipt. (The receipts of instances are written by their own flush.)
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, LiteralString

import psycopg
from psycopg.pq import TransactionStatus

from bpm.store import ids
from bpm.store.channel import Channel, django_channel
from bpm.store.errors import Busy, KeyConflict, LostRace, understood
from bpm.store.outside import query
from bpm.store.statements import sql
from bpm.store.values import dumps, loads

TRIES = 8
PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Done:
    """What was done outside: its commit of the nil thread, and the result that its receipt keeps, as JSON values."""

    sequence: int
    result: Any
    repeated: bool = False


def once(channel: Channel | None, actor: str, key: str, said: Any, do: Callable[[Channel], Done | None]) -> Done | None:
    """Do it, unless the actor did it with this key before; then the stored result comes back as `repeated`.

    `said` is all that the key stands for. `do` is given the channel of the transaction; where it returns None nothing
    was done, and there is nothing to keep. Raises KeyConflict where the key stands for something else, StoreError.
    """
    channel = channel or django_channel()
    for attempt in range(1, TRIES + 1):
        try:
            with _together(channel, actor, key) as inner:
                before = find(inner, actor, key, said)
                if before is not None:
                    return before
                done = do(inner)
                if done is not None:
                    keep(inner, actor, key, said, done)
                return done
        except LostRace as lost:
            if attempt == TRIES:
                raise Busy(f"others do the same at the moment: {lost}") from lost
            time.sleep(random.uniform(0, PAUSE * attempt))  # noqa: S311
    raise AssertionError


def find(channel: Channel | None, actor: str, key: str, said: Any) -> Done | None:
    """The receipt, where there is one. Raises KeyConflict."""
    rows = query(channel, "receipt", {"actor": actor, "key": key})
    if not rows:
        return None
    content, sequence, result = rows[0]
    if content != content_of(said):
        raise KeyConflict("the idempotency key was used for something else")
    return Done(sequence, loads(result), repeated=True)


def keep(channel: Channel | None, actor: str, key: str, said: Any, done: Done) -> None:
    """Write the receipt of a commit of the nil thread, in that one's transaction. Raises LostRace."""
    query(
        channel,
        "keep_receipt",
        {
            "id": ids.derived(ids.NIL, "receipt", actor, key),
            "actor": actor,
            "key": key,
            "content": content_of(said),
            "result": dumps(done.result),
            "sequence": done.sequence,
        },
    )


def content_of(said: Any) -> str:
    """What a key stands for, as a receipt keeps it."""
    return hashlib.sha256(dumps(said).encode()).hexdigest()


@contextlib.contextmanager
def _together(channel: Channel, actor: str, key: str) -> Iterator[Channel]:
    """One transaction, or in the caller's a part of it that can be undone; no other of that key is in one."""
    begin, end, undo = _JOINED if channel.joined else _OWN
    try:
        channel.send((begin, None), (sql("lock_receipt"), {"actor": actor, "key": key}))
        yield replace(channel, joined=True)
        channel.send((end, None))
    except BaseException as error:
        if channel.raw.info.transaction_status != TransactionStatus.IDLE:
            with contextlib.suppress(psycopg.Error):
                channel.send(*((statement, None) for statement in undo))
        if isinstance(error, psycopg.Error):
            raise channel.translate(understood(error)) from error
        raise


_OWN: tuple[LiteralString, LiteralString, tuple[LiteralString, ...]] = (
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "COMMIT",
    ("ROLLBACK",),
)
_JOINED: tuple[LiteralString, LiteralString, tuple[LiteralString, ...]] = (
    "SAVEPOINT tokentrail_once",
    "RELEASE SAVEPOINT tokentrail_once",
    ("ROLLBACK TO SAVEPOINT tokentrail_once", "RELEASE SAVEPOINT tokentrail_once"),
)
