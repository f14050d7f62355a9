"""Commits of the nil thread: what people and schedulers do outside of instances (deploy, export, deliver, retention).

with outside(channel, "Deploy", {...}, actor="ann") as commit:
    commit.run("insert_definition", {...})
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.pq import TransactionStatus

from bpm.semantics.events import FORMAT
from bpm.store.channel import Channel, django_channel
from bpm.store.errors import understood
from bpm.store.statements import sql
from bpm.store.values import dumps
from bpm.store.version import ENGINE

# How often a statement that was undone for others is begun anew, and how long to wait before that at most, each time
# more (seconds). SQLSTATEs: serialization, deadlock.
TRIES = 8
PAUSE = 0.02
UNDONE = frozenset({"40001", "40P01"})


@dataclass(frozen=True, slots=True)
class OutsideCommit:
    """An open commit of the nil thread; its sequence and time stand in the rows that it explains."""

    channel: Channel
    sequence: int
    at: datetime

    def run(self, name: str, arguments: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run a named statement in the commit; its rows."""
        return self.channel.send((sql(name), {"sequence": self.sequence, "at": self.at, **arguments}))[0]


@contextlib.contextmanager
def outside(
    channel: Channel | None,
    command: str,
    arguments: Mapping[str, Any],
    *,
    actor: str,
    reason: str | None = None,
    key: str | None = None,
) -> Iterator[OutsideCommit]:
    """One commit of the nil thread, ended with the block. Raises StoreError; then nothing was written."""
    channel = channel or django_channel()
    begin, keep = (
        ("SAVEPOINT tokentrail_outside", "RELEASE SAVEPOINT tokentrail_outside")
        if channel.joined
        else (
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            "COMMIT",
        )
    )
    logged = {
        "command": command,
        "arguments": dumps(arguments),
        "actor": actor,
        "reason": reason,
        "key": key,
        "engine": ENGINE,
        "format": FORMAT,
    }
    try:
        sequence, at = channel.send((begin, None), (sql("outside_commit"), logged))[1][0]
        yield OutsideCommit(channel, sequence, at)
        channel.send((keep, None))
    except BaseException as error:
        _forget(channel)
        if isinstance(error, psycopg.Error):
            raise channel.translate(understood(error)) from error
        raise


def _forget(channel: Channel) -> None:
    if channel.raw.info.transaction_status == TransactionStatus.IDLE:
        return
    with contextlib.suppress(psycopg.Error):
        if channel.joined:
            channel.send(
                ("ROLLBACK TO SAVEPOINT tokentrail_outside", None), ("RELEASE SAVEPOINT tokentrail_outside", None)
            )
        else:
            channel.send(("ROLLBACK", None))


def one_by_one(limit: int, next_one: Callable[[], list[tuple[Any, ...]]]) -> list[UUID]:
    """Ask for the next one until there is none, so many times at most; the ids. For what must not be one transaction
    over many instances.
    """
    done: list[UUID] = []
    while len(done) < limit and (rows := next_one()):
        done.append(rows[0][0])
    return done


def query(channel: Channel | None, name: str, arguments: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """A named statement by itself: a read, or one statement that claims and commits. Raises StoreError.

    It is begun anew where others were in its way: it has the isolation that its session asks for, and a strict one
    undoes it for that. `channel` None is Django's default connection.
    """
    channel = channel or django_channel()
    for attempt in range(1, TRIES + 1):
        try:
            return channel.send((sql(name), arguments))[0]
        except psycopg.Error as error:
            if channel.joined or error.sqlstate not in UNDONE or attempt == TRIES:
                raise channel.translate(understood(error)) from error
            time.sleep(random.uniform(0, PAUSE * attempt))  # noqa: S311
    raise AssertionError
