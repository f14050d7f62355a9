"""The figures of the dashboard and of /metrics. All are bounded, so that they cost the same on any amount of data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Min
from django.db.models.functions import TruncHour

from bpm.models import EngineEvent, ExternalTask, Incident, ProcessInstance, Timer, Token, UserTask
from bpm.queries.paging import Count, count_up_to

COUNTED = 100_000
READ_FOR_CHART = 50_000
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """What happened to instances within one hour."""

    at: datetime
    started: int
    completed: int
    failed: int


def figures() -> Figures:
    """The figures of now."""
    tasks = ExternalTask.objects.all()
    return Figures(
        instances={state: count_up_to(ProcessInstance.objects.filter(state=state), COUNTED) for state in STATES},
        incidents=count_up_to(Incident.objects.filter(state="OPEN"), COUNTED),
        user_tasks=count_up_to(UserTask.objects.filter(state__in=["READY", "CLAIMED"]), COUNTED),
        ready_tasks=count_up_to(tasks.filter(state="READY"), COUNTED),
        locked_tasks=count_up_to(tasks.filter(state="LOCKED"), COUNTED),
        failed_tasks=count_up_to(Incident.objects.filter(state="OPEN", kind="task"), COUNTED),
        timers=count_up_to(Timer.objects.filter(state="SCHEDULED"), COUNTED),
        active_tokens=count_up_to(Token.objects.filter(state="ACTIVE"), COUNTED),
        next_timer=oldest_due(),
    )


def open_incidents() -> Count:
    """How many incidents are open, counted no further than a badge shows."""
    return count_up_to(Incident.objects.filter(state="OPEN"), 999)


def oldest_due() -> datetime | None:
    """When the next timer is due; in the past: timers are late."""
    found: datetime | None = Timer.objects.filter(state="SCHEDULED").aggregate(at=Min("fire_at"))["at"]
    return found


def ready_by_topic(limit: int = 100) -> list[tuple[str, int]]:
    """(topic, READY external tasks), the most first, counted among the first COUNTED of them."""
    ready = ExternalTask.objects.filter(state="READY").order_by().values_list("topic", flat=True)[:COUNTED]
    return Counter(ready).most_common(limit)


def last_hours(now: datetime, hours: int = 24) -> list[Hour]:
    """What happened to instances in each of the last hours, the oldest first (of at most READ_FOR_CHART instances)."""
    end = now.replace(minute=0, second=0, microsecond=0)
    begin = end - timedelta(hours=hours - 1)
    started = _hourly(ProcessInstance.objects.filter(started_at__gte=begin), "started_at")
    ended = ProcessInstance.objects.filter(ended_at__gte=begin)
    completed = _hourly(ended.filter(state="COMPLETED"), "ended_at")
    failed = _hourly(ended.filter(state__in=["FAILED", "CANCELLED"]), "ended_at")
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


def _hourly(rows: Any, column: str) -> Counter[datetime]:
    hours = rows.order_by(f"-{column}").annotate(hour=TruncHour(column)).values_list("hour", flat=True)
    return Counter(hours[:READ_FOR_CHART])
