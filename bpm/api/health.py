"""/healthz: the process answers. /readyz: it can do its work. /metrics: the figures, for Prometheus.

These three need no authentication and tell no secret: which parts are well, and numbers. Who wants /metrics kept
from the public does so in the proxy.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bpm.audit import checking, sealing
from bpm.queries import installation, overview
from bpm.store import schema

log = structlog.get_logger(__name__)

type View = Callable[[HttpRequest], HttpResponse]

KEPT = 1.0
# How long a request waits for what another one finds, in seconds.
PATIENCE = 1.0
LATE = {"status": "unfit", "parts": {"database": {"ok": False, "why": "it has not answered in time"}}}


def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers; asks nobody else."""
    return JsonResponse({"status": "ok"})


def kept(view: View) -> View:
    """Answer with what was found a moment ago: whoever may ask, however often, the database is asked once in that time
    (the setting BPM_HEALTH_KEPT, in seconds). One request looks while the others wait for what it finds: not for long,
    then they say 503, so that a database that hangs does not take every thread of the server.
    """
    lock = threading.Lock()
    last: tuple[float, int, str, bytes] | None = None

    @wraps(view)
    def answering(request: HttpRequest) -> HttpResponse:
        nonlocal last
        if not lock.acquire(timeout=PATIENCE):
            return JsonResponse(LATE, status=503)
        try:
            if last is None or time.monotonic() - last[0] >= getattr(settings, "BPM_HEALTH_KEPT", KEPT):
                found = view(request)
                last = (time.monotonic(), found.status_code, found["Content-Type"], found.content)
            _at, status, kind, content = last
        finally:
            lock.release()
        return HttpResponse(content, status=status, content_type=kind)

    return answering


@kept
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when every part is fit, else 503; says which is not and why."""
    parts = {name: _checked(check) for name, check in CHECKS.items()}
    fit = all(part["ok"] for part in parts.values())
    return JsonResponse({"status": "ok" if fit else "unfit", "parts": parts}, status=200 if fit else 503)


@kept
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of now in Prometheus's text format; 503 where the database does not answer."""
    registry = CollectorRegistry()
    try:
        registry.register(Figures())
        return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    except DatabaseError as error:
        log.warning("metrics failed", error=str(error))
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain")


def _database() -> str | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


def _schema() -> str | None:
    missing = installation.unapplied_migrations()
    if missing:
        return f"migrations to be applied: {', '.join(missing)}"
    verdict = schema.verify()
    return None if verdict.fit else "; ".join(verdict.differences)


def _partitions() -> str | None:
    ahead = installation.months_ahead(timezone.now())
    return None if ahead >= 1 else f"history has partitions for {max(ahead, 0)} months ahead; it needs at least 1"


# What has to be fit; each says what is wrong, or None.
CHECKS: dict[str, Callable[[], str | None]] = {"database": _database, "schema": _schema, "partitions": _partitions}


def _checked(check: Callable[[], str | None]) -> dict[str, Any]:
    try:
        wrong = check()
    except DatabaseError as error:
        log.warning("not ready", error=str(error))
        wrong = "the database does not answer"
    return {"ok": wrong is None, **({"why": wrong} if wrong else {})}


class Figures:
    """Collects when it is scraped: what counts is in the database, not in this process."""

    def collect(self) -> Iterator[Metric]:
        """The metrics, all gauges."""
        now = timezone.now()
        figures = overview.figures()
        instances = GaugeMetricFamily(
            "tokentrail_instances", "Instances by state (counted up to 100,000)", labels=["state"]
        )
        for state, count in figures.instances.items():
            instances.add_metric([state], count.number)
        yield instances
        ready = GaugeMetricFamily(
            "tokentrail_tasks_ready",
            "External tasks that wait for a worker, of the topics with most (together counted up to 100,000)",
            labels=["topic"],
        )
        for topic, number in overview.ready_by_topic():
            ready.add_metric([topic], number.number)
        yield ready
        late = 0.0 if figures.late_timers is None else max(0.0, (now - figures.late_timers).total_seconds())
        tick = overview.last_tick()
        behind = sealing.delay()
        for name, text, value in (
            ("tokentrail_tasks_locked", "External tasks in work", figures.locked_tasks.number),
            ("tokentrail_incidents_open", "Incidents that wait for an operator", figures.incidents.number),
            ("tokentrail_user_tasks_open", "User tasks that wait for people", figures.user_tasks.number),
            ("tokentrail_tokens_active", "Tokens that the engine has to advance", figures.active_tokens.number),
            ("tokentrail_timers_scheduled", "Timers that are not yet due or not yet fired", figures.timers.number),
            ("tokentrail_oldest_due_timer_seconds", "How late the oldest due timer is; 0: none is late", late),
            (
                "tokentrail_partitions_ahead",
                "Months ahead that history has partitions for",
                installation.months_ahead(now),
            ),
            ("tokentrail_seal_delay_seconds", "Age of the oldest commit that no seal holds", behind.seconds),
            ("tokentrail_oldest_transaction_seconds", "What holds seals and vacuum back", behind.oldest_transaction),
            ("tokentrail_violations", "Broken invariants noted in the last 30 days", checking.violations()),
        ):
            yield GaugeMetricFamily(name, text, value=value)
        if tick is not None:
            seconds = max(0.0, (now - tick).total_seconds())
            yield GaugeMetricFamily(
                "tokentrail_scheduler_last_tick_seconds", "Since a scheduler last ran", value=seconds
            )
