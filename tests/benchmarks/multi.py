"""Multi-instance: the time that one element takes must not depend on how many there are.

The worker needs no variables and asks for none, as a worker of a long list should: the list would go with each element.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from bpm import engine
from tests.benchmarks import models
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line, chosen, measured, percentiles

NAME = "multi"
SIZES = {"short": (5, 20), "usual": (100, 1_000, 10_000), "full": (100, 1_000, 10_000)}
WANTED = {"bench.many": engine.Topic(variables=[])}


class Worker:
    """Starts one and does all of it."""

    def __init__(self, place: int) -> None:
        pass

    def work(self, size: int) -> tuple[float, float, list[float]]:
        """Seconds an element took: to make it, to fetch and complete it; and each completion's own."""
        began = time.perf_counter()
        instance = engine.start("many", {"items": list(range(size))}, actor=models.ACTOR).thread_id
        while engine.continue_instance(instance):
            pass  # so many commits a call
        made = time.perf_counter()
        took = []
        while tasks := engine.fetch_and_lock(WANTED, worker="bench", max=50):
            for task in tasks:
                before = time.perf_counter()
                engine.complete_task(task.id, worker="bench", cause=task.sequence)
                took.append(time.perf_counter() - before)
        if len(took) != size:
            raise RuntimeError(f"{size} elements, {len(took)} completed")
        return (made - began) / size, (time.perf_counter() - made) / size, took


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Each size as often as it takes for about the same number of elements; the larger ones beside the smallest."""
    sizes = SIZES[scale]
    most = chosen(scale, 20, 1_000, 10_000)
    first: dict[str, float] = {}
    with ground.database(NAME), Crowd(1, Worker) as crowd:
        models_ready(crowd)
        for size in sizes:
            done = [crowd.ask("work", size).values[0] for _ in range(max(1, most // size))]
            for part, values in (("made", [one[0] for one in done]), ("done", [one[1] for one in done])):
                middle = statistics.median(values)
                first.setdefault(part, middle)
                more = {"of_smallest": middle / first[part]}
                if part == "done":
                    more |= percentiles([each for one in done for each in one[2]])
                milliseconds = [1000 * value for value in values]
                yield measured(f"element {part}, {size:,} elements", milliseconds, "ms/element", size, more=more)


def models_ready(crowd: Crowd) -> None:
    """Deploy, and let the process warm up."""
    models.deployed(models.many("many", "bench.many"))
    crowd.ask("work", 20)
