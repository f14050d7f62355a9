"""Growth: the hot path on an empty history and on a large one, in turn, at eight connections."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.grown import DATABASE, grown
from tests.benchmarks.hot_path import OURS, Ours, Rounds, Size
from tests.benchmarks.lines import Line, chosen, measured, ratio

NAME = "growth"


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """The same work in two databases; the first repetition of each is to warm up."""
    size = chosen(scale, Size(16, 1, 1, 1, 1), Size(800, 2, 2, 1, 5), Size(3200, 2, 2, 1, 7))
    connections = chosen(scale, 2, 8, 8)
    with ground.database(NAME) as url:
        empty = str(url.rpartition("/")[2])
        rates: dict[str, list[float]] = {empty: [], DATABASE: []}
        crowds, rounds = {}, {}
        try:
            for database in rates:
                if database == DATABASE:
                    with grown(ground, scale) as there:
                        events = there.events
                ground.enter(database)
                rounds[database] = Rounds(ground, size, kinds=(OURS,))
                crowds[database] = Crowd(connections, lambda place: Ours(place, connections, size.instances))
                # Each process connects now, to this one.
            for repetition in range(size.repetitions + 1):
                for database, found in rates.items():
                    ground.enter(database)
                    seconds = 0.0
                    for _ in range(size.many):
                        rounds[database].lock(OURS)
                        seconds += crowds[database].ask("complete", rounds[database].next(OURS)).seconds
                    if repetition:
                        found.append(size.instances * size.many / seconds)
        finally:
            for crowd in crowds.values():
                crowd.close()
        ground.enter(empty)
    about = {"n": size.instances * size.many, "connections": connections}
    yield measured("hot path, empty history", rates[empty], "commits/s", **about)
    yield measured(
        f"hot path, {events:,} events", rates[DATABASE], "commits/s",
        more={"of_empty": ratio(rates[DATABASE], rates[empty])}, **about,
    )  # fmt: skip
