"""One instance with 200 branches, worked on by sixteen workers at once, against the same work that nobody contends
for: as many instances as workers, each worker with one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from bpm import engine
from tests.benchmarks import models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line, chosen, measured, ratio

NAME = "contention"


class Worker:
    """Completes tasks of a topic until there are none."""

    def __init__(self, place: int) -> None:
        self.name = f"worker{place}"
        self.place = place

    def work(self, own: bool) -> int:
        """On the instance that all work on, or on its own; how many tasks it completed."""
        topic = f"bench.own{self.place}" if own else "bench.all"
        done = 0
        while tasks := engine.fetch_and_lock([topic], worker=self.name, max=2):
            for task in tasks:
                engine.complete_task(task.id, worker=self.name, variables={f"n{self.place}": done})
                done += 1
        return done


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """In turn; every branch is completed once, and they join once."""
    workers, branches = chosen(scale, 4, 16, 16), chosen(scale, 10, 200, 200)
    contended, alone = [], []
    with ground.database(NAME), Crowd(workers, Worker) as crowd:
        models.deployed(models.fork("all", "bench.all", branches))
        for place in range(workers):
            models.deployed(models.fork(f"own{place}", f"bench.own{place}", max(2, branches // workers)))
        for repetition in range(chosen(scale, 1, 3, 5) + 1):
            instance = engine.start("all", actor=models.ACTOR).thread_id
            engine.continue_instance(instance)
            done = crowd.ask("work", False)
            joined = stock.count(
                "SELECT count(*) FROM token_events WHERE instance_id = %s AND event_type = 'TOKEN_JOINED'", instance
            )
            if sum(done.values) != branches or joined != 1 or _open():
                raise RuntimeError(f"{sum(done.values)} of {branches} completed, joined {joined} times, {_open()} open")
            for place in range(workers):
                engine.continue_instance(engine.start(f"own{place}", actor=models.ACTOR).thread_id)
            apart = crowd.ask("work", True)
            if repetition:
                contended.append(sum(done.values) / done.seconds)
                alone.append(sum(apart.values) / apart.seconds)
    about = {"n": branches, "connections": workers}
    yield measured(
        "one instance, all workers", contended, "tasks/s",
        more={"of_uncontended": ratio(contended, alone), "joins": 1, "doubled": 0}, **about,
    )  # fmt: skip
    yield measured("an instance each", alone, "tasks/s", **about)


def _open() -> int:
    return stock.count("SELECT count(*) FROM process_instances WHERE ended_at IS NULL")
