"""The figures of the dashboard and of /metrics. All are bounded, so that they cost the same on any amount of data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from bpm.models import EngineEvent, Incident
from bpm.queries.paging import Count, count_up_to
from bpm.queries.replica import reading

COUNTED = 100_000
READ_FOR_CHART = 50_000
FAILURES_READ = 20_000
LATE_READ = 10_000
STATES = ("RUNNING", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED")
# What is counted. Each condition is that of an index, which is read alone.
COUNTS = {state: f"process_instances WHERE state = '{state}'" for state in STATES} | {
    "incidents": "incidents WHERE state = 'OPEN'",
    "user_tasks": "user_tasks WHERE state IN ('READY', 'CLAIMED')",
    "ready_tasks": "external_tasks WHERE state = 'READY'",
    "locked_tasks": "external_tasks WHERE state = 'LOCKED'",
    "timers": "timers WHERE state = 'SCHEDULED'",
    "active_tokens": "tokens WHERE state = 'ACTIVE'",
}
NEXT_TIMER = "SELECT min(fire_at) FROM timers WHERE state = 'SCHEDULED'"
# One that was made when its time had passed (a cycle catches up) is late since then. What is late, and what waits for a
# worker, is asked where it is done: on a replica that lags, all of it would seem to wait longer.
LATE_TIMERS = """
    SELECT min(greatest(fire_at, created_at)) FROM (
        SELECT fire_at, created_at FROM timers WHERE state = 'SCHEDULED' AND fire_at <= clock_timestamp()
        ORDER BY fire_at LIMIT %(late)s
    ) due
"""
# One statement: on a busy machine each one waits for its turn.
FIGURES = "SELECT {}, ({})".format(
    ", ".join(f"(SELECT count(*) FROM (SELECT FROM {what} LIMIT %(limit)s + 1) x)" for what in COUNTS.values()),  # noqa: S608
    NEXT_TIMER,
)
# From topic to topic along the index of ready tasks. All are counted a little, to tell which have most; those further.
# What each may be counted to is its share of a budget, so that many topics cost no more than one.
READY_BY_TOPIC = """
    WITH RECURSIVE topics AS (
        SELECT min(topic) AS topic FROM external_tasks WHERE state = 'READY'
        UNION ALL
        SELECT (SELECT min(e.topic) FROM external_tasks e WHERE e.state = 'READY' AND e.topic > t.topic)
        FROM topics t WHERE t.topic IS NOT NULL
    ), found AS MATERIALIZED (
        SELECT topic FROM topics WHERE topic IS NOT NULL LIMIT %(topics)s
    ), most AS MATERIALIZED (
        SELECT topic FROM (
            SELECT f.topic, (
                SELECT count(*) FROM (
                    SELECT FROM external_tasks e WHERE e.state = 'READY' AND e.topic = f.topic
                    LIMIT (SELECT greatest(1, %(budget)s / count(*)) FROM found)
                ) a_few
            ) AS number
            FROM found f
        ) ranked
        WHERE (SELECT count(*) FROM found) > %(limit)s
        ORDER BY number DESC, topic LIMIT %(limit)s
    ), shown AS MATERIALIZED (
        SELECT topic FROM most
        UNION ALL
        SELECT topic FROM found WHERE (SELECT count(*) FROM found) <= %(limit)s
    ), share AS MATERIALIZED (
        SELECT least(%(each)s, greatest(1, %(budget)s / greatest(1, count(*)))) AS each FROM shown
    )
    SELECT s.topic, (
        SELECT count(*) FROM (
            SELECT FROM external_tasks e WHERE e.state = 'READY' AND e.topic = s.topic
            LIMIT (SELECT each + 1 FROM share)
        ) ready
    ) AS number, (SELECT each FROM share)
    FROM shown s ORDER BY number DESC, topic
