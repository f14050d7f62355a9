"""Timers: ten thousand that are due at once, and two hundred a second for a minute.

The first is drained by schedulers that ask again at once; in the second one scheduler asks as often as the schedule of
`bpm.jobs` lets it, and how late each timer fired is read in history.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

from django.db import connection

from bpm import engine
from bpm.jobs.schedule import JOBS
from bpm.store import schedule
from tests.benchmarks import models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line, chosen, measured, percentiles

NAME = "timers"
RATE = 200


class Scheduler:
    """Fires what is due."""

    def __init__(self, place: int) -> None:
        pass

    def drain(self) -> int:
        """Until nothing is due; how many it fired."""
        fired = 0
        while more := engine.fire_due_timers()["timers"]:
            fired += more
        return fired

    def keep_firing(self, count: int, seconds: float) -> int:
        """As the schedule does, until so many were fired, but no longer than that."""
        fired, until = 0, time.monotonic() + seconds
        while fired < count and time.monotonic() < until:
            began = time.monotonic()
            fired += JOBS["timers"].run()["timers"]
            time.sleep(max(0.0, JOBS["timers"].every - (time.monotonic() - began)))
        return fired


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Due at once with one scheduler and with four; then spread over a minute."""
    due = chosen(scale, 60, 10_000, 10_000)
    for schedulers in (1, 4):
        rates = []
        for _ in range(chosen(scale, 1, 1, 3)):
            with ground.database(NAME):
                _lay(due, "now() - interval '1 second'")
                with Crowd(schedulers, Scheduler) as crowd:
                    done = crowd.ask("drain")
                if sum(done.values) != due or _fired() != due:
                    raise RuntimeError(f"{due} were due, {sum(done.values)} fired, {_fired()} are in history")
                rates.append(due / done.seconds)
        yield measured("timers due at once", rates, "timers/s", due, connections=schedulers, more={"doubled": 0})
    seconds = chosen(scale, 1, 60, 60)
    with ground.database(NAME):
        first = schedule.now() + timedelta(seconds=chosen(scale, 1, 8, 8))
        _lay(RATE * seconds, f"'{first.isoformat()}'::timestamptz + k.n * interval '{1 / RATE} seconds'")
        with Crowd(1, Scheduler) as crowd:
            crowd.ask("keep_firing", RATE * seconds, seconds + 60)
        late = _lateness()
    yield measured(
        "lateness at 200 timers/s", [float(percentiles(late)["p99_ms"])], "ms (p99)", len(late), more=percentiles(late)
    )


def _lay(count: int, fire_at: str) -> None:
    models.deployed(models.waiting("waiting"))
    later = (schedule.now() + timedelta(days=1)).isoformat()
    instance = engine.start("waiting", {"until": later}, actor=models.ACTOR).thread_id
    stock.copies(instance, count, overrides={"timers": {"fire_at": fire_at}})


def _fired() -> int:
    return stock.count("SELECT count(DISTINCT timer_id) FROM timer_events WHERE event_type = 'TIMER_FIRED'")


def _lateness() -> list[float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM e.at - t.fire_at)::float8 FROM timer_events e JOIN timers t ON t.id = e.timer_id"
            " WHERE e.event_type = 'TIMER_FIRED'"
        )
        return [row[0] for row in cursor.fetchall()]
