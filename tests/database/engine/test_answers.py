"""What becomes of an answer of a handler that the engine does not take."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from django.core.management import call_command

from bpm.jobs import handlers
from bpm.jobs.handlers import BpmnError, TaskFailure, external_task
from bpm.jobs.running import run_one
from bpm.management.bpm import worker
from tests.database.engine.drawing import end, flows, model, service, start

MODEL = model(start(), service("odd", topic="tests.odd-answers"), end(), flows("start -> odd -> end"))
ANSWERS: list[Any] = []


@external_task("tests.odd-answers")
def odd(task: Any) -> Any:
    answer = ANSWERS.pop()
    if isinstance(answer, BaseException):
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


@pytest.mark.parametrize("code", [0, 3, None, "usage: ..."])
def test_a_handler_that_exits_has_failed_and_ends_no_worker(world, code):
    world.deploy(MODEL)
    instance = world.start()
    ANSWERS[:] = [SystemExit(code)]
    assert run_one("tests.odd-answers")
    assert world.events(instance, "TASK_FAILED") == ["TASK_FAILED"]


def test_a_worker_that_a_signal_ends_has_not_failed(world):
    world.deploy(MODEL)
    instance = world.start()
    # What billiard raises in a child of Celery's that gets SIGTERM.
    ANSWERS[:] = [SystemExit(-(256 - signal.SIGTERM))]
    with pytest.raises(SystemExit):
        run_one("tests.odd-answers")
    assert world.events(instance, "TASK_FAILED") == []


@pytest.mark.parametrize("seconds", [0, -1, handlers.LONGEST_LOCK + 1, float("nan"), float("inf"), True, "60", None])
def test_a_handler_whose_lock_makes_no_sense_is_not_registered(seconds):
    with pytest.raises(ValueError, match="of 'tests-long' must be"):
        external_task("tests-long", lock_seconds=seconds)
    assert handlers.handler("tests-long") is None


@pytest.mark.parametrize("seconds", [handlers.SHORTEST_LOCK, handlers.LONGEST_LOCK])
def test_a_handler_may_hold_a_task_as_long_as_the_engine_takes(world, monkeypatch, seconds):
    monkeypatch.setattr(handlers, "_HANDLERS", {})
    external_task("tests.odd-answers", lock_seconds=seconds)(lambda task: None)
    world.deploy(MODEL)
    world.start()
    assert run_one("tests.odd-answers") == 1


def test_a_topic_that_never_runs_dry_holds_up_no_other(world, monkeypatch):
    done: list[str] = []

    def work(topic: str, **_: Any) -> bool:
        done.append(topic)
        if len(done) == 6:
            signal.raise_signal(signal.SIGTERM)
        return topic == "endless"

    monkeypatch.setattr(worker, "topics", lambda: ("endless", "other"))
    monkeypatch.setattr(worker, "run_one", work)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    call_command("bpm", "worker")
    for number, handled in before.items():
        signal.signal(number, handled)
    assert done == ["endless", "other"] * 3


def test_the_topics_of_a_round_share_its_time_and_hear_of_the_end(world, monkeypatch):
    rounds: list[tuple[float, bool]] = []

    def work(topic: str, *, beside: Any, until: float, stopped: Any) -> int:
        assert beside == ("one", "two")
        if len(rounds) == 3:
            signal.raise_signal(signal.SIGTERM)
        rounds.append((until, stopped()))
        return 1

    monkeypatch.setattr(worker, "topics", lambda: ("one", "two"))
    monkeypatch.setattr(worker, "run_one", work)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    call_command("bpm", "worker")
    for number, handled in before.items():
        signal.signal(number, handled)
    untils = [until for until, _ in rounds]
    assert untils[0] == untils[1] < untils[2] == untils[3]
    assert [stopped for _, stopped in rounds] == [False, False, False, True]


@pytest.mark.parametrize("topic", [len, "", "x" * 256])
def test_a_handler_of_no_topic_is_refused(topic):
    """Without its parentheses the decorator is given the function, which nobody would ever call."""
    with pytest.raises(ValueError, match=r'is no topic: write @external_task\("TOPIC"\)'):
        external_task(topic)
