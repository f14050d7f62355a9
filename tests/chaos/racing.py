"""Many processes on one instance: each takes what is ready, whatever the others do."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any
from uuid import UUID

from bpm import engine
from tests.chaos import models, proof

PATIENCE = 90.0


def begin(branches: int) -> str:
    """Start the instance and let all its branches reach their tasks."""
    engine.deploy({"wide.bpmn": models.wide(branches)}, actor="dora")
    instance = engine.start("chaos_wide", actor="ann").thread_id
    while engine.continue_instance(instance):
        pass
    return str(instance)


def work(instance: str, number: int = 0) -> dict[str, Any]:
    """Complete branches until the instance has ended; how many this process completed, and what it was refused."""
    done, refused = 0, Counter[str]()
    until = time.monotonic() + PATIENCE
    worker = f"worker {number}"
    while time.monotonic() < until:
        found = engine.fetch_and_lock(["branch"], worker=worker, max=3)
        for task in found:
            try:
                engine.complete_task(task.id, worker=worker, key=f"{task.id}/{task.version}")
                done += 1
            except engine.Refused as no:
                refused[no.code] += 1
        if not found and proof.ask("SELECT state FROM process_instances WHERE id = %s", instance) != [("RUNNING",)]:
            break
    return {"done": done, "refused": refused}


def judge(instance: str) -> dict[str, Any]:
    """What it came to."""
    events = dict(proof.ask(
        "SELECT event_type, count(*) FROM runtime_event WHERE thread_id = %s GROUP BY 1", instance
    ))  # fmt: skip
    ((state,),) = proof.ask("SELECT state FROM process_instances WHERE id = %s", instance)
    twice = proof.ask(
        """SELECT task_id FROM external_task_events WHERE instance_id = %s AND event_type = 'TASK_COMPLETED'
        GROUP BY 1 HAVING count(*) > 1""",
        instance,
    )  # fmt: skip
    return {"state": state, "events": events, "twice": len(twice), "problems": proof.problems([UUID(instance)])}
