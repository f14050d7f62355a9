"""Reading history: replay (folded and compared with the rows; decided again as well), traces, exports."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import UUID

from django.db import connection

from bpm.audit import trace
from bpm.audit.export import Selection, export
from bpm.audit.places import file_at
from bpm.audit.replaying import replay_stored
from tests.benchmarks.ground import Ground
from tests.benchmarks.grown import grown
from tests.benchmarks.lines import Line, chosen, measured, percentiles

AT_ONCE = 50
# What is generated keeps the moments of the timers of its pattern, and the rows of its tokens are not there: neither is
# a fault of the engine's, and neither is what is measured.
EXPECTED = frozenset({"rows-differ", "decided-otherwise"})


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """On the large history, instances from all over it."""
    count = chosen(scale, 20, 2_000, 10_000)
    with grown(ground, scale) as there:
        instances = _some(count)
        about = {"of_events": there.events}
        for name, again in (("replay", False), ("replay, decided again", True)):
            rates = [_replayed(instances, again) for _ in range(chosen(scale, 1, 3, 3))]
            yield measured(name, rates, "events/s", len(instances), more=about)
        took, read = [], 0
        for instance in instances:
            before = time.perf_counter()
            read += len(trace.trace(instance).events)
            took.append(time.perf_counter() - before)
        yield measured("trace", [read / sum(took)], "events/s", len(took), more=percentiles(took) | about)
        for form in ("jsonl", "csv", "xes"):
            yield _exported(ground, form, instances, about)


def _some(count: int) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS place, count(*) OVER () AS there"
            " FROM process_instances WHERE definition_key = 'generated_order') a"
            " WHERE place %% greatest(1, there / %s) = 0 LIMIT %s",
            [count, count],
        )
        return [row[0] for row in cursor.fetchall()]


def _replayed(instances: list[UUID], again: bool) -> float:
    events, began = 0, time.perf_counter()
    for at in range(0, len(instances), AT_ONCE):
        for outcome in replay_stored(instances[at : at + AT_ONCE], again=again):
            events += outcome.events
            problems = [one for one in outcome.problems if one.code not in EXPECTED]
            if problems:
                raise RuntimeError(f"{outcome.instance}: {problems[0]}")
    return events / (time.perf_counter() - began)


def _exported(ground: Ground, form: str, instances: list[UUID], about: dict[str, float | int | str]) -> Line:
    file = ground.folder / f"export.{form}"
    to, name = file_at(str(file))
    began = time.perf_counter()
    manifest = export(Selection(instances=tuple(instances)), form, to, name, actor="bench").manifest
    rate = manifest["events"] / (time.perf_counter() - began)
    more = {"bytes_an_event": manifest["file"]["bytes"] / manifest["events"], **about}
    file.unlink()
    return Line(name=f"export {form}", value=rate, unit="events/s", n=manifest["events"], more=more)
