"""A database with much in it: history that `bpm generate` makes, instances that have ended and instances that run.

Made once a run, when the first figure asks for it: a million events and 100,000 instances, with --full ten million
events and a million instances. Those that have ended have all of their history; those that run were copied beside it
(`stock`), and have none before what is done with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO

from django.core.management import call_command
from django.db import connection

from bpm import engine
from tests.benchmarks import models, stock
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import chosen

DATABASE = "bench_grown"
TOPIC = "bench.grown"
MONTHS = 6


@dataclass(frozen=True, slots=True)
class Grown:
    """What lies there."""

    events: int
    instances: int


@contextmanager
def grown(ground: Ground, scale: str) -> Iterator[Grown]:
    """Django is connected to it in the block."""
    events = chosen(scale, 3_000, 1_000_000, 10_000_000)
    with ground.administration() as server:
        there = server.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if there is None:
            server.execute(f"CREATE DATABASE {DATABASE}_half TEMPLATE bench_template")
    if there is None:
        ground.enter(f"{DATABASE}_half")
        _fill(events, events // 10)
        ground.enter("postgres")
        with ground.administration() as server:
            # Only a whole one gets the name: one that was given up in the middle is not taken for it.
            server.execute(f"ALTER DATABASE {DATABASE}_half RENAME TO {DATABASE}")
    ground.enter(DATABASE)
    try:
        yield Grown(events, stock.count("SELECT count(*) FROM process_instances"))
    finally:
        ground.enter("postgres")


def _fill(events: int, instances: int) -> None:
    call_command(
        "bpm", "generate", "--events", str(events), "--months", str(MONTHS), stdout=StringIO(), stderr=StringIO()
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM process_instances")
        pattern = cursor.fetchone()[0]
        cursor.execute("BEGIN")
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in (_ENDED, _RUNS):
            cursor.execute(statement, {"pattern": pattern})
        cursor.execute("COMMIT")
    models.deployed(models.loop("running", TOPIC))
    instance = engine.start("running", {"n": 0}, actor=models.ACTOR).thread_id
    missing = instances - stock.count("SELECT count(*) FROM process_instances")
    if missing > 0:
        since = f"now() - k.n * interval '{MONTHS * 30 * 86_400 / missing} seconds'"
        stock.copies(instance, missing, overrides={"process_instances": {"started_at": since, "created_at": since}})


# The runtime rows of the instances that were generated: ended, as the one is that they are copies of.
_ENDED = """
INSERT INTO process_instances (id, ordinal, version, commit_version, commit_at, created_at, process_def_id,
                               definition_key, state, business_key, run_id, started_by, started_at, ended_at)
SELECT t.thread_id, p.ordinal, p.version, t.version, t.last_at, t.last_at - (p.ended_at - p.started_at),
       p.process_def_id, p.definition_key, p.state, p.business_key, t.thread_id, p.started_by,
       t.last_at - (p.ended_at - p.started_at), t.last_at
FROM runtime_thread_version t CROSS JOIN process_instances p
WHERE p.id = %(pattern)s AND t.thread_id <> p.id
"""
_RUNS = """
INSERT INTO runtime_run_record (run_id, thread_id, number, process_def_id, state, last_sequence, last_command, version,
                                commit_version, commit_at, started_at, ended_at)
SELECT i.id, i.id, r.number, r.process_def_id, r.state, r.last_sequence, r.last_command, r.version, i.commit_version,
       i.commit_at, i.started_at, i.ended_at
FROM process_instances i CROSS JOIN runtime_run_record r
WHERE r.thread_id = %(pattern)s AND i.id <> %(pattern)s
"""
