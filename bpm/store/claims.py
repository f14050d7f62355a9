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
from types import MappingProxyType
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


@dataclass(frozen=True, slots=True)
class Topic:
    """How a worker takes the tasks of a topic. `lock_seconds`: how long it holds one; None is as long as the call says.
    `variables`: the names of those that it wants; None is all that a task's token sees, an empty list none. Where an
    inner scope hides an outer one's variable, the inner one's is given; a name that there is none of gives nothing.
    """

    lock_seconds: float | None = None
    variables: Sequence[str] | None = None


# Variables are wanted of no topic in particular: all of each.
NOTHING_SAID: Mapping[str, Sequence[str] | None] = MappingProxyType({})
# The topics that a worker names: each as the call says, or with its own seconds, or as `Topic` says.
type Topics = Sequence[str] | Mapping[str, float | Topic]
# topic -> the names of the variables that are wanted of its tasks; all where None, or where the topic is not in it.
type Wanted = Mapping[str, Sequence[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTask:
    """A task that a worker holds until `lock_expire_at`, with the variables that its token sees, or those of them that
    were asked for.
    """

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
    topics: Topics,
    worker: str,
    limit: int = 1,
    lock_seconds: float = 60,
    *,
    actor: str | None = None,
    channel: Channel | None = None,
) -> list[LockedTask]:
    """Lock up to `limit` READY tasks for the worker, by priority then age. `topics` may give each its own seconds
    and names of variables; the database reads and sends no others.

    `actor`: who asks for the worker, where that is known apart from its name.
    """
    each = each_topic(topics, lock_seconds)
    channel = channel or django_channel()
    asked = {
        "topics": dumps([_asked(name, topic) for name, topic in each.items()]),
        "worker": worker,
        "actor": worker if actor is None else actor,
        "limit": limit,
        "engine": ENGINE,
        "format": FORMAT,
    }
    heads = HEADS.of(channel.raw)
    places = heads.places(each)
    if places is not None:
        found = _locked(query(channel, "fetch_and_lock", {**asked, "places": dumps(places)}))
        if found:
            heads.claimed(found)
            return found
    heads.looked_at(each)
    found = _locked(query(channel, "fetch_and_lock", {**asked, "places": None}))
    heads.claimed(found)
    return found


def each_topic(topics: Topics, lock_seconds: float) -> dict[str, Topic]:
    """Every topic with its seconds and names, whatever form they were given in."""
    if not isinstance(topics, Mapping):
        return dict.fromkeys(topics, Topic(lock_seconds))
    given = {name: how if isinstance(how, Topic) else Topic(how) for name, how in topics.items()}
    return {name: how if how.lock_seconds is not None else Topic(lock_seconds, how.variables)
            for name, how in given.items()}  # fmt: skip


def wanted_of(topics: Mapping[str, Topic]) -> dict[str, Sequence[str]]:
    """The names that are wanted of each topic that names any, be it none at all."""
    return {name: topic.variables for name, topic in topics.items() if topic.variables is not None}


def _asked(name: str, topic: Topic) -> dict[str, Any]:
    said: dict[str, Any] = {"topic": name, "lock_seconds": topic.lock_seconds}
    return said if topic.variables is None else said | {"variables": list(topic.variables)}


def _in_rows(wanted: Wanted) -> str:
    return dumps([{"topic": topic, "variables": names} for topic, names in wanted.items() if names is not None])


def still_locked(
    tasks: Sequence[tuple[UUID, int]], sequence: int, *, wanted: Wanted = NOTHING_SAID, channel: Channel | None = None
) -> list[LockedTask]:
    """Those of the tasks (id, version) that are held under the lock of that fetch: for who asks again. `wanted`: the
    variables that it asked for.
    """
    asked = dumps([{"id": str(id), "version": version, "place": place} for place, (id, version) in enumerate(tasks)])
    said = {"tasks": asked, "sequence": sequence, "wanted": _in_rows(wanted)}
    return _locked(query(channel, "still_locked", said))


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


def locked_by(
    record: CommitRecord, *, last: bool = True, wanted: Wanted = NOTHING_SAID, channel: Channel | None = None
) -> LockedTask | None:
    """The task that the commit itself has locked, a completion for the worker that asked for the next one; None where
    it locked none. Of a commit that was made before (`repeated`), or after which others may have been made (not
    `last`): the task while it is held under that very lock. `wanted`: the variables that it asked for.
    """
    state, definition = record.state, record.definition_id
    if record.repeated or state is None or definition is None:
        asked = {"instance": record.thread_id, "at": record.at, "sequence": record.sequence, "wanted": _in_rows(wanted)}
        return next(iter(_locked(query(channel, "locked_by", asked))), None)
    for event in record.events:
        if event.type == "TASK_LOCKED":
            task = state.tasks[event.id]
            if last:
                # Of a scope that the step itself has made, a part of the instance does not say that it is all there.
                with contextlib.suppress(Missing):
                    return _told(record, task, state, definition, _seen(state, task, wanted.get(task.topic)))
            held = still_locked(
                [(record.id_of(task.id), task.version)], record.sequence, wanted=wanted, channel=channel
            )
            return held[0] if held else None
    return None


def _seen(state: State, task: Task, names: Sequence[str] | None) -> dict[str, Any]:
    """What `bpm_sees` gives of these names."""
    seen = sees(state, task.token)
    return seen if names is None else {name: seen[name] for name in names if name in seen}


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
