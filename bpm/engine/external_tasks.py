"""External tasks: fetch and lock, complete, fail, BPMN error, extend, unlock, retries.

Each takes the name of the worker, by which a lock is held, and the `actor`: who speaks for the worker, where that is
known apart from it (the token of a request). Without one the worker is the actor. An idempotency key is the actor's.

A lock and its extension are no step: they change the task's row alone, guarded by its own version (`bpm.store.claims`).
Completing, failing and throwing an error are steps of the instance, and ask whether the worker still holds the lock.
A worker that goes on with the next task of the same instance has it locked by the very step that completes the last
one (`complete_and_lock_next`): one commit a task instead of two.

Both take `topics` as a list of names, or as a map of each to its seconds, or to a `Topic`: seconds, and the names of
the variables that the worker wants. The database reads and sends no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

import structlog

from bpm.engine.acting import (
    Entity,
    Refused,
    act,
    act_outside,
    acting_as,
    bounded,
    counted,
    entity,
    given_reason,
    named,
)
from bpm.engine.errors import Invalid, NotFound
from bpm.engine.follow import leaves_to_do
from bpm.engine.step import DETERMINISTIC
from bpm.engine.trying import in_words
from bpm.engine.variables import NAME_LIMIT, checked
from bpm.semantics import commands as c
from bpm.store import claims, definitions
from bpm.store.channel import Channel
from bpm.store.claims import LockedTask, Topic, Topics
from bpm.store.outside import query
from bpm.store.receipts import Done
from bpm.store.records import CommitRecord
from bpm.store.wanting import MakeCommand

log = structlog.get_logger(__name__)

LOCK_SECONDS = 60.0
LONGEST_LOCK = 7 * 86_400.0
# The most that one fetch locks, and the longest pause after a failure.
MOST = 1_000
LONGEST_PAUSE = 366 * 86_400.0
MOST_RETRIES = 1_000_000
# Names of variables that a topic may ask for: who wants more of them wants all.
MOST_NAMES = 100
MESSAGE_LIMIT = 2_000
DETAILS_LIMIT = 20_000


def fetch_and_lock(
    topics: Topics,
    *,
    worker: str,
    max: int = 1,
    lock_seconds: float = LOCK_SECONDS,
    key: str | None = None,
    actor: str | None = None,
) -> list[LockedTask]:
    """Lock up to `max` ready tasks of the topics for the worker, by priority, then age; with the variables they see,
    or of these the ones that are named: `topics` may give each its own seconds and names, as `{"charge": 30, "print":
    Topic(variables=["order"])}`.

    With an idempotency `key` a worker that lost the answer gets those that it still holds by that fetch. Nothing ready
    gives an empty list, which no key keeps. Raises Invalid for arguments that make no sense, KeyConflict.
    """
    who = _who(worker, actor)
    each = _each(topics, lock_seconds)
    counted(max, "max", MOST)
    fetched: list[LockedTask] = []

    def fetch(channel: Channel | None) -> Done | None:
        fetched[:] = claims.fetch_and_lock(each, worker, max, actor=who, channel=channel)
        locked = [[str(task.id), task.version] for task in fetched]
        return Done(fetched[0].sequence, locked) if locked else None

    said = {"verb": "fetch_and_lock", "worker": worker, "topics": _said_of(topics, each), "max": max}
    done = act_outside(who, key, said | {"lock_seconds": float(lock_seconds)}, fetch)
    if done is not None and done.repeated:
        locked = [(UUID(id), version) for id, version in done.result]
        return claims.still_locked(locked, done.sequence, wanted=claims.wanted_of(each))
    return fetched


def task_headers(task: LockedTask) -> dict[str, str]:
    """What the model tells the worker beside the variables: fields, headers, extension properties."""
    work = definitions.load(task.definition_id).graph.node(task.node_id).work
    return {} if work is None else dict(work.headers)


def topics_beside(task: LockedTask) -> frozenset[str] | None:
    """The topics of the task's process; None where one of them is computed, and so may be any."""
    return definitions.load(task.definition_id).topics


def complete_task(
    id: UUID | str,
    *,
    worker: str,
    variables: Mapping[str, Any] | None = None,
    local_variables: Mapping[str, Any] | None = None,
    key: str | None = None,
    actor: str | None = None,
    cause: int | None = None,
) -> CommitRecord:
    """The worker is done; the token goes on with what it brought back. `cause`: the commit that locked the task.

    Raises NotFound, InvalidVariables, or Refused: not_locked, wrong_worker, lock_expired, wrong_state, not_running;
    fault, where the engine could not take it (then the task has failed).
    """
    return _complete(id, worker, variables, local_variables, {}, actor=actor, key=key, cause=cause)


