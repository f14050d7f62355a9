"""What operations ask: /healthz, /readyz, /metrics, and the page of documentation."""

from __future__ import annotations

import threading

from django.http import HttpResponse
from django.test import Client, RequestFactory

from bpm.api import health
from bpm.queries import installation


def test_health_and_readiness(transactional_db):
    assert Client().get("/healthz").json() == {"status": "ok"}
    ready = Client().get("/readyz")
    assert ready.status_code == 200
    assert {name: part["ok"] for name, part in ready.json()["parts"].items()} == {
        "database": True, "schema": True, "partitions": True,
    }  # fmt: skip


def test_who_asks_often_gets_what_was_found_a_moment_ago(transactional_db, settings, monkeypatch):
    settings.BPM_HEALTH_KEPT = 60
    assert Client().get("/readyz").status_code == 200
    monkeypatch.setattr(installation, "months_ahead", lambda now: -1)
    assert Client().get("/readyz").status_code == 200
    settings.BPM_HEALTH_KEPT = 0
    assert Client().get("/readyz").status_code == 503


def test_nobody_waits_long_for_a_database_that_hangs(monkeypatch):
    monkeypatch.setattr(health, "PATIENCE", 0.01)
    asked, answers = threading.Event(), threading.Event()

    @health.kept
    def hanging(request):
        asked.set()
        answers.wait(30)
        return HttpResponse("well")

    request = RequestFactory().get("/readyz")
    first = threading.Thread(target=hanging, args=[request])
    first.start()
    try:
        assert asked.wait(30)
        assert hanging(request).status_code == 503
    finally:
        answers.set()
        first.join(30)
    assert (hanging(request).status_code, hanging(request).content) == (200, b"well")


def test_readiness_says_what_is_missing(transactional_db, monkeypatch):
    monkeypatch.setattr(installation, "months_ahead", lambda now: -1)
    unfit = Client().get("/readyz")
    assert unfit.status_code == 503
    assert "partitions for 0 months" in unfit.json()["parts"]["partitions"]["why"]


def test_metrics_count_what_is_in_the_database(operator, order):
    operator.post("/instances", {"process": order})
    text = Client().get("/metrics").content.decode()
    assert 'tokentrail_instances{state="RUNNING"} 1.0' in text
    assert 'tokentrail_tasks_ready{topic="orders.check-stock"} 1.0' in text
    for name in ("incidents_open", "oldest_due_timer_seconds", "partitions_ahead", "tokens_active"):
        assert f"tokentrail_{name} " in text


def test_the_documentation_loads_nothing_from_elsewhere(transactional_db):
    page = Client().get("/api/docs").content.decode()
    assert "swagger-ui" in page
    assert "https://" not in page
    assert Client().get("/api/openapi.json").json()["info"]["title"] == "Tokentrail"
