"""The engine with a real Celery worker and a real broker: woken, killed, without a broker, with several beats."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from structlog.testing import capture_logs

# Wake-ups are sent for topics that this program has handlers for.
import tests.system.slow.handlers  # noqa: F401
from bpm import engine
from bpm.engine.announcing import Announcement, register, unregister
from bpm.jobs import announcer, schedule, tasks
from bpm.jobs.starting import tell_celery
from config.processes import Process
from tests.conftest import wait_for
from tests.database.engine.drawing import catch, duration, end, flows, model, service, start

ROOT = Path(__file__).resolve().parents[2]
ORDER = (ROOT / "examples/orders/order.bpmn").read_bytes()
APPS = "examples.orders,examples.invoice,tests.system.slow"
PATIENCE = 40.0


@pytest.fixture
def site_environment(site_environment: dict[str, str]) -> dict[str, str]:
    return site_environment | {"EXTRA_APPS": APPS}


@pytest.fixture
def beat(site_environment, warden, tmp_path, start_worker) -> Iterator[Callable[[], Process]]:
    """Starts a Celery beat."""
    started: list[Process] = []

    def begin() -> Process:
        name = f"beat{len(started)}"
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "config",
            "beat",
            "--pidfile=",
            f"--schedule={tmp_path / name}",
        ]
        process = Process(name, command, tmp_path / f"{name}.log", warden, env=site_environment)
        process.start()
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()


def ask(statement: str, *arguments: Any) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return cursor.fetchall()


def state(instance: UUID) -> str:
    return ask("SELECT state FROM process_instances WHERE id = %s", instance)[0][0]


def events(instance: UUID, type: str) -> int:
    return ask("SELECT count(*) FROM runtime_event WHERE thread_id = %s AND event_type = %s", instance, type)[0][0]


def begin(process: str, **variables: Any) -> UUID:
    return engine.start(process, variables=variables, business_key="A-1", actor="tester").thread_id


def one(topic: str) -> None:
    engine.deploy(
        {f"{topic}.bpmn": model(start(), service(topic), end(), flows(f"start -> {topic} -> end"))}, actor="tester"
    )


def test_an_order_runs_through_a_woken_worker(start_worker, valkey):
    worker = start_worker(concurrency=2)
    engine.deploy({"order.bpmn": ORDER}, actor="tester")
    instance = begin("order", quantity=25, card="valid")
    wait_for(lambda: events(instance, "USER_TASK_CREATED") == 1, PATIENCE, worker.last_words)
    ((task,),) = ask("SELECT id FROM user_tasks WHERE instance_id = %s", instance)
    engine.complete_user_task(task, actor="anna")
    wait_for(lambda: state(instance) == "COMPLETED", PATIENCE, worker.last_words)
    # Three looks at the stock, two crates, the card and the parcel: each done once.
    assert events(instance, "TASK_COMPLETED") == events(instance, "TASK_CREATED") == 7


def test_a_declined_card_takes_its_path(start_worker, valkey):
    worker = start_worker()
    engine.deploy({"order.bpmn": ORDER}, actor="tester")
    instance = begin("order", card="declined")
    wait_for(lambda: state(instance) == "COMPLETED", PATIENCE, worker.last_words)
    assert events(instance, "TASK_ERROR_THROWN") == 1
    assert events(instance, "USER_TASK_CANCELLED") == 1


@pytest.fixture
def no_wake_ups() -> Iterator[None]:
    """This process tells nobody of ready work."""
    unregister("celery")
    yield
    register("celery", tell_celery)


def test_beat_finds_what_nobody_was_woken_for(start_worker, beat, valkey, no_wake_ups):
    """No wake-up at all: the sweeps alone; also pauses after failures, and a timer. Two beats do no harm."""
    worker = start_worker(concurrency=2)
    beats = [beat(), beat()]
    pause = model(
        start(), catch("pause", duration("PT1S")), service("quick"), end(), flows("start -> pause -> quick -> end")
    )
    engine.deploy({"order.bpmn": ORDER, "pause.bpmn": pause}, actor="tester")
    flaky, unreachable, paused = begin("order", card="flaky"), begin("order", card="unreachable"), begin("p")
    words = lambda: worker.last_words(40) + beats[0].last_words()  # noqa: E731
    wait_for(lambda: state(paused) == "COMPLETED", PATIENCE, words)
    wait_for(lambda: ask("SELECT count(*) FROM incidents") == [(1,)], PATIENCE, words)
    assert events(unreachable, "TASK_FAILED") == 3
    ((incident,),) = ask("SELECT id FROM incidents WHERE state = 'OPEN'")
    engine.retry_incident(incident, actor="operator", reason="gateway is back")
    for (task,) in ask("SELECT id FROM user_tasks"):
        engine.complete_user_task(task, actor="anna")
    wait_for(lambda: (state(flaky), state(unreachable)) == ("COMPLETED",) * 2, PATIENCE, words)
    assert events(flaky, "TASK_FAILED") == 1
    ticks = {
        job for (job,) in ask("SELECT DISTINCT payload->>'job' FROM engine_events WHERE event_type = 'ENGINE_TICK'")
    }
    assert "timers" in ticks


def test_a_worker_killed_in_mid_task_delays_and_no_more(start_worker, beat, valkey, tmp_path):
    """kill -9 to the worker and all its children: the lock runs out, the task is done once more, completed once."""
    first = start_worker()
    one("slow")
    instance = begin("p", folder=str(tmp_path))
    wait_for((tmp_path / "calls").exists, PATIENCE, first.last_words)
    first.kill()
    assert state(instance) == "RUNNING"
    (tmp_path / "go").touch()
    second = start_worker()
    beat()
    wait_for(lambda: state(instance) == "COMPLETED", PATIENCE, second.last_words)
    assert len((tmp_path / "calls").read_text().split()) == 2
    assert events(instance, "TASK_LOCKED") == 2
    assert events(instance, "TASK_TIMED_OUT") == 1
    assert events(instance, "TASK_COMPLETED") == 1


def test_a_child_killed_in_mid_task_delays_and_no_more(start_worker, beat, valkey, tmp_path):
    worker = start_worker()
    one("slow")
    instance = begin("p", folder=str(tmp_path))
    wait_for(
        lambda: (tmp_path / "calls").exists() and (tmp_path / "calls").read_text() != "", PATIENCE, worker.last_words
    )
    (tmp_path / "go").touch()
    os.kill(int((tmp_path / "calls").read_text().split()[0]), signal.SIGKILL)
    beat()
    wait_for(lambda: state(instance) == "COMPLETED", PATIENCE, worker.last_words)
    assert events(instance, "TASK_COMPLETED") == 1


def test_what_a_handler_brings_back_and_cannot_be_stored_is_a_failure(start_worker, valkey):
    worker = start_worker()
    one("nonsense")
    instance = begin("p")
    wait_for(lambda: events(instance, "TASK_FAILED") >= 1, PATIENCE, worker.last_words)
    ((error,),) = ask("SELECT DISTINCT error FROM external_task_events WHERE error IS NOT NULL")
    assert "cannot be taken" in error


def test_doubled_wake_ups_do_nothing_twice(start_worker, valkey):
    from bpm.jobs.announcer import wake

    worker = start_worker(concurrency=2)
    one("quick")
    instances = [begin("p") for _ in range(10)]
    wake(["quick"] * 30)
    wait_for(lambda: {state(instance) for instance in instances} == {"COMPLETED"}, PATIENCE, worker.last_words)
    assert [events(instance, "TASK_LOCKED") for instance in instances] == [1] * 10


def test_a_worker_goes_on_with_the_next_task_of_the_instance(start_worker, valkey):
    worker = start_worker()
    row = [service(name, topic="quick") for name in ("a", "b", "c")]
    engine.deploy({"row.bpmn": model(start(), *row, end(), flows("start -> a -> b -> c -> end"))}, actor="tester")
    instance = begin("p")
    wait_for(lambda: state(instance) == "COMPLETED", PATIENCE, worker.last_words)
    locks = """SELECT c.command, count(*) FROM external_task_events e
               JOIN runtime_commit c ON c.sequence = e.commit_sequence
               WHERE e.instance_id = %s AND e.event_type = 'TASK_LOCKED' GROUP BY c.command ORDER BY c.command"""
    assert ask(locks, instance) == [("CompleteExternalTask", 2), ("FetchAndLock", 1)]


def test_a_worker_keeps_its_connection_and_gets_over_its_loss(start_worker, valkey):
    worker = start_worker()
    one("session")

    def served() -> int:
        instance = begin("p")
        wait_for(lambda: state(instance) == "COMPLETED", PATIENCE, worker.last_words)
        ((session,),) = ask("SELECT value FROM variables WHERE instance_id = %s AND name = 'session'", instance)
        return int(session)

    sessions = {served() for _ in range(5)}
    assert len(sessions) == 1
    ask("SELECT pg_terminate_backend(%s)", *sessions)
    # No schedule runs here: the wake-up itself is not lost to the dead connection.
    assert served() not in sessions


def test_a_worker_says_that_celery_would_close_its_connection_after_each_task(monkeypatch):
    sender = SimpleNamespace(app=SimpleNamespace(conf={}))
    monkeypatch.setattr(tasks, "require_schema", lambda: None)
    with capture_logs() as logs:
        tasks.require_fit_database(sender=sender)
        sender.app.conf["db_reuse_max"] = 1
        tasks.require_fit_database(sender=sender)
    assert ["CELERY_DB_REUSE_MAX" in said["event"] for said in logs] == [True]


def test_a_worker_of_some_queues_does_those_alone(start_worker, valkey):
    worker = start_worker("--queues=tokentrail.orders.ship")
    one("quick")
    instance = begin("p")
    ((task,),) = ask("SELECT state FROM external_tasks WHERE instance_id = %s", instance)
    assert task == "READY"
    assert worker.exit_code() is None


def test_a_dead_broker_costs_a_commit_nothing(transactional_db, settings, monkeypatch):
    """Nobody listens there: the verbs return at once, and the work stands in the database."""
    from bpm.jobs.announcer import SENDER
    from config.celery import app

    monkeypatch.setattr(app.conf, "broker_url", "redis://127.0.0.1:1/0")
    one("quick")
    began = time.monotonic()
    instances = [begin("p") for _ in range(20)]
    assert time.monotonic() - began < 5
    assert ask("SELECT count(*) FROM external_tasks WHERE state = 'READY'") == [(20,)]
    SENDER.flush(10)
    for _ in instances:
        (task,) = engine.fetch_and_lock(["quick"], worker="w")
        engine.complete_task(task.id, worker="w")
    assert {state(instance) for instance in instances} == {"COMPLETED"}


def test_every_job_is_harmless_when_there_is_nothing_to_do(transactional_db):
    before = ask("SELECT count(*) FROM runtime_commit")
    for name in schedule.JOBS:
        schedule.run_job(name)
    assert ask("SELECT count(*) FROM runtime_commit") == before


def test_an_instance_that_never_rests_lets_the_schedule_go_before_it(monkeypatch):
    """Redis gives the smaller number first, and what names none has zero."""
    sent: list[tuple[str, int]] = []
    broker = SimpleNamespace(send_task=lambda task, _arguments, **said: sent.append((task, said.get("priority", 0))))
    monkeypatch.setattr(announcer, "current_app", broker)
    announcer.send(Announcement(instances=(UUID(int=1),), messages=True))
    announcer.wake(["quick"])
    assert sent == [("bpm.continue_instance", 6), ("bpm.job", 6), ("bpm.work", 0)]
