"""The engine's verbs for a program of all shards: each finds the shard and is the engine's own there."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from bpm import engine
from sharded.shards import SHARDS, shard_for, shard_of, using

_TURNS = itertools.count()


def start(process: str, business_key: str, variables: Mapping[str, Any], *, actor: str) -> engine.CommitRecord:
    """Start an instance on the shard of its business key; asked twice, it is the same one."""
    with using(shard_for(business_key)):
        return engine.start(process, variables, business_key=business_key, key=business_key, actor=actor)


def publish(name: str, business_key: str, variables: Mapping[str, Any], *, actor: str, key: str) -> engine.Published:
    """Leave a message for the instance of that business key, on its shard. With the same key it is left once, so that
    a handler may say it again: that is how instances on different shards tell each other something.
    """
    with using(shard_for(business_key)):
        return engine.publish(name, business_key=business_key, variables=variables, actor=actor, key=key)


def throw_signal(name: str, *, actor: str, key: str) -> list[engine.Published]:
    """A signal is heard by all: one on each shard. Cut off in between, throw it again with the same key."""
    return list(everywhere(lambda: engine.throw_signal(name, actor=actor, key=key)).values())


def fetch_and_lock(topics: Sequence[str], *, worker: str, max: int = 1) -> list[engine.LockedTask]:
    """Lock up to `max` ready tasks. Each call begins with the next shard, so that none is left behind."""
    first, found = next(_TURNS), list[engine.LockedTask]()
    for turn in range(first, first + len(SHARDS)):
        with using(SHARDS[turn % len(SHARDS)]):
            found += engine.fetch_and_lock(topics, worker=worker, max=max - len(found))
        if len(found) == max:
            break
    return found


def complete_task(id: UUID, *, worker: str, variables: Mapping[str, Any] | None = None) -> engine.CommitRecord:
    """Complete a task where its instance lives, which its id tells."""
    with using(shard_of(id)):
        return engine.complete_task(id, worker=worker, variables=variables)


def everywhere[Answer](ask: Callable[[], Answer]) -> dict[str, Answer]:
    """What each shard answers, one after the other."""
    answers = {}
    for shard in SHARDS:
        with using(shard):
            answers[shard] = ask()
    return answers
