"""What the schedulers ask again and again, as one table. Each job asks the database what is due and does a bounded
share of it; each may run twice, at once or not at all without harm.

A job returns what it did as counts; when it did something, an ENGINE_TICK says so, and once a minute one says that the
schedulers are alive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from bpm import engine
from bpm.audit import checking, sealing
from bpm.audit.archive import due
from bpm.audit.export import requests
from bpm.jobs import handlers
from bpm.jobs.announcer import SENDER

log = structlog.get_logger(__name__)

type Counts = Mapping[str, int]

# Tasks that are ready for so many seconds have been forgotten: their wake-up was lost.
FORGOTTEN = 2.0
# Wake-ups that one round sends for a topic: a queue that is only slow is not flooded.
WAKE_UPS = 100


def wake_topics() -> Counts:
    """Announce tasks that are ready and that nobody has taken, of topics that this program has handlers for."""
    waiting = engine.forgotten_tasks(handlers.topics(), older_than=FORGOTTEN, limit=WAKE_UPS)
    for topic, number in waiting.items():
        SENDER.tell(engine.Announcement(topics=(topic,) * number))
    return {}


def seal_history() -> Counts:
    """Seal what is over. It is no reason for a tick: that would be something to seal again."""
    sealing.seal()
    return {}


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do every so many seconds."""

    every: float
    run: Callable[[], Counts]


# name -> how often and what
JOBS: dict[str, Job] = {
    "timers": Job(1, engine.fire_due_timers),
    "start_timers": Job(1, engine.fire_start_timers),
    "locks": Job(2, engine.release_expired_locks),
    "tokens": Job(5, engine.advance_left_behind),
    "messages": Job(2, engine.deliver_pending),
    "expired_messages": Job(30, engine.expire_messages),
    "tasks": Job(2, wake_topics),
    "partitions": Job(3600, engine.ensure_partitions),
    "receipts": Job(3600, engine.sweep_receipts),
    "old_messages": Job(3600, engine.sweep_messages),
    "ended": Job(600, engine.sweep_ended),
    "invariants": Job(300, checking.check_sample),
    "seals": Job(5, seal_history),
    "exports": Job(10, requests.run_waiting),
    "archive": Job(6 * 3600, due.archive_due),
}


# What a program without beat leaves alone: it does tasks itself, and the others would keep it from all else.
APART = ("tasks", "exports", "archive")


def run_job(name: str) -> Counts:
    """Run one job; an ENGINE_TICK where it did something. What it raises is logged and left to its next turn."""
    try:
        counts = JOBS[name].run()
        engine.tick(name, counts)
    except Exception:
        log.exception("job failed", job=name)
        return {}
    return counts


@dataclass(slots=True)
class Rounds:
    """Holds when each job ran last in this process; for programs that do without Celery beat."""

    last: dict[str, float] = field(default_factory=dict)

    def run_due(self) -> int:
        """Run the jobs whose time has come; how much they did. The first time, look for what was left behind."""
        done = 0 if self.last else sum(engine.recover().values())
        for name, job in JOBS.items():
            now = time.monotonic()
            if name not in APART and now - self.last.get(name, float("-inf")) >= job.every:
                self.last[name] = now
                done += sum(run_job(name).values())
        return done
