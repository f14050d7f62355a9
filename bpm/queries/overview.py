"""The figures of the dashboard and of /metrics. All are bounded, so that they cost the same on any amount of data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bpm.models import EngineEvent, Incident
from bpm.queries.paging import Count, count_up_to
from bpm.queries.replica import reading

COUNTED = 100_000
READ_FOR_CHART = 50_000
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
# One that was made when its time had passed (a cycle catches up) is late since then.
LATE_TIMERS = """
    SELECT min(greatest(fire_at, created_at)) FROM (
        SELECT fire_at, created_at FROM timers WHERE state = 'SCHEDULED' AND fire_at <= clock_timestamp()
        ORDER BY fire_at LIMIT %(late)s
    ) due
"""
# One statement: on a busy machine each one waits for its turn.
FIGURES = "SELECT {}, ({}), ({})".format(
    ", ".join(f"(SELECT count(*) FROM (SELECT FROM {what} LIMIT %(limit)s + 1) x)" for what in COUNTS.values()),  # noqa: S608
    NEXT_TIMER,
    LATE_TIMERS,
)
# From topic to topic along the index of ready tasks, and each counted by itself.
READY_BY_TOPIC = """
    WITH RECURSIVE topics AS (
        SELECT min(topic) AS topic FROM external_tasks WHERE state = 'READY'
        UNION ALL
        SELECT (SELECT min(e.topic) FROM external_tasks e WHERE e.state = 'READY' AND e.topic > t.topic)
        FROM topics t WHERE t.topic IS NOT NULL
    )
    SELECT t.topic, (
        SELECT count(*) FROM (
            SELECT FROM external_tasks e WHERE e.state = 'READY' AND e.topic = t.topic LIMIT %(counted)s + 1
        ) ready
    ) AS number
    FROM (SELECT topic FROM topics WHERE topic IS NOT NULL LIMIT %(topics)s) t
    ORDER BY number DESC, topic LIMIT %(limit)s
"""
TOPICS_READ = 1000
HOURLY = """
    SELECT 'started', date_trunc('hour', started_at, 'UTC'), count(*) FROM (
        SELECT started_at FROM process_instances WHERE started_at >= %(begin)s ORDER BY started_at DESC LIMIT %(read)s
    ) lately
    GROUP BY 2
    UNION ALL
    SELECT CASE state WHEN 'COMPLETED' THEN 'completed' ELSE 'failed' END, date_trunc('hour', ended_at, 'UTC'), count(*)
    FROM (
        SELECT ended_at, state FROM process_instances WHERE ended_at >= %(begin)s ORDER BY ended_at DESC LIMIT %(read)s
    ) lately
    GROUP BY 1, 2
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
    """What happened to instances within one hour."""

    at: datetime
    started: int
    completed: int
    failed: int


def figures(limit: int = COUNTED) -> Figures:
    """The figures of now, each counted up to `limit`."""
    with reading() as cursor:
        cursor.execute(FIGURES, {"limit": limit, "late": LATE_READ})
        *numbers, next_timer, late_timers = cursor.fetchone()
    counts = {name: Count(min(number, limit), number > limit) for name, number in zip(COUNTS, numbers, strict=True)}
    others: dict[str, Any] = {name: count for name, count in counts.items() if name not in STATES}
    return Figures(
        instances={state: counts[state] for state in STATES}, next_timer=next_timer, late_timers=late_timers, **others
    )


def open_incidents() -> Count:
    """How many incidents are open, counted no further than a badge shows."""
    return count_up_to(Incident.objects.filter(state="OPEN"), 999)


def ready_by_topic(limit: int = 100, counted: int = COUNTED) -> list[tuple[str, Count]]:
    """(topic, its READY external tasks), the most first; each counted no further than `counted`."""
    with reading() as cursor:
        cursor.execute(READY_BY_TOPIC, {"counted": counted, "topics": TOPICS_READ, "limit": limit})
        return [(topic, Count(min(number, counted), number > counted)) for topic, number in cursor.fetchall()]


def last_hours(now: datetime, hours: int = 24) -> list[Hour]:
    """What happened to instances in each of the last hours, the oldest first (of at most READ_FOR_CHART instances)."""
    end = now.replace(minute=0, second=0, microsecond=0)
    begin = end - timedelta(hours=hours - 1)
    with reading() as cursor:
        cursor.execute(HOURLY, {"begin": begin, "read": READ_FOR_CHART})
        numbers = Counter({(what, hour): number for what, hour, number in cursor.fetchall()})
    return [
        Hour(at=at, **{what: numbers[what, at] for what in ("started", "completed", "failed")})
        for at in (begin + timedelta(hours=number) for number in range(hours))
    ]


def last_tick() -> datetime | None:
    """When a scheduler last wrote that it runs; None where none ever has."""
    return (
        EngineEvent.objects.filter(instance_id=None, event_type="ENGINE_TICK")
        .order_by("-at")
        .values_list("at", flat=True)
        .first()
    )
