"""What history costs: rows, bytes of write-ahead log and of disk, for a commit and for an instance that has ended; and
the formula that says what a month of so many instances takes.

The formula has three numbers: for each instance, for each task in it, and for each parallel branch. They come of three
processes (one task, ten tasks, a fork of ten), and it is checked against a fourth that it was not made from: nine
tasks, four of them in a fork.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from tests.benchmarks import models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.instances import Worker
from tests.benchmarks.lines import Line, chosen

NAME = "cost"
HISTORY = (
    "runtime_commit", "token_events", "external_task_events", "timer_events", "work_events", "engine_events",
    "runtime_state_command",
)  # fmt: skip
BRANCHES_OF_MIXED = 4
SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Spent:
    """What instances of one process have cost in all."""

    instances: int
    tasks: int
    commits: int
    rows: int
    history: int
    runtime: int
    wal: int
    server: float
    client: float

    def each(self, what: str) -> float:
        """Of an instance."""
        return float(getattr(self, what)) / self.instances


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Each process in a database of its own; then the formula."""
    one = _spent(ground, models.row("one", "bench.one", 1), "one", 1, chosen(scale, 10, 600, 6000))
    ten = _spent(ground, models.row("ten", "bench.ten", 10), "ten", 10, chosen(scale, 5, 120, 1200))
    fork = _spent(ground, models.fork("fork", "bench.fork", 10), "fork", 10, chosen(scale, 5, 120, 1200))
    mixed = _spent(ground, models.mixed("mixed", "bench.mixed"), "mixed", 9, chosen(scale, 5, 120, 1200))
    for title, spent in (
        ("one task", one),
        ("ten tasks", ten),
        ("fork of ten", fork),
        ("nine tasks, four in a fork", mixed),
    ):
        yield from _told(title, spent)
    yield from _formula(one, ten, fork, mixed)


def _spent(ground: Ground, document: str, key: str, tasks: int, instances: int) -> Spent:
    """Run so many by one process, and look at what has grown."""
    with ground.database(f"{NAME}_{key}"), Crowd(1, Worker) as crowd:
        models.deployed(document)
        crowd.ask("work", key, 2)
        ground.settle()
        before, wal, cpu = _sizes(), ground.wal(), ground.cpu()
        client = crowd.ask("work", key, instances).cpu
        cpu, wal, after = ground.cpu() - cpu, ground.wal() - wal, _sizes()
    grown = {name: (after[name][0] - before[name][0], after[name][1] - before[name][1]) for name in after}
    history = {name: size for name, size in grown.items() if name in HISTORY}
    return Spent(
        instances=instances,
        tasks=tasks,
        commits=grown["runtime_commit"][0],
        rows=sum(rows for rows, _ in history.values()),
        history=sum(size for _, size in history.values()),
        runtime=sum(size for name, (_, size) in grown.items() if name not in HISTORY),
        wal=wal,
        server=cpu,
        client=client,
    )


def _sizes() -> dict[str, tuple[int, int]]:
    """Table -> its rows, and its bytes with indexes; of all months together."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(p.relname, c.relname)::text, sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c"
            " LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent"
            " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace GROUP BY 1"
        )
        sizes = dict(cursor.fetchall())
    return {name: (stock.count(f'SELECT count(*) FROM "{name}"'), size) for name, size in sizes.items()}


def _told(title: str, spent: Spent) -> Iterator[Line]:
    n = spent.instances
    yield Line(
        name=f"commit of {title}", value=spent.history / spent.commits, unit="bytes of history", n=n,
        more={"rows": spent.rows / spent.commits, "wal_bytes": spent.wal / spent.commits,
              "server_cpu_ms": 1000 * spent.server / spent.commits,
              "client_cpu_ms": 1000 * spent.client / spent.commits},
    )  # fmt: skip
    yield Line(
        name=f"instance of {title}", value=spent.each("history"), unit="bytes of history", n=n,
        more={"commits": spent.each("commits"), "rows": spent.each("rows"), "wal_bytes": spent.each("wal"),
              "runtime_bytes": spent.each("runtime")},
    )  # fmt: skip


def _formula(one: Spent, ten: Spent, fork: Spent, mixed: Spent) -> Iterator[Line]:
    """What is there for each instance, task and branch; held against the process that it was not made from."""
    found = {}
    n = one.instances + ten.instances + fork.instances
    for what, unit, factor in (
        ("history", "bytes", 1), ("runtime", "bytes", 1), ("wal", "bytes", 1), ("server", "ms of CPU", 1000),
        ("client", "ms of CPU", 1000),
    ):  # fmt: skip
        task = (ten.each(what) - one.each(what)) / (ten.tasks - one.tasks)
        base = one.each(what) - task * one.tasks
        branch = (fork.each(what) - base - task * fork.tasks) / fork.tasks
        found[what] = (base, task, branch)
        said = base + task * mixed.tasks + branch * BRANCHES_OF_MIXED
        more = {"an_instance": factor * base, "a_branch": factor * branch, "mixed_said": factor * said,
                "mixed_was": factor * mixed.each(what), "off_by": said / (mixed.each(what) or 1) - 1}  # fmt: skip
        yield Line(name=f"formula: {what}", value=factor * task, unit=f"{unit} a task", n=n, more=more)
    # An example for the reader: 100,000 instances of five tasks a day.
    day, tasks = 100_000, 5
    disk = 30 * day * (found["history"][0] + tasks * found["history"][1])
    cores = day * sum(found[what][0] + tasks * found[what][1] for what in ("server", "client")) / SECONDS_A_DAY
    yield Line(
        name="100,000 instances of five tasks a day", value=disk / 1e9, unit="GB of history a month", n=n,
        more={"cores_at_an_even_load": cores},
    )  # fmt: skip
