"""More workers, as a site has them: one Celery worker with one to four processes, woken through a broker.

Tasks do nothing, so a process does little but ask PostgreSQL: what is measured is the whole way of a task, from its
wake-up to the commit that ends it and announces the next one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from bpm import engine
from bpm.engine.announcing import register, unregister
from bpm.jobs.announcer import wake
from bpm.jobs.schedule import wake_topics
from bpm.jobs.starting import tell_celery
from bpm.store import schedule
from config.celery import app
from config.processes import Process
from tests.benchmarks import models, stock
from tests.benchmarks.ground import Ground
from tests.benchmarks.handling.handlers import TOPIC
from tests.benchmarks.instances import celery_worker, wait_for
from tests.benchmarks.lines import Line, chosen, measured

NAME = "celery-workers"
KEY = "five"
TASKS = 5


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """One to four processes in turn, each on instances of its own."""
    counts = chosen(scale, (1, 2), (1, 2, 3, 4), (1, 2, 3, 4))
    number, repetitions = chosen(scale, 4, 60, 1_000), chosen(scale, 1, 3, 5)
    rates: dict[int, list[float]] = {processes: [] for processes in counts}
    servers: dict[int, list[float]] = {processes: [] for processes in counts}
    with ground.database(NAME), celery_worker(ground, 1) as worker, _not_woken():
        models.deployed(models.row(KEY, TOPIC, TASKS))
        for _ in range(repetitions):
            for processes in counts:
                _resize(processes, worker)
                _work(number // 10 + processes, worker)  # to warm up
                before = ground.cpu()
                rates[processes].append(_work(number, worker))
                servers[processes].append(1000 * (ground.cpu() - before) / (number * TASKS))
    one = statistics.median(rates[1])
    for processes in counts:
        more = {
            "of_one": statistics.median(rates[processes]) / one,
            "server_cpu_ms": statistics.median(servers[processes]),
        }
        yield measured(
            "tasks through Celery", rates[processes], "tasks/s", number * TASKS, connections=processes, more=more
        )


@contextmanager
def _not_woken() -> Iterator[None]:
    """A start in this block wakes nobody: all are to begin at one moment."""
    unregister("celery")
    app.set_default()
    try:
        yield
    finally:
        register("celery", tell_celery)


def _resize(processes: int, worker: Process) -> None:
    """Give the worker so many processes."""

    def size() -> int:
        told = app.control.inspect(timeout=2).stats() or {}
        return len(next(iter(told.values()))["pool"]["processes"]) if told else 0

    more = processes - (now := size())
    if now and more:
        (app.control.pool_grow if more > 0 else app.control.pool_shrink)(abs(more))
    wait_for(lambda: size() == processes, 60, worker)


def _work(number: int, worker: Process) -> float:
    """Let the worker do so many instances; tasks a second, from the first that was completed to the last."""
    began = schedule.now()
    for _ in range(number):
        engine.start(KEY, {"n": 0}, actor=models.ACTOR)
    wake([TOPIC] * number)
    wait_for(_all_ended, 120 + number * TASKS / 2, worker, every=1.0)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), extract(epoch FROM max(at) - min(at))::float FROM external_task_events"
            " WHERE event_type = 'TASK_COMPLETED' AND at > %s",
            [began],
        )
        done, seconds = cursor.fetchone()
    if done != number * TASKS:
        raise RuntimeError(f"{done} tasks were completed, not {number * TASKS}")
    return (done - 1) / seconds


def _all_ended() -> bool:
    """Asked every second; wakes for what was forgotten, as beat does: a wake-up that waits for a minute is dropped."""
    wake_topics()
    return stock.count("SELECT count(*) FROM process_instances WHERE state = 'RUNNING'") == 0
