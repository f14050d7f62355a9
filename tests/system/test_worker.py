"""A real Celery worker starts on the test broker, looks for what was left behind, and ends when it is told to."""

from __future__ import annotations

from django.db import connection


def test_worker_starts_and_stops(start_worker):
    worker = start_worker()
    assert worker.exit_code() is None
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload -> 'found' FROM engine_events WHERE event_type = 'ENGINE_RECOVERY'")
        assert len(cursor.fetchall()) == 1
    worker.stop()
    assert worker.exit_code() == 0
