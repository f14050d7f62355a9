"""Taking external tasks: fetch and lock, extend, unlock, and the sweep of locks that ran out.

A lock is no step: it changes the task's row alone, guarded by the task's own version, and moves no token and no
instance. Each call is one statement, one commit of the nil thread and one round trip. The one exception is the task
that a completion makes and locks for its worker in the same commit (`locked_by`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from bpm.semantics.events import FORMAT
from bpm.semantics.formulas import sees
from bpm.semantics.state import State, Task
from bpm.semantics.view import Missing
from bpm.store.channel import Channel, django_channel
from bpm.store.heads import HEADS
from bpm.store.outside import query
from bpm.store.records import CommitRecord
from bpm.store.values import dumps, in_order, loads
from bpm.store.version import ENGINE


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTask:
    """A task that a worker holds until `lock_expire_at`, with all variables that its token sees."""

    id: UUID
    instance_id: UUID
    token_id: UUID
    node_id: str
    topic: str
    retries: int
    priority: int
    version: int
    worker: str
    lock_expire_at: datetime
    created_at: datetime
    sequence: int
    definition_key: str
    definition_id: UUID
    business_key: str | None
    variables: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A lock that was extended: until when, and the task's version now."""

    lock_expire_at: datetime
    version: int
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A task that is READY again because its lock ran out."""

    id: UUID
    topic: str
    worker: str
    sequence: int


def fetch_and_lock(
    topics: Sequence[str] | Mapping[str, float],
    worker: str,
    limit: int = 1,
    lock_seconds: float = 60,
    *,
    actor: str | None = None,
    channel: Channel | None = None,
) -> list[LockedTask]:
    """Lock up to `limit` READY tasks for the worker, by priority then age. `topics` may give each its own seconds.

    `actor`: who asks for the worker, where that is known apart from its name.
    """
    seconds = topics if isinstance(topics, Mapping) else dict.fromkeys(topics, lock_seconds)
    channel = channel or django_channel()
    asked = {
        "topics": dumps([{"topic": topic, "lock_seconds": locked} for topic, locked in seconds.items()]),
        "worker": worker,
        "actor": worker if actor is None else actor,
        "limit": limit,
        "engine": ENGINE,
        "format": FORMAT,
    }
    heads = HEADS.of(channel.raw)
    places = heads.places(seconds)
    if places is not None:
        found = _locked(query(channel, "fetch_and_lock", {**asked, "places": dumps(places)}))
        if found:
            heads.claimed(found)
            return found
    heads.looked_at(seconds)
    found = _locked(query(channel, "fetch_and_lock", {**asked, "places": None}))
    heads.claimed(found)
    return found


def still_locked(
    tasks: Sequence[tuple[UUID, int]], sequence: int, *, channel: Channel | None = None
) -> list[LockedTask]:
    """Those of the tasks (id, version) that are held under the lock of that fetch: for who asks again."""
    asked = dumps([{"id": str(id), "version": version, "place": place} for place, (id, version) in enumerate(tasks)])
    return _locked(query(channel, "still_locked", {"tasks": asked, "sequence": sequence}))


def _locked(rows: list[tuple[Any, ...]]) -> list[LockedTask]:
    return [
        LockedTask(
            id=id,
            instance_id=instance,
            token_id=token,
            node_id=node,
            topic=topic,
            retries=retries,
            priority=priority,
            version=version,
            worker=owner,
            lock_expire_at=until,
            created_at=created,
            sequence=sequence,
            definition_key=key,
            definition_id=definition,
            business_key=business_key,
            variables=loads(variables),
        )
        for (id, instance, token, node, topic, retries, priority, version, owner, until, created, sequence, key,
             definition, business_key, variables) in rows
    ]  # fmt: skip


def locked_by(record: CommitRecord, *, last: bool = True, channel: Channel | None = None) -> LockedTask | None:
    """The task that the commit itself has locked, a completion for the worker that asked for the next one; None where
    it locked none. Of a commit that was made before (`repeated`), or after which others may have been made (not
    `last`): the task while it is held under that very lock.
    """
    state, definition = record.state, record.definition_id
    if record.repeated or state is None or definition is None:
        rows = query(channel, "locked_by", {"instance": record.thread_id, "at": record.at, "sequence": record.sequence})
        return next(iter(_locked(rows)), None)
    for event in record.events:
        if event.type == "TASK_LOCKED":
            task = state.tasks[event.id]
            if last:
                # Of a scope that the step itself has made, a part of the instance does not say that it is all there.
                with contextlib.suppress(Missing):
                    return _told(record, task, state, definition, sees(state, task.token))
            held = still_locked([(record.id_of(task.id), task.version)], record.sequence, channel=channel)
            return held[0] if held else None
    return None


def _told(record: CommitRecord, task: Task, state: State, definition: UUID, variables: dict[str, Any]) -> LockedTask:
    """What a fetch would tell of the task: deciding to lock it has brought all of that into the state."""
    instance = state.instances[0]
    assert task.lock_owner is not None and task.lock_expire_at is not None  # noqa: S101
    return LockedTask(
        id=record.id_of(task.id),
        instance_id=record.thread_id,
        token_id=record.id_of(task.token),
        node_id=task.node,
        topic=task.topic,
        retries=task.retries,
        priority=task.priority,
        version=task.version,
        worker=task.lock_owner,
        lock_expire_at=task.lock_expire_at,
        created_at=record.at,
        sequence=record.sequence,
        definition_key=instance.definition,
        definition_id=definition,
        business_key=instance.business_key,
        variables=in_order(variables),
    )


def extend(
    task: UUID, worker: str, seconds: float, *, actor: str | None = None, channel: Channel | None = None
) -> Lock | None:
    """The lock ends so many seconds from now; None where the worker does not hold it (any more)."""
    rows = query(
        channel,
        "extend_lock",
        {
            "id": task,
            "worker": worker,
            "actor": worker if actor is None else actor,
            "seconds": seconds,
            "engine": ENGINE,
            "format": FORMAT,
        },
    )
    return Lock(lock_expire_at=rows[0][0], version=rows[0][1], sequence=rows[0][2]) if rows else None


def unlock(
    task: UUID, *, worker: str | None, actor: str, reason: str | None = None, channel: Channel | None = None
) -> Released | None:
    """Give the task back: by its worker, or (None) by an operator whoever holds it. None where it is not locked so."""
    rows = query(
        channel,
        "unlock",
        {"id": task, "worker": worker, "actor": actor, "reason": reason, "engine": ENGINE, "format": FORMAT},
    )
    return Released(id=task, topic=rows[0][0], worker=rows[0][1], sequence=rows[0][3]) if rows else None


def release_expired(*, actor: str, limit: int = 100, channel: Channel | None = None) -> list[Released]:
    """Make tasks READY whose locks ran out, at most so many. Several sweepers at once do no harm."""
    rows = query(channel, "release_expired", {"actor": actor, "limit": limit, "engine": ENGINE, "format": FORMAT})
    return [Released(id=id, topic=topic, worker=worker, sequence=sequence) for id, topic, worker, sequence in rows]
