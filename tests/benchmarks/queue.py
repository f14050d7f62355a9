"""fetch-and-lock: workers take tasks that are ready, from one instance and from many, one and fifty at a time.

100,000 tasks lie there. Each number of workers takes its share in turn; what they took is compared with what the
database has locked: no task twice, none lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import UUID

from bpm import engine
from tests.benchmarks import models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line, chosen, measured, percentiles

NAME = "queue"
WORKERS = {"short": (1, 2), "usual": (1, 2, 4, 8, 16), "full": (1, 2, 4, 8, 16)}
PER_INSTANCE = 5
TOPIC = "bench.queue"


class Doubled(AssertionError):
    """A task was given to two workers, or was lost."""


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Spread over many instances, then all in one."""
    ready = chosen(scale, 600, 100_000, 100_000)
    for spread in ("many instances", "one instance"):
        with ground.database(NAME):
            _lay(ready, spread)
            for batch in (1, 50):
                yield from _taken(scale, ready, spread, batch)


class Fetcher:
    """A worker that only takes."""

    def __init__(self, place: int) -> None:
        self.name = f"worker{place}"

    def take(self, batch: int, share: int) -> tuple[list[UUID], list[float]]:
        """As many tasks as its share, or fewer where there are no more; the ids, and seconds each fetch took."""
        taken: list[UUID] = []
        took: list[float] = []
        while len(taken) < share:
            began = time.perf_counter()
            tasks = engine.fetch_and_lock([TOPIC], worker=self.name, max=min(batch, share - len(taken)))
            took.append(time.perf_counter() - began)
            if not tasks:
                break
            taken += [task.id for task in tasks]
        return taken, took


def _lay(ready: int, spread: str) -> None:
    """The tasks, ready."""
    if spread == "one instance":
        # One task too many: the one of the instance that the engine started.
        models.deployed(models.many("queue", TOPIC))
        engine.start("queue", {"items": [1]}, actor=models.ACTOR)
        stock.multiply_tasks(ready - 1)
    else:
        models.deployed(models.fork("queue", TOPIC, PER_INSTANCE))
        instance = engine.start("queue", actor=models.ACTOR).thread_id
        stock.copies(instance, ready // PER_INSTANCE - 1)
    found = stock.count("SELECT count(*) FROM external_tasks WHERE state = 'READY'")
    if found != ready:
        raise RuntimeError(f"{found} tasks lie ready, not {ready}")


def _taken(scale: str, ready: int, spread: str, batch: int) -> Iterator[Line]:
    counts = WORKERS[scale]
    repetitions = chosen(scale, 1, 3, 3)
    # What all workers and repetitions take together is less than lies there.
    each = min(chosen(scale, 50, 800, 2000) * (1 if batch == 1 else 6), ready // (len(counts) * repetitions * 2))
    rates: dict[int, list[float]] = {workers: [] for workers in counts}
    times: dict[int, list[float]] = {workers: [] for workers in counts}
    for _ in range(repetitions):
        for workers in counts:
            with Crowd(workers, Fetcher) as crowd:
                crowd.ask("take", 1, 1)  # to warm up
                before = _locked()
                done = crowd.ask("take", batch, each // workers)
            ids = [id for taken, _ in done.values for id in taken]
            if len(set(ids)) != len(ids):
                raise Doubled(f"{len(ids) - len(set(ids))} tasks were given to two workers")
            if _locked() - before != len(ids) or len(ids) != each // workers * workers:
                raise Doubled(f"{len(ids)} tasks were taken, {_locked() - before} are locked")
            rates[workers].append(len(ids) / done.seconds)
            times[workers] += [second for _, took in done.values for second in took]
    for workers in counts:
        more = {"doubled": 0, "lost": 0, **percentiles(times[workers])}
        yield measured(
            f"fetch {batch}, {spread}", rates[workers], "tasks/s", each // workers * workers, connections=workers,
            more=more,
        )  # fmt: skip


def _locked() -> int:
    return stock.count("SELECT count(*) FROM external_tasks WHERE state = 'LOCKED'")
