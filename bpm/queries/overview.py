"""The figures of the dashboard and of /metrics. All are bounded, so that they cost the same on any amount of data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Min

from bpm.models import EngineEvent, ExternalTask, Incident, ProcessInstance, Timer, Token, UserTask
from bpm.queries.paging import Count, count_up_to

COUNTED = 100_000
READ_FOR_CHART = 50_000
# Grouped where the rows are, and over a bounded number of them.
READY_BY_TOPIC = """
    SELECT topic, count(*) FROM (SELECT topic FROM external_tasks WHERE state = 'READY' LIMIT %s) ready
    GROUP BY topic ORDER BY count(*) DESC, topic LIMIT %s
"""
HOURLY = """
    SELECT date_trunc('hour', {column}, 'UTC'), count(*) FROM (
        SELECT {column} FROM process_instances WHERE {column} >= %s AND state = ANY(%s)
        ORDER BY {column} DESC LIMIT %s
    ) lately
    GROUP BY 1
"""
LATE_TIMERS = """
    SELECT min(greatest(fire_at, created_at)) FROM (
        SELECT fire_at, created_at FROM timers WHERE state = 'SCHEDULED' AND fire_at <= clock_timestamp()
        ORDER BY fire_at LIMIT %s
    ) due
"""
LATE_READ = 10_000
STATES = ("RUNNING", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What runs, what waits, what failed."""

    instances: dict[str, Count]
    incidents: Count
    user_tasks: Count
    ready_tasks: Count
    locked_tasks: Count
    failed_tasks: Count
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
    tasks = ExternalTask.objects.all()
    return Figures(
        instances={state: count_up_to(ProcessInstance.objects.filter(state=state), limit) for state in STATES},
        incidents=count_up_to(Incident.objects.filter(state="OPEN"), limit),
        user_tasks=count_up_to(UserTask.objects.filter(state__in=["READY", "CLAIMED"]), limit),
        ready_tasks=count_up_to(tasks.filter(state="READY"), limit),
        locked_tasks=count_up_to(tasks.filter(state="LOCKED"), limit),
        failed_tasks=count_up_to(Incident.objects.filter(state="OPEN", kind="task"), limit),
        timers=count_up_to(Timer.objects.filter(state="SCHEDULED"), limit),
        active_tokens=count_up_to(Token.objects.filter(state="ACTIVE"), limit),
        next_timer=next_due(),
        late_timers=late_since(),
    )


def open_incidents() -> Count:
    """How many incidents are open, counted no further than a badge shows."""
    return count_up_to(Incident.objects.filter(state="OPEN"), 999)


def next_due() -> datetime | None:
    """When the next timer is due."""
    found: datetime | None = Timer.objects.filter(state="SCHEDULED").aggregate(at=Min("fire_at"))["at"]
    return found


def late_since() -> datetime | None:
    """Since when a timer that is due has not fired; None: none is late. One that was made when its time had passed
    (a cycle catches up) is late since then.
    """
    with connection.cursor() as cursor:
        cursor.execute(LATE_TIMERS, [LATE_READ])
        found: datetime | None = cursor.fetchone()[0]
    return found


def ready_by_topic(limit: int = 100) -> list[tuple[str, int]]:
    """(topic, READY external tasks), the most first, counted among the first COUNTED of them."""
    with connection.cursor() as cursor:
        cursor.execute(READY_BY_TOPIC, [COUNTED, limit])
        return [(topic, number) for topic, number in cursor.fetchall()]


def last_hours(now: datetime, hours: int = 24) -> list[Hour]:
    """What happened to instances in each of the last hours, the oldest first (of at most READ_FOR_CHART instances)."""
    end = now.replace(minute=0, second=0, microsecond=0)
    begin = end - timedelta(hours=hours - 1)
    started = _hourly("started_at", STATES, begin)
    completed = _hourly("ended_at", ("COMPLETED",), begin)
    failed = _hourly("ended_at", ("FAILED", "CANCELLED"), begin)
    moments = [begin + timedelta(hours=number) for number in range(hours)]
    return [Hour(at=at, started=started[at], completed=completed[at], failed=failed[at]) for at in moments]


def last_tick() -> datetime | None:
    """When a scheduler last wrote that it runs; None where none ever has."""
    return (
        EngineEvent.objects.filter(instance_id=None, event_type="ENGINE_TICK")
        .order_by("-at")
        .values_list("at", flat=True)
        .first()
    )


def _hourly(column: str, states: Sequence[str], begin: datetime) -> Counter[datetime]:
    """How many instances of the states per hour. `column` is a name of ours, never of somebody outside."""
    statement = HOURLY.format(column=column)
    with connection.cursor() as cursor:
        cursor.execute(statement, [begin, list(states), READ_FOR_CHART])
        return Counter(dict(cursor.fetchall()))
