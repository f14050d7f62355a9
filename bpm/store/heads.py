"""Where the queue of each topic begins, as far as this process has seen: a fetch need not look further back.

While some transaction holds an old snapshot open, the entries of tasks that were claimed since then stay in the queue's
index, in front of those that are READY, and each fetch would walk over all of them. So a fetch looks at tasks that were
made after the last one claimed of the same priority, less a margin, and at all those of other priorities. What lies
further back (tasks given back, or tried again) is found by a fetch that looks at everything: the first one, one every
few seconds, and whenever else there would be nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

import psycopg

# Tasks become visible when they are committed, a little after the time that they carry.
MARGIN = timedelta(seconds=1)
# Seconds for which a fetch may trust what an earlier one has seen.
TRUST = 2.0
# Topics that are remembered of a database, and priorities of a topic; with more of them each fetch looks at everything.
TOPICS = 1_000
PRIORITIES = 8
LOWEST, HIGHEST = -(2**63), 2**63 - 1


class Claimed(Protocol):
    """What is asked of a task that was claimed."""

    @property
    def topic(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def created_at(self) -> datetime: ...


@dataclass(slots=True)
class Head:
    """Of one topic: when all of it was looked at last, and of each priority the time of the last task claimed."""

    looked_at: float
    claimed: dict[int, datetime] = field(default_factory=dict)


class Heads:
    """Holds the heads of the topics of one database."""

    def __init__(self) -> None:
        self._heads: dict[str, Head] = {}
        self._lock = threading.Lock()

    def places(self, topics: Collection[str]) -> list[dict[str, Any]] | None:
        """Where to look for tasks of these topics, as `bpm_fetch_and_lock` takes it; None is everywhere."""
        now = time.monotonic()
        found: list[dict[str, Any]] = []
        with self._lock:
            for topic in topics:
                head = self._heads.get(topic)
                if head is None or now - head.looked_at > TRUST or not 0 < len(head.claimed) <= PRIORITIES:
                    return None
                highest = HIGHEST
                for priority in sorted(head.claimed, reverse=True):
                    if priority < highest:
                        found.append({"topic": topic, "lowest": priority + 1, "highest": highest})
                    found.append({"topic": topic, "priority": priority, "since": head.claimed[priority] - MARGIN})
                    highest = priority - 1
                if highest >= LOWEST:
                    found.append({"topic": topic, "lowest": LOWEST, "highest": highest})
        return found

    def looked_at(self, topics: Iterable[str]) -> None:
        """All of these topics is looked at now, because it is time or because nothing was found otherwise: what was
        claimed before says nothing any more.
        """
        with self._lock:
            if len(self._heads) > TOPICS:
                self._heads.clear()
            for topic in topics:
                self._heads[topic] = Head(time.monotonic())

    def claimed(self, tasks: Iterable[Claimed]) -> None:
        """These tasks were claimed."""
        with self._lock:
            for task in tasks:
                head = self._heads.get(task.topic)
                if head is not None:
                    before = head.claimed.get(task.priority)
                    head.claimed[task.priority] = task.created_at if before is None else max(before, task.created_at)


class HeadsByDatabase:
    """Holds the heads of every database that this process works on."""

    def __init__(self) -> None:
        self._heads: dict[tuple[bytes, bytes, bytes], Heads] = {}

    def of(self, raw: psycopg.Connection[Any]) -> Heads:
        """Those of the connection's database."""
        there = raw.pgconn
        return self._heads.setdefault((there.host, there.port, there.db), Heads())


HEADS = HeadsByDatabase()
