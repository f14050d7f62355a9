"""Memory of a worker over many instances, and how long a server takes from its start until it is ready."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from bpm import engine
from tests.benchmarks import models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.instances import served
from tests.benchmarks.lines import Line, chosen, measured

NAME = "memory"
TOPIC = "bench.memory"
PAGE = os.sysconf("SC_PAGE_SIZE")


class Worker:
    """Does the one task of each instance; each ends with it."""

    def __init__(self, place: int) -> None:
        pass

    def work(self, count: int) -> tuple[int, float]:
        """So many instances; how many it were, and megabytes that the process has in memory afterwards."""
        done = 0
        while done < count and (tasks := engine.fetch_and_lock([TOPIC], worker="bench", max=min(50, count - done))):
            for task in tasks:
                engine.complete_task(task.id, worker="bench", variables={"n": done})
                done += 1
        return done, _resident()


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """The worker, then the server."""
    count, warm = chosen(scale, 60, 4_000, 100_000), chosen(scale, 20, 500, 500)
    with ground.database(NAME), Crowd(1, Worker) as crowd:
        models.deployed(models.row("one", TOPIC, 1))
        instance = engine.start("one", {"n": 0}, actor=models.ACTOR).thread_id
        stock.copies(instance, count + warm)
        _, before = crowd.ask("work", warm).values[0]
        done, after = crowd.ask("work", count).values[0]
        if done != count:
            raise RuntimeError(f"{done} instances were done, not {count}")
        yield measured(
            "a worker's memory has grown by",
            [after - before],
            "MB",
            count,
            more={"before_mb": before, "after_mb": after},
        )
        seconds = []
        for _ in range(chosen(scale, 1, 3, 5)):
            began = time.monotonic()
            with served(ground, 1):
                seconds.append(time.monotonic() - began)
        yield measured("server start to ready", seconds, "s", 1)


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 2**20
