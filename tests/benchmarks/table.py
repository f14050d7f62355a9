"""The figures by name, in the order in which they run and stand on the page."""

from __future__ import annotations

from collections.abc import Iterable

from tests.benchmarks import (
    contention,
    cost,
    growth,
    held,
    hot_path,
    instances,
    memory,
    multi,
    pages,
    peers,
    queue,
    reading,
    timers,
    workers,
)
from tests.benchmarks.figure import Figure


def _minutes(usual: int, full: int) -> dict[str, float]:
    return {"short": 5, "usual": usual, "full": full}


FIGURES = (
    Figure("hot-path", hot_path.run, _minutes(15, 60)),
    Figure("instances", instances.run, _minutes(15, 60)),
    Figure("queue", queue.run, _minutes(15, 60)),
    Figure("timers", timers.run, _minutes(10, 20)),
    Figure("multi-instance", multi.run, _minutes(15, 30)),
    Figure("contention", contention.run, _minutes(10, 30)),
    Figure("workers", workers.run, _minutes(10, 30)),
    Figure("cost", cost.run, _minutes(10, 30)),
    Figure("held", held.run, _minutes(10, 20)),
    Figure("memory", memory.run, _minutes(10, 90)),
    Figure("reading", reading.run, _minutes(15, 120)),
    Figure("pages", pages.run, _minutes(15, 120)),
    Figure("growth", growth.run, _minutes(20, 120)),
    Figure("peers", peers.run, _minutes(20, 60)),
)


def chosen(names: Iterable[str], after: str | None = None) -> list[Figure]:
    """The figures of these names (all, where none is given), or that one and those that follow it. Raises KeyError."""
    known = {figure.name: figure for figure in FIGURES}
    if after is not None:
        return list(FIGURES[FIGURES.index(known[after]) :])
    return [known[name] for name in names] or list(FIGURES)
