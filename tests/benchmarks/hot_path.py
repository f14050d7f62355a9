"""complete-and-advance: a worker's task is completed, a variable set, the token moved to the next task.

Three ways to the same rows, in turn, on tables that they share: the engine; the bare calls of our store (with documents
made beforehand: no deciding, no checking); and the limit. Each has instances of its own. Between the repetitions,
unmeasured, the tasks that have come up are locked for their workers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from unittest import mock
from uuid import UUID

from django.db import connection

from bpm import engine
from bpm.semantics.state import State, Task
from bpm.store import django_channel, ids
from bpm.store.channel import Channel
from bpm.store.foreseeing import Foreseen
from bpm.store.unit import Unit
from bpm.store.wanting import Begun
from tests.benchmarks import models, pgbench, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line, chosen, measured, percentiles, ratio

NAME = "hot_path"
OURS, LIMIT, BARE = "7001", "7002", "7003"
FIRST = 1000  # the limit's script makes ids of four digits
CONNECTIONS = {"short": (1, 2), "usual": (1, 2, 4, 8, 16), "full": (1, 2, 4, 8, 16)}


@dataclass(frozen=True, slots=True)
class Size:
    """Instances of each kind; how often each is completed in a repetition, by one or two connections and by more; by
    the limit so many times more (its connections are new each time, and their first commits are slow); repetitions.
    """

    instances: int
    few: int
    many: int
    limit: int
    repetitions: int

    def passes(self, connections: int) -> int:
        """How often each instance is completed in a repetition."""
        return self.few if connections <= 2 else self.many


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Every number of connections; then what pgbench's own script reaches here."""
    size = chosen(scale, Size(16, 1, 1, 1, 1), Size(800, 1, 2, 2, 7), Size(3200, 1, 2, 2, 5))
    with ground.database(NAME):
        rounds = Rounds(ground, size)
        for connections in CONNECTIONS[scale]:
            yield from _compared(ground, rounds, size, connections)
        yield _tpcb(ground, scale)


class Rounds:
    """Holds how often the instances of each kind have been completed, and so what their next commits write."""

    def __init__(self, ground: Ground, size: Size, kinds: tuple[str, ...] = (OURS, LIMIT, BARE)) -> None:
        self.ground = ground
        self.size = size
        self.rounds = dict.fromkeys(kinds, 0)
        self.definitions = {kind: models.deployed(models.loop(f"loop{kind}", topic(kind))) for kind in self.rounds}
        for kind, definition in self.definitions.items():
            pattern = engine.start(definition, {"n": 0}, actor=models.ACTOR).thread_id
            # One more than are measured: the pattern of the bare calls.
            stock.copies(pattern, size.instances + 1, group=kind, first=FIRST, overrides=MADE_OF_NUMBERS.get(kind))

    def lock(self, kind: str) -> None:
        """Lock the tasks of all instances of that kind that are READY, as fetches would."""
        with connection.cursor() as cursor:
            cursor.execute(LOCKING, {"worker": worker(kind), "topic": topic(kind)})

    def next(self, kind: str, count: int = 1) -> int:
        """The number of the next round of that kind, of `count` that are made now."""
        self.rounds[kind] += count
        return self.rounds[kind] - count + 1


# The limit's script makes every id of the instance's number, so those that the engine draws are replaced.
MADE_OF_NUMBERS = {
    LIMIT: {
        "runtime_run_record": {"run_id": "('0000bbbb-7012-7000-8000-' || k.n || '00000000')::uuid"},
        "process_instances": {"run_id": "('0000bbbb-7012-7000-8000-' || k.n || '00000000')::uuid"},
        "variables": {"id": "('0000bbbb-7022-7000-8000-' || k.n || '00000000')::uuid"},
    }
}