"""
TOPICS_READ = 1000
# Failures have a limit of their own, for all that are kept: beyond it, those among the newest ended ones count.
HOURLY = """
    WITH started AS MATERIALIZED (
        SELECT started_at AS at FROM process_instances WHERE started_at >= %(begin)s
        ORDER BY started_at DESC LIMIT %(read)s + 1
    ), ended AS MATERIALIZED (
        SELECT ended_at AS at, state FROM process_instances WHERE ended_at >= %(begin)s
        ORDER BY ended_at DESC LIMIT %(read)s + 1
    ), failures AS MATERIALIZED (
        (SELECT ended_at AS at FROM process_instances WHERE state = 'FAILED'
         ORDER BY started_at DESC LIMIT %(failures)s + 1)
        UNION ALL
        (SELECT ended_at FROM process_instances WHERE state = 'CANCELLED'
         ORDER BY started_at DESC LIMIT %(failures)s + 1)
    ), told AS (
        SELECT 'started' AS what, at FROM started
        UNION ALL
        SELECT 'completed', at FROM ended WHERE state = 'COMPLETED'
        UNION ALL
        SELECT 'failed', at FROM ended
        WHERE state <> 'COMPLETED' AND (SELECT count(*) FROM failures) > %(failures)s
        UNION ALL
        SELECT 'failed', at FROM failures
        WHERE at >= %(begin)s AND (SELECT count(*) FROM failures) <= %(failures)s
    )
    SELECT what, date_trunc('hour', at, 'UTC'), count(*) FROM told GROUP BY 1, 2
    UNION ALL
    SELECT 'cut started', min(at), count(*) FROM started HAVING count(*) > %(read)s
    UNION ALL
    SELECT 'cut completed', min(at), count(*) FROM ended HAVING count(*) > %(read)s
    UNION ALL
    SELECT 'cut failed', min(at), count(*) FROM ended
    HAVING count(*) > %(read)s AND (SELECT count(*) FROM failures) > %(failures)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What runs, what waits, what failed."""

    instances: dict[str, Count]
    incidents: Count
    user_tasks: Count
    ready_tasks: Count
    locked_tasks: Count
    timers: Count
    active_tokens: Count
    next_timer: datetime | None
    late_timers: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """What happened to instances within one hour; None: nothing of it was read."""

    at: datetime
    started: int | None
    completed: int | None
    failed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lately:
    """Hours, the oldest first. `since`: of which figure not all was read, and from when on it was."""

    hours: tuple[Hour, ...]
    since: dict[str, datetime]


def figures(limit: int = COUNTED) -> Figures:
    """The figures of now, each counted up to `limit`."""
    with reading() as cursor:
        cursor.execute(FIGURES, {"limit": limit})
        *numbers, next_timer = cursor.fetchone()
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(LATE_TIMERS, {"late": LATE_READ})
        (late_timers,) = cursor.fetchone()
    counts = {name: Count(min(number, limit), number > limit) for name, number in zip(COUNTS, numbers, strict=True)}
    others: dict[str, Any] = {name: count for name, count in counts.items() if name not in STATES}
    return Figures(
        instances={state: counts[state] for state in STATES}, next_timer=next_timer, late_timers=late_timers, **others
    )


def open_incidents() -> Count:
    """How many incidents are open, counted no further than a badge shows."""
    return count_up_to(Incident.objects.filter(state="OPEN"), 999)


def ready_by_topic(limit: int = 100, budget: int = COUNTED, each: int = COUNTED) -> list[tuple[str, Count]]:
    """(topic, its READY external tasks), the most first. Each is counted no further than `each`, and all those that are
    told together no further than `budget`, of which each has the same share.
    """
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(READY_BY_TOPIC, {"budget": budget, "each": each, "topics": TOPICS_READ, "limit": limit})
        return [(topic, Count(min(number, share), number > share)) for topic, number, share in cursor.fetchall()]


def last_hours(now: datetime, hours: int = 24) -> Lately:
    """What happened to instances in each of the last hours, of the newest READ_FOR_CHART started and ended ones."""
    end = now.replace(minute=0, second=0, microsecond=0)
    begin = end - timedelta(hours=hours - 1)
    with reading() as cursor:
        cursor.execute(HOURLY, {"begin": begin, "read": READ_FOR_CHART, "failures": FAILURES_READ})
        told = cursor.fetchall()
    numbers = Counter({(what, hour): number for what, hour, number in told})
    since = {what.removeprefix("cut "): at for what, at, _number in told if what.startswith("cut ")}

    def hour_of(at: datetime) -> Hour:
        counted = {
            what: numbers[what, at] if at + timedelta(hours=1) > since.get(what, begin) else None
            for what in ("started", "completed", "failed")
        }
        return Hour(at=at, **counted)

    return Lately(hours=tuple(hour_of(begin + timedelta(hours=number)) for number in range(hours)), since=since)


def last_tick() -> datetime | None:
    """When a scheduler last wrote that it runs; None where none ever has."""
    return (
        EngineEvent.objects.using(DEFAULT_DB_ALIAS)
        .filter(instance_id=None, event_type="ENGINE_TICK")
        .order_by("-at")
        .values_list("at", flat=True)
        .first()
    )
