"""A real Celery worker starts on the test broker and ends when it is told to."""

from __future__ import annotations


def test_worker_starts_and_stops(start_worker):
    worker = start_worker()
    assert worker.exit_code() is None
    worker.stop()
    assert worker.exit_code() == 0