def complete_and_lock_next(
    id: UUID | str,
    topics: Topics,
    *,
    worker: str,
    lock_seconds: float = LOCK_SECONDS,
    variables: Mapping[str, Any] | None = None,
    local_variables: Mapping[str, Any] | None = None,
    key: str | None = None,
    actor: str | None = None,
    cause: int | None = None,
) -> tuple[CommitRecord, LockedTask | None]:
    """The worker is done, and goes on with the next task of the same instance: where the token comes to one of these
    topics in the same commit, that is locked for the worker at once, as a fetch would, without a commit for it.
    `topics` may give each its own seconds and names of variables; the seconds of those that the process has are kept in
    the log. Nobody hears of a task that is given so.

    None where no such task came up: a later commit may bring it, and then a fetch gives it. None, too, where what
    followed at once from the completion took it away again, or took longer than its lock. With an idempotency `key`
    a worker that lost the answer gets the task while it is held under that lock. Raises as `complete_task` does, and
    Invalid.
    """
    each = _each(topics, lock_seconds)
    record = _complete(id, worker, variables, local_variables, each, actor=actor, key=key, cause=cause)
    return record, claims.locked_by(record, last=not leaves_to_do(record), wanted=claims.wanted_of(each))


def _complete(
    id: UUID | str,
    worker: str,
    variables: Mapping[str, Any] | None,
    local_variables: Mapping[str, Any] | None,
    next_topics: Mapping[str, Topic],
    *,
    actor: str | None,
    key: str | None,
    cause: int | None,
) -> CommitRecord:
    task = _task(id)
    said: dict[str, Any] = {"task": task.ordinal, "worker": worker}
    said["next_topics"] = {name: _short(topic) for name, topic in next_topics.items()}
    said["variables"] = checked(variables)
    said["local_variables"] = checked(local_variables, what="local variables")
    # Which variables were asked for changes nothing in the instance: it is no part of what the key stands for, either.
    return _answer(task, worker, lambda at: c.CompleteExternalTask(at=at, **said), actor=actor, key=key, cause=cause)


def fail_task(
    id: UUID | str,
    *,
    worker: str,
    message: str = "",
    details: str = "",
    retries: int | None = None,
    retry_after: float | None = None,
    variables: Mapping[str, Any] | None = None,
    key: str | None = None,
    actor: str | None = None,
    cause: int | None = None,
) -> CommitRecord:
    """The worker could not do it. `retries` None counts down by one; none left opens an incident. `retry_after` None
    leaves the pause to the model's retry cycle.

    Raises as `complete_task` does, and Invalid.
    """
    task = _task(id)
    if retries is not None:
        counted(retries, "retries", MOST_RETRIES, least=0)
    pause = None if retry_after is None else bounded(retry_after, "retry_after", LONGEST_PAUSE, least=0)
    said: dict[str, Any] = {"message": _said(message, MESSAGE_LIMIT), "details": _said(details, DETAILS_LIMIT)}
    brought = checked(variables)
    return act(
        task,
        lambda at: c.FailExternalTask(
            at=at, task=task.ordinal, worker=worker, retries=retries, retry_after=pause, variables=brought, **said
        ),
        actor=_who(worker, actor),
        key=key,
        cause=cause,
    )


def throw_task_error(
    id: UUID | str,
    *,
    worker: str,
    code: str,
    message: str = "",
    variables: Mapping[str, Any] | None = None,
    key: str | None = None,
    actor: str | None = None,
    cause: int | None = None,
) -> CommitRecord:
    """The worker reports a BPMN error, which the model may catch; uncaught it fails the instance.

    Raises as `complete_task` does, and Invalid for an empty code.
    """
    task = _task(id)
    said: dict[str, Any] = {"code": named(code, "code"), "message": _said(message, MESSAGE_LIMIT)}
    said["variables"] = checked(variables)
    return _answer(
        task,
        worker,
        lambda at: c.ThrowBpmnError(at=at, task=task.ordinal, worker=worker, **said),
        actor=actor,
        key=key,
        cause=cause,
    )


def _answer(
    task: Entity, worker: str, command: MakeCommand, *, actor: str | None, key: str | None, cause: int | None
) -> CommitRecord:
    """The worker's answer, as a step of the instance. What the engine itself cannot take fails the task, so that it is
    not worked on after each lock for ever.
    """
    who = _who(worker, actor)
    try:
        return act(task, command, actor=who, key=key, cause=cause)
    except DETERMINISTIC as fault:
        log.exception("answer cannot be taken", task=str(task.id), worker=worker)
        text = f"the engine could not take the answer: {in_words(fault)}"
        said: dict[str, Any] = {"task": task.ordinal, "worker": worker, "message": _said(text, MESSAGE_LIMIT)}
        act(task, lambda at: c.FailExternalTask(at=at, **said), actor=who, cause=cause)
        raise Refused(text, code="fault") from fault


