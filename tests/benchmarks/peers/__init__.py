"""Other engines at the same work: on the same server, in the same run, in an environment of their own (the dependency
group `peers`). Ours and theirs in turn; what each does more or less than we do is said on the page.

- DBOS Transact: a workflow of ten steps. A durable step is one whose result is committed; of ours, locking and
  completing one task count as one.
- SpiffWorkflow, its state saved after every step: ten tasks in a row, and a multi-instance of 300.
- Procrastinate: the rate of a queue alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bpm import engine
from tests.benchmarks import models, multi, stock, workers
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.instances import Worker
from tests.benchmarks.lines import Line, chosen, measured, ratio
from tests.benchmarks.peers import environment

NAME = "peers"
STEPS = 10


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Ours alone with --short where the peers are not installed: nothing is fetched then."""
    python = environment.installed() if scale == "short" else environment.install()
    with ground.administration() as server:
        server.execute("DROP DATABASE IF EXISTS bench_peers_theirs WITH (FORCE)")
        server.execute("CREATE DATABASE bench_peers_theirs")
    # In the form that SQLAlchemy reads, too.
    theirs = f"postgresql://postgres@/bench_peers_theirs?host={ground.postgres.sockets}"
    with ground.database(NAME):
        models.deployed(models.row("ten", "bench.ten", STEPS))
        models.deployed(models.many("many", "bench.many"))
        models.deployed(models.loop("queue", workers.TOPIC))
        instance = engine.start("queue", {"n": 0}, actor=models.ACTOR).thread_id
        stock.copies(instance, chosen(scale, 30, 400, 400))
        yield from _steps(scale, python, theirs)
        yield from _saved(scale, python, theirs)
        yield from _queue(scale, python, theirs)


def _steps(scale: str, python: Path | None, url: str) -> Iterator[Line]:
    count = chosen(scale, 4, 80, 400)
    for processes in chosen(scale, (1,), (1, 4), (1, 4)):
        ways: dict[str, Callable[[], float]] = {"ours": _ten(processes, count)}
        if python:
            share = [url, count // processes, 1]
            ways["DBOS"] = partial(environment.run, python, "dbos_steps", share, processes)
            if processes > 1:
                ways["DBOS, threads"] = partial(environment.run, python, "dbos_steps", [url, count, processes])
        yield from _compared(scale, "ten steps in a row", "steps/s", ways, count * STEPS, processes)


def _saved(scale: str, python: Path | None, url: str) -> Iterator[Line]:
    count, size = chosen(scale, 2, 40, 200), chosen(scale, 20, 300, 300)
    ways: dict[str, Callable[[], float]] = {"ours": _ten(1, count)}
    if python:
        ways["SpiffWorkflow"] = partial(environment.run, python, "spiff_saved", [url, "row", count])
    yield from _compared(scale, "ten tasks in a row, state saved", "tasks/s", ways, count * 10, 1)
    ways = {"ours": partial(_many, size)}
    if python:
        ways["SpiffWorkflow"] = partial(environment.run, python, "spiff_saved", [url, "many", 1])
    yield from _compared(scale, f"multi-instance of {size}, state saved", "tasks/s", ways, size, 1)


def _queue(scale: str, python: Path | None, url: str) -> Iterator[Line]:
    count = chosen(scale, 40, 1_500, 6_000)
    for processes in chosen(scale, (1,), (1, 4), (1, 4)):
        ways: dict[str, Callable[[], float]] = {"ours": _taken(processes, count)}
        if python:
            ways["Procrastinate"] = partial(environment.run, python, "procrastinate_jobs", [url, count, processes])
        yield from _compared(scale, "a queue alone", "tasks/s", ways, count, processes)


def _compared(
    scale: str, what: str, unit: str, ways: Mapping[str, Callable[[], float]], n: int, connections: int
) -> Iterator[Line]:
    """Each way in turn; our lines say how many times theirs it is."""
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(chosen(scale, 1, 3, 5)):
        for name, way in ways.items():
            rates[name].append(way())
    for name, found in rates.items():
        more = {f"times {other}": ratio(found, others) for other, others in rates.items() if other != name}
        yield measured(f"{what}: {name}", found, unit, n, connections=connections, more=more if name == "ours" else {})


def _ten(processes: int, count: int) -> Callable[[], float]:
    def way() -> float:
        with Crowd(processes, Worker) as crowd:
            crowd.ask("work", "ten", 2)
            return STEPS * (count // processes) * processes / crowd.ask("work", "ten", count // processes).seconds

    return way


def _many(size: int) -> float:
    with Crowd(1, multi.Worker) as crowd:
        crowd.ask("work", 2)
        return size / crowd.ask("work", size).seconds


def _taken(processes: int, count: int) -> Callable[[], float]:
    def way() -> float:
        with Crowd(processes, workers.Worker) as crowd:
            crowd.ask("work", 10)
            done = crowd.ask("work", count // processes)
            return float(sum(done.values)) / done.seconds

    return way