# What `fetch_and_lock` writes, for all tasks of a topic at once: 5,000 of them are not what is measured here.
LOCKING = """
WITH stamp AS MATERIALIZED (SELECT nextval('runtime_commit_sequence') AS sequence, clock_timestamp() AS at),
noted AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, events, counters,
                                engine_version, format)
    SELECT sequence, at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', sequence,
           'FetchAndLock', '{}', %(worker)s, 0, '{}', '0.1.0', 1 FROM stamp
), locked AS (
    UPDATE external_tasks t SET state = 'LOCKED', lock_owner = %(worker)s, lock_expire_at = s.at + interval '1 hour',
           version = t.version + 1, commit_version = s.sequence, commit_at = s.at
    FROM stamp s WHERE t.topic = %(topic)s AND t.state = 'READY' RETURNING t.*, s.sequence
)
INSERT INTO external_task_events (
    at, instance_id, task_id, worker_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
    commit_sequence, ordinal, thread_version, row_version, actor, engine_version, format)
SELECT commit_at, instance_id, id, lock_owner, 'TASK_LOCKED', token_id, node_id, 'READY', 'LOCKED', 'work',
       jsonb_build_object('until', lock_expire_at), sequence, 0, sequence, version, lock_owner, '0.1.0', 1
FROM locked
"""


def topic(kind: str) -> str:
    """The topic of the tasks of that kind's instances."""
    return {OURS: "ours", LIMIT: "limit", BARE: "bare"}[kind]


def worker(kind: str) -> str:
    """Who holds them."""
    return topic(kind)


def thread(kind: str, number: int) -> UUID:
    """The instance of that number."""
    return stock.copied(FIRST + number, group=kind)


class Ours:
    """A worker of the engine, with its share of the instances."""

    def __init__(self, place: int, of: int, instances: int) -> None:
        self.threads = [thread(OURS, number) for number in range(place, instances, of)]

    def complete(self, round: int) -> list[float]:
        """Complete the task of each; seconds each took."""
        took = []
        for instance in self.threads:
            began = time.perf_counter()
            engine.complete_task(ids.entity(instance, round + 1), worker=worker(OURS), variables={"n": round + 1})
            took.append(time.perf_counter() - began)
        return took


@dataclass(frozen=True, slots=True)
class Call:
    """What a commit of the engine gave to the store: in one call, or (a process's first on an instance) in two."""

    document: str
    foreseen: tuple[int, Task] | None = None  # the thread's version, the task as it was taken to be
    asked: tuple[str, bool] | None = None  # what it asked for, and whether it held something


