"""Other engines at the same work: on the same server, in the same run, in an environment of their own (the dependency
group `peers`). Ours and theirs in turn; what each does more or less than we do is said on the page.

- DBOS Transact: a workflow of ten steps. A durable step is one whose result is committed; of ours, locking and
  completing one task count as one.
- SpiffWorkflow, its state saved after every step: ten tasks in a row, and a multi-instance of 300.
- Procrastinate: the rate of a queue alone.

Beside them stands what the database itself can do of our commits: with one commit a step, nobody who writes what we
write can be faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bpm import engine
from tests.benchmarks import hot_path, models, multi, stock, workers
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
        limit = Limit(ground, chosen(scale, 16, 400, 1_600))
        yield from _steps(scale, python, theirs, limit)
        yield from _saved(scale, python, theirs, limit)
        yield from _queue(scale, python, theirs)


class Limit:
    """Holds the instances of the limit's script."""

    def __init__(self, ground: Ground, instances: int) -> None:
        self.ground = ground
        self.instances = instances
        self.rounds = hot_path.Rounds(ground, hot_path.Size(instances, 1, 1, 1, 1), (hot_path.LIMIT,))

    @property
    def commits(self) -> int:
        """How many a call makes."""
        return 2 * self.instances

    def __call__(self, connections: int) -> float:
        """Commits a second."""
        share = self.instances // connections
        return hot_path.limit_of(self.ground, self.rounds, 2, connections, share).rate


def _steps(scale: str, python: Path | None, url: str, limit: Limit) -> Iterator[Line]:
    count = chosen(scale, 4, 80, 400)
    for processes in chosen(scale, (1,), (1, 4), (1, 4)):
        ways: dict[str, Callable[[], float]] = {"ours": _ten(processes, count)}
        if python:
            share = [url, count // processes, 1]
            ways["DBOS"] = partial(environment.run, python, "dbos_steps", share, processes)
            if processes > 1:
                ways["DBOS, threads"] = partial(environment.run, python, "dbos_steps", [url, count, processes])
        yield from _compared(scale, "ten steps in a row", "steps/s", ways, count * STEPS, processes, limit)


def _saved(scale: str, python: Path | None, url: str, limit: Limit) -> Iterator[Line]:
    count, size = chosen(scale, 2, 40, 200), chosen(scale, 20, 300, 300)
    ways: dict[str, Callable[[], float]] = {"ours": _ten(1, count)}
    if python:
        ways["SpiffWorkflow"] = partial(environment.run, python, "spiff_saved", [url, "row", count])
    yield from _compared(scale, "ten tasks in a row, state saved", "tasks/s", ways, count * 10, 1, limit)
    ways = {"ours": partial(_many, size)}
    if python:
        ways["SpiffWorkflow"] = partial(environment.run, python, "spiff_saved", [url, "many", 1])
    yield from _compared(scale, f"multi-instance of {size}, state saved", "tasks/s", ways, size, 1, limit)


def _queue(scale: str, python: Path | None, url: str) -> Iterator[Line]:
    count = chosen(scale, 40, 1_500, 6_000)
    for processes in chosen(scale, (1,), (1, 4), (1, 4)):
        ways: dict[str, Callable[[], float]] = {"ours": _taken(processes, count)}
        if python:
            ways["Procrastinate"] = partial(environment.run, python, "procrastinate_jobs", [url, count, processes])
        yield from _compared(scale, "a queue alone", "tasks/s", ways, count, processes)


def _compared(
    scale: str,
    what: str,
    unit: str,
    ways: Mapping[str, Callable[[], float]],
    n: int,
    connections: int,
    limit: Limit | None = None,
) -> Iterator[Line]:
    """Each way in turn; our lines say how many times theirs it is, each line how much of the limit."""
    rates: dict[str, list[float]] = {name: [] for name in ways}
    limits: list[float] = []
    for _ in range(chosen(scale, 1, 3, 5)):
        for name, way in ways.items():
            rates[name].append(way())
        if limit is not None:
            limits.append(limit(connections))
    for name, found in rates.items():
        more = {f"times {other}": ratio(found, others) for other, others in rates.items() if other != name}
        yield measured(
            f"{what}: {name}", found, unit, n, connections=connections, more=more if name == "ours" else {},
            ratio_to_limit=ratio(found, limits) if limits else None,
        )  # fmt: skip
    if limit is not None:
        yield measured(f"{what}: limit", limits, "commits/s", limit.commits, connections=connections)


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