def extend_lock(
    id: UUID | str,
    *,
    worker: str,
    seconds: float = LOCK_SECONDS,
    key: str | None = None,
    actor: str | None = None,
) -> None:
    """Hold the task for so many more seconds from now. Raises NotFound, Invalid, KeyConflict, Refused (as
    `complete_task`).
    """
    task = _task(id)
    who, more = _who(worker, actor), bounded(seconds, "seconds", LONGEST_LOCK)

    def extend(channel: Channel | None) -> Done:
        lock = claims.extend(task.id, worker, more, actor=who, channel=channel)
        if lock is None:
            raise _why_not(task, worker)
        return Done(lock.sequence, lock.lock_expire_at.isoformat())

    said = {"verb": "extend_lock", "task": str(task.id), "worker": worker, "seconds": more}
    act_outside(who, key, said, extend)


def unlock_task(
    id: UUID | str, *, actor: str, worker: str | None = None, reason: str | None = None, key: str | None = None
) -> None:
    """Give the task back, READY at once. With `worker` only where that one holds it; an operator takes it from anyone.

    Raises NotFound, Invalid, KeyConflict and Refused.
    """
    task = _task(id)
    who, stated = acting_as(actor), given_reason(reason)
    holder = None if worker is None else named(worker, "worker")

    def unlock(channel: Channel | None) -> Done:
        released = claims.unlock(task.id, worker=holder, actor=who, reason=stated, channel=channel)
        if released is None:
            raise _why_not(task, worker)
        return Done(released.sequence, released.worker)

    act_outside(who, key, {"verb": "unlock_task", "task": str(task.id), "worker": holder}, unlock)


def _why_not(task: Entity, worker: str | None) -> Exception:
    """Why a lock could not be touched: the same words as `semantics.locks` has for a step."""
    rows = query(None, "task_lock", {"id": task.id})
    if not rows:
        return NotFound(f"there is no external task {task.id}")
    state, owner, ended, running = rows[0]
    if not running:
        return Refused("the instance has ended", code="not_running")
    if state != "LOCKED":
        code = "not_locked" if state == "READY" else "wrong_state"
        return Refused(f"the task is {state}, not LOCKED" + (f" by {worker}" if worker else ""), code=code)
    if worker is not None and owner != worker:
        return Refused(f"the task is locked by {owner}, not by {worker}", code="wrong_worker")
    return Refused(f"the lock of {owner} ran out at {ended.isoformat()}", code="lock_expired")


def _who(worker: str, actor: str | None) -> str:
    """Who acts: the worker, unless another speaks for it. Raises Invalid for a name that neither may have."""
    name = acting_as(worker, "worker")
    return name if actor is None else acting_as(actor)


def _each(topics: Topics, lock_seconds: float) -> dict[str, Topic]:
    """At least one topic, each with its seconds and names. Raises Invalid."""
    if isinstance(topics, str) or not isinstance(topics, Iterable) or not topics:
        raise Invalid("topics must be a list of at least one topic, or a map of topics")
    names = [named(name, "topic") for name in topics]
    seconds = _seconds(lock_seconds)
    each = claims.each_topic(topics if isinstance(topics, Mapping) else names, seconds)
    return {name: Topic(_seconds(topic.lock_seconds), _names(topic.variables)) for name, topic in each.items()}


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """The variables that a topic asks for, each once; None for all. Raises Invalid."""
    if names is None:
        return None
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise Invalid("variables of a topic must be a list of their names")
    found = tuple(islice(names, MOST_NAMES + 1))
    if len(found) > MOST_NAMES:
        raise Invalid(f"variables of a topic must be {MOST_NAMES} names at most; where none are given all are sent")
    return tuple(dict.fromkeys(named(name, "the name of a variable", limit=NAME_LIMIT) for name in found))


def _said_of(topics: Topics, each: Mapping[str, Topic]) -> Any:
    """The topics as a key stands for them."""
    if not isinstance(topics, Mapping):
        return list(each)
    return {name: [topic.lock_seconds, topic.variables] for name, topic in each.items()}


def _short(topic: Topic) -> float:
    """Its seconds, as a command has them: whole numbers cost less in JSON than exact ones."""
    seconds = topic.lock_seconds or 0.0
    return seconds if seconds % 1 else int(seconds)


def _seconds(seconds: float | None) -> float:
    """How long a lock may be. Raises Invalid."""
    if seconds is None:
        raise Invalid("lock_seconds must be a number of seconds")
    return bounded(seconds, "lock_seconds", LONGEST_LOCK)


def _task(id: UUID | str) -> Entity:
    return entity(id, "external task")


def _said(text: str, limit: int) -> str:
    """Free text as history keeps it: bounded, and without the character that PostgreSQL does not store."""
    return str(text).replace("\x00", "\ufffd").encode("utf-8", "replace").decode()[:limit]
