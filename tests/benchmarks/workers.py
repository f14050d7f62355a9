"""More workers: whole cycles of work, a task fetched and completed, by one to four processes, until PostgreSQL or the
processors are the limit; then the same through Celery.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bpm import engine
from tests.benchmarks import celery_workers, models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line, chosen, measured

NAME = "workers"
TOPIC = "bench.workers"


class Worker:
    """Fetches ten tasks and completes them, again and again."""

    def __init__(self, place: int) -> None:
        self.name = f"worker{place}"

    def work(self, count: int) -> int:
        """About so many tasks; how many it were."""
        done = 0
        while done < count:
            tasks = engine.fetch_and_lock([TOPIC], worker=self.name, max=10)
            for task in tasks:
                engine.complete_task(task.id, worker=self.name, variables={"n": done}, cause=task.sequence)
            done += len(tasks)
        return done


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """One to four processes in turn, on instances whose work never ends."""
    counts = (1, 2, 3, 4)
    each, repetitions = chosen(scale, 20, 1_200, 6_000), chosen(scale, 1, 3, 5)
    rates: dict[int, list[float]] = {workers: [] for workers in counts}
    clients: dict[int, list[float]] = {workers: [] for workers in counts}
    servers: dict[int, list[float]] = {workers: [] for workers in counts}
    with ground.database(NAME):
        models.deployed(models.loop("work", TOPIC))
        instance = engine.start("work", {"n": 0}, actor=models.ACTOR).thread_id
        stock.copies(instance, chosen(scale, 60, 500, 2_000))
        for _ in range(repetitions):
            for workers in counts:
                with Crowd(workers, Worker) as crowd:
                    crowd.ask("work", 10)
                    before = ground.cpu()
                    done = crowd.ask("work", each // workers)
                    servers[workers].append(1000 * (ground.cpu() - before) / sum(done.values))
                rates[workers].append(sum(done.values) / done.seconds)
                clients[workers].append(1000 * done.cpu / sum(done.values))
    one = statistics.median(rates[1])
    for workers in counts:
        more = {
            "of_one": statistics.median(rates[workers]) / one,
            "client_cpu_ms": statistics.median(clients[workers]),
            "server_cpu_ms": statistics.median(servers[workers]),
        }
        yield measured("tasks fetched and completed", rates[workers], "tasks/s", each, connections=workers, more=more)
    yield from celery_workers.run(ground, scale)
