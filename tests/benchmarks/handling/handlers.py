"""A handler for each topic that goes through Celery; it brings back one variable."""

from __future__ import annotations

from typing import Any

from bpm import TaskContext, external_task

TOPIC = "bench.celery"


@external_task(TOPIC)
def work(task: TaskContext) -> dict[str, Any]:
    """Done."""
    return {"n": 1}
