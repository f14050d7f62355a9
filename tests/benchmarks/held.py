"""A transaction held open while eight workers run: its snapshot keeps every dead entry of the queue's index in place.

What counts is the rate at the end against that at the beginning; beside it the same without such a transaction.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg

from bpm import engine
from tests.benchmarks import models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line, chosen, measured

NAME = "held"
TOPIC = "bench.held"


class Worker:
    """Takes one task at a time and completes it."""

    def __init__(self, place: int) -> None:
        self.name = f"worker{place}"

    def work(self, seconds: float) -> list[float]:
        """For so long; when each was done, in seconds since the beginning."""
        began, done = time.monotonic(), []
        while time.monotonic() - began < seconds:
            for task in engine.fetch_and_lock([TOPIC], worker=self.name, max=1):
                engine.complete_task(task.id, worker=self.name, variables={"n": 1}, cause=task.sequence)
                done.append(time.monotonic() - began)
        return done


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Without, then with the transaction."""
    seconds, workers = chosen(scale, 1, 40, 120), chosen(scale, 2, 8, 8)
    share = seconds / 6
    for held in (False, True):
        with ground.database(NAME) as url, ExitStack() as stack:
            models.deployed(models.loop("work", TOPIC))
            instance = engine.start("work", {"n": 0}, actor=models.ACTOR).thread_id
            stock.copies(instance, chosen(scale, 30, 400, 400))
            crowd = stack.enter_context(Crowd(workers, Worker))
            crowd.ask("work", 0.5 if scale == "short" else 3)
            if held:
                other = stack.enter_context(psycopg.connect(url))
                other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                other.execute("SELECT count(*) FROM external_tasks WHERE state = 'READY'")
            done = [moment for each in crowd.ask("work", seconds).values for moment in each]
        start = sum(moment < share for moment in done) / share
        end = sum(seconds - share <= moment < seconds for moment in done) / share
        name = f"a transaction held for {seconds} s" if held else f"{seconds} s without one"
        more = {"end_of_start": end / start if start else 0.0, "at_start": start}
        yield measured(name, [end], "tasks/s at the end", len(done), connections=workers, more=more)