class Bare:
    """The store's calls alone. What they are given is taken from a commit of the engine on an instance of the same
    kind, the pattern, and made into that of each other instance beforehand.
    """

    def __init__(self, place: int, of: int, instances: int) -> None:
        self.threads = [thread(BARE, number) for number in range(place, instances, of)]
        self.ready: list[Callable[[Channel], object]] = []

    def prepare(self, call: Call, pattern: dict[str, str]) -> None:
        """Make the calls of the next round."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT v.thread_id, v.last_at, r.run_id, x.id FROM runtime_thread_version v"
                " JOIN runtime_run_record r USING (thread_id) JOIN variables x ON x.instance_id = v.thread_id"
                " WHERE v.thread_id = ANY (%s)",
                [self.threads],
            )
            about = {row[0]: row[1:] for row in cursor.fetchall()}
        self.ready = []
        for instance in self.threads:
            last_at, run, variable = about[instance]
            swaps = {
                pattern["thread"][:28]: str(instance)[:28],
                pattern["run"]: str(run),
                pattern["variable"]: str(variable),
            }
            document = json.loads(_swapped(call.document, swaps))
            if call.foreseen is not None:
                self.ready.append(_in_one(instance, last_at, document, *call.foreseen))
            elif call.asked is not None:
                asked = json.loads(_swapped(call.asked[0], swaps))
                if "projected" in asked:
                    asked["projected"]["last_at"] = last_at.isoformat()
                self.ready.append(_in_two(instance, document, asked, call.asked[1]))

    def complete(self) -> list[float]:
        """Make them; seconds each took."""
        channel = django_channel()
        took = []
        for made in self.ready:
            began = time.perf_counter()
            if made(channel) is None:
                raise RuntimeError("it was not as it was foreseen")
            took.append(time.perf_counter() - began)
        return took


def _in_one(
    instance: UUID, last_at: datetime, document: dict[str, Any], version: int, task: Task
) -> Callable[[Channel], object]:
    begun = Begun(state=State(thread=str(instance)), definition=instance, run=instance, run_number=1)
    seen = Foreseen(begun=begun, version=version, last_at=last_at, task=task, worker=worker(BARE))

    def settled(channel: Channel) -> object:
        with Unit(channel) as unit:
            return unit.settle(instance, seen, None, document)

    return settled


def _in_two(
    instance: UUID, document: dict[str, Any], asked: dict[str, Any], resume: bool
) -> Callable[[Channel], object]:
    def flushed(channel: Channel) -> object:
        with Unit(channel) as unit:
            document["at"] = unit.load(instance, asked, resume=resume)["at"]
            return unit.flush(document)

    return flushed


class Pattern:
    """The engine at work on one instance, what it gave to the store written down."""

    def __init__(self, place: int, instances: int) -> None:
        self.instance = thread(BARE, instances)

    def complete(self, round: int) -> tuple[Call, dict[str, str]]:
        """Complete its task; what the store was given, and the ids in it."""
        given: dict[str, Any] = {}
        load, flush, settle = Unit.load, Unit.flush, Unit.settle

        def loading(unit: Unit, instance: UUID, ask: dict[str, Any], *, resume: bool = False) -> dict[str, Any]:
            given["asked"] = json.dumps(ask), resume
            return load(unit, instance, ask, resume=resume)

        def flushing(unit: Unit, document: dict[str, Any]) -> dict[str, Any]:
            given["document"] = json.dumps(document)
            return flush(unit, document)

        def settling(
            unit: Unit, instance: UUID, seen: Foreseen, until: datetime | None, document: dict[str, Any]
        ) -> dict[str, Any] | None:
            given["document"], given["foreseen"] = json.dumps(document), (seen.version, seen.task)
            return settle(unit, instance, seen, until, document)

        with mock.patch.multiple(Unit, load=loading, flush=flushing, settle=settling):
            engine.complete_task(ids.entity(self.instance, round + 1), worker=worker(BARE), variables={"n": round + 1})
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT run_id, x.id FROM runtime_run_record r JOIN variables x ON x.instance_id = r.thread_id"
                " WHERE thread_id = %s",
                [self.instance],
            )
            run, variable = cursor.fetchone()
        ids_ = {"thread": str(self.instance), "run": str(run), "variable": str(variable)}
        return Call(**given), ids_


def _swapped(text: str, swaps: dict[str, str]) -> str:
    for old, new in swaps.items():
        text = text.replace(old, new)
    return text


@dataclass(frozen=True, slots=True)
class Pass:
    """One repetition of one way."""

    rate: float
    cpu: float
    server: float


def _compared(ground: Ground, rounds: Rounds, size: Size, connections: int) -> Iterator[Line]:
    """The three ways in turn; the first round of each is to warm up."""
    passes = size.passes(connections)
    n = size.instances * passes
    share = size.instances // connections
    ours, bare, limit, took = [], [], [], []
    with (
        Crowd(connections, lambda place: Ours(place, connections, size.instances)) as workers,
        Crowd(connections, lambda place: Bare(place, connections, size.instances)) as callers,
        Crowd(1, lambda place: Pattern(place, size.instances)) as pattern,
    ):
        for repetition in range(size.repetitions + 1):
            spoken, seconds = _ours(ground, rounds, passes, workers)
            bared = _bare(ground, rounds, passes, callers, pattern)
            limited = limit_of(ground, rounds, passes * size.limit, connections, share)
            if repetition:
                ours.append(spoken)
                bare.append(bared)
                limit.append(limited)
                took += seconds
    about = {"n": n, "connections": connections}
    rates = {name: [one.rate for one in found] for name, found in (("o", ours), ("b", bare), ("l", limit))}
    servers = {name: [one.server for one in found] for name, found in (("o", ours), ("b", bare), ("l", limit))}
    yield measured(
        "hot-path", rates["o"], "commits/s", ratio_to_limit=ratio(rates["o"], rates["l"]),
        ratio_to_bare=ratio(rates["o"], rates["b"]), more=percentiles(took), **about,
    )  # fmt: skip
    cpus = [one.cpu for one in ours]
    yield measured(
        "hot-path client CPU", cpus, "ms/commit", ratio_to_bare=ratio(cpus, [one.cpu for one in bare]), **about
    )
    yield measured(
        "hot-path server CPU", servers["o"], "ms/commit", ratio_to_limit=ratio(servers["o"], servers["l"]),
        ratio_to_bare=ratio(servers["o"], servers["b"]), **about,
    )  # fmt: skip
    yield measured("hot-path bare", rates["b"], "commits/s", ratio_to_limit=ratio(rates["b"], rates["l"]), **about)
    yield measured("hot-path limit", rates["l"], "commits/s", more={"server_ms": _middle(servers["l"])}, **about)


def _ours(ground: Ground, rounds: Rounds, passes: int, crowd: Crowd) -> tuple[Pass, list[float]]:
    seconds, cpu, server, took = 0.0, 0.0, 0.0, []
    for _ in range(passes):
        rounds.lock(OURS)
        round = rounds.next(OURS)
        before = ground.cpu()
        done = crowd.ask("complete", round)
        server += ground.cpu() - before
        seconds, cpu = seconds + done.seconds, cpu + done.cpu
        took += [each for share in done.values for each in share]
    n = rounds.size.instances * passes
    return Pass(n / seconds, 1000 * cpu / n, 1000 * server / n), took


def _bare(ground: Ground, rounds: Rounds, passes: int, crowd: Crowd, pattern: Crowd) -> Pass:
    seconds, cpu, server = 0.0, 0.0, 0.0
    for _ in range(passes):
        rounds.lock(BARE)
        recorded = pattern.ask("complete", rounds.next(BARE)).values[0]
        crowd.ask("prepare", *recorded)
        before = ground.cpu()
        done = crowd.ask("complete")
        server += ground.cpu() - before
        seconds, cpu = seconds + done.seconds, cpu + done.cpu
    n = rounds.size.instances * passes
    return Pass(n / seconds, 1000 * cpu / n, 1000 * server / n)


def limit_of(ground: Ground, rounds: Rounds, often: int, connections: int, share: int) -> Pass:
    """The limit's script, `often` on each of the connections' shares of instances."""
    rounds.lock(LIMIT)
    variables = {
        "base": rounds.next(LIMIT, often), "definition": rounds.definitions[LIMIT], "first": FIRST, "share": share,
        "i": -1,
    }  # fmt: skip
    database = str(connection.settings_dict["NAME"])
    done = pgbench.run(ground, database, pgbench.LIMIT, connections, share * often, variables)
    return Pass(done.rate, 0.0, 1000 * done.cpu / done.transactions)


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _tpcb(ground: Ground, scale: str) -> Line:
    """pgbench's own script at 8 clients, in a database of its own."""
    clients, each = 8, chosen(scale, 20, 1500, 4000)
    with ground.administration() as server:
        server.execute("DROP DATABASE IF EXISTS bench_tpcb WITH (FORCE)")
        server.execute("CREATE DATABASE bench_tpcb")
    pgbench.make_tpcb_tables(ground, "bench_tpcb", chosen(scale, 1, 20, 20))
    rates = [pgbench.run(ground, "bench_tpcb", None, clients, each).rate for _ in range(3)]
    with ground.administration() as server:
        server.execute("DROP DATABASE bench_tpcb WITH (FORCE)")
    return measured("pgbench tpcb-like", rates, "commits/s", clients * each, connections=clients)
