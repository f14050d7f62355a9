"""What becomes of an answer of a handler that the engine does not take."""

from __future__ import annotations

from typing import Any

import pytest

from bpm.jobs.handlers import BpmnError, TaskFailure, external_task
from bpm.jobs.running import run_one
from tests.database.engine.drawing import end, flows, model, service, start

MODEL = model(start(), service("odd", topic="tests.odd-answers"), end(), flows("start -> odd -> end"))
ANSWERS: list[Any] = []


@external_task("tests.odd-answers")
def odd(task: Any) -> Any:
    answer = ANSWERS.pop()
    if isinstance(answer, Exception):
        raise answer
    return answer


@pytest.mark.parametrize(
    "answer",
    [
        {"x": {1, 2}},
        BpmnError(""),
        BpmnError("x" * 300),
        TaskFailure("later", retries=-1),
        TaskFailure("x", retry_after=-1),
    ],
)
def test_what_makes_no_sense_is_a_failure_not_a_task_that_runs_for_ever(world, answer):
    world.deploy(MODEL)
    instance = world.start()
    ANSWERS[:] = [answer]

    assert run_one("tests.odd-answers")

    assert world.events(instance, "TASK_FAILED") == ["TASK_FAILED"]
    ((left, state, error),) = world.ask(
        "SELECT t.retries, t.state, e.error FROM external_tasks t JOIN external_task_events e ON e.task_id = t.id"
        " WHERE t.instance_id = %s AND e.event_type = 'TASK_FAILED'",
        instance,
    )
    assert (left, state) == (2, "READY")
    assert "cannot be taken" in error
