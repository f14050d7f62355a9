"""Recovery is nothing special: whatever was interrupted is found again, and what cannot go on blocks nothing else."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from django.db import connection

from bpm import engine
from bpm.audit.replaying import replay_stored
from bpm.engine import follow
from bpm.jobs import handlers, schedule
from bpm.semantics.elements import BEHAVIOURS
from tests.database.engine.drawing import (
    catch,
    duration,
    end,
    exclusive,
    flows,
    message,
    model,
    parallel,
    service,
    start,
)

ONE = model(start(), service("pay"), end(), flows("start -> pay -> end"))
FORK = model(
    start(), parallel("fork"), parallel("join"), service("a"), service("b"), end(),
    flows("start -> fork", "fork -> a -> join", "fork -> b -> join", "join -> end"),
)  # fmt: skip


@pytest.fixture
def nothing_follows(monkeypatch):
    """The process dies right after its own commit."""
    monkeypatch.setattr(follow.Following, "run", lambda *_: None)
    yield monkeypatch.undo
    monkeypatch.undo()


def test_tokens_that_were_left_behind_go_on(world, nothing_follows):
    world.deploy(FORK)
    instance = world.start()
    assert world.ask("SELECT count(*) FROM external_tasks") == [(0,)]
    nothing_follows()
    assert engine.advance_left_behind() == {"tokens": 0}
    world.move_clock(10)
    assert engine.advance_left_behind() == {"tokens": 2}
    assert world.where(instance) == ["fork", "a", "b"]


def test_recovery_says_what_it_found(world, nothing_follows):
    world.deploy(FORK)
    world.start()
    nothing_follows()
    world.move_clock(10)
    assert engine.recover() == {"locks": 0, "tokens": 2, "messages": 0}
    engine.recover()
    told = world.ask("SELECT event_type FROM engine_events WHERE instance_id IS NULL ORDER BY id")
    assert [type for (type,) in told] == ["ENGINE_VERSION", "ENGINE_RECOVERY", "ENGINE_RECOVERY"]


def test_a_program_that_begins_its_rounds_recovers_first(world, nothing_follows):
    world.deploy(FORK)
    instance = world.start()
    nothing_follows()
    world.move_clock(10)
    rounds = schedule.Rounds()
    assert rounds.run_due() >= 2
    assert world.where(instance) == ["fork", "a", "b"]
    rounds.run_due()
    found = world.ask("SELECT payload -> 'found' FROM engine_events WHERE event_type = 'ENGINE_RECOVERY'")
    assert len(found) == 1
    assert '"tokens": 2' in str(found[0][0])


def test_a_poisoned_instance_becomes_an_incident_and_blocks_nobody(world, monkeypatch):
    world.deploy(FORK)

    def poison(*_):
        raise ZeroDivisionError("the step raises every time")

    with monkeypatch.context() as patch:
        patch.setitem(BEHAVIOURS, "external", replace(BEHAVIOURS["external"], enter=poison))
        poisoned = world.start()
    healthy = world.start()
    assert world.ask("SELECT kind, state FROM incidents WHERE instance_id = %s", poisoned) == [("engine", "OPEN")] * 2
    assert "raises every time" in world.ask("SELECT message FROM incidents LIMIT 1")[0][0]
    assert world.where(healthy) == ["fork", "a", "b"]
    for (incident,) in world.ask("SELECT id FROM incidents"):
        engine.retry_incident(incident, actor="operator")
    world.work("a", "b")
    assert (world.state(poisoned), world.state(healthy)) == ("COMPLETED", "COMPLETED")


def test_an_instance_that_never_rests_leaves_the_others_their_turn(world, monkeypatch):
    world.deploy(model(start(), exclusive("round"), flows("start -> round", "round -> round")))
    restless = [world.start() for _ in range(3)]
    before = [_version(world, instance) for instance in restless]
    world.move_clock(10)
    world.announced.clear()
    monkeypatch.setattr(follow, "ROUND_SECONDS", 0.5)
    begun = time.monotonic()
    assert engine.advance_left_behind() == {"tokens": 3}
    assert time.monotonic() - begun < 5
    gone_on = [_version(world, instance) - was for instance, was in zip(restless, before, strict=True)]
    assert max(gone_on) - min(gone_on) <= 1 and min(gone_on) > 0
    assert [set(announcement.instances) for announcement in world.announced] == [set(restless)]


def test_a_round_without_time_leaves_all_to_the_next(world, monkeypatch):
    world.deploy(model(start(), catch("pause", duration("PT1S")), end(), flows("start -> pause -> end")))
    instances = [world.start() for _ in range(2)]
    world.move_clock(5)
    monkeypatch.setattr(follow, "ROUND_SECONDS", 0.0)
    assert (engine.fire_due_timers(), engine.deliver_pending()) == ({"timers": 0}, {"messages": 0})
    monkeypatch.undo()
    assert engine.fire_due_timers() == {"timers": 2}
    assert [world.state(instance) for instance in instances] == ["COMPLETED"] * 2


def test_a_message_that_cannot_be_delivered_blocks_nobody(world, monkeypatch):
    before = '<bpmn:message id="m" name="Paid"/>'
    world.deploy(model(start(), catch("wait", message("m")), end(), flows("start -> wait -> end"), before=before))
    instance = world.start(business_key="B")
    deliver = engine.relay.deliver

    def poison(one):
        if one.business_key == "A":
            raise ZeroDivisionError
        return deliver(one)

    monkeypatch.setattr(engine.relay, "deliver", poison)
    engine.publish("Paid", business_key="A", actor="bank")
    engine.publish("Paid", business_key="B", actor="bank")
    engine.deliver_pending()
    assert world.state(instance) == "COMPLETED"


def test_tasks_whose_wake_up_was_lost_are_announced_again(world, monkeypatch):
    world.deploy(ONE)
    world.start()
    world.start()
    assert engine.forgotten_tasks(["pay"], older_than=2, limit=100) == {}
    world.move_clock(5)
    assert engine.forgotten_tasks(["pay", "other"], older_than=2, limit=100) == {"pay": 2}
    assert engine.forgotten_tasks(["pay"], older_than=2, limit=1) == {"pay": 1}
    told = []
    monkeypatch.setattr(handlers, "topics", lambda: ("pay",))
    monkeypatch.setattr(schedule.SENDER, "tell", told.append)
    schedule.run_job("tasks")
    assert [announcement.topics for announcement in told] == [("pay", "pay")]


def test_released_tasks_are_announced(world):
    world.deploy(ONE)
    world.start()
    engine.fetch_and_lock(["pay"], worker="w", lock_seconds=1)
    world.announced.clear()
    world.move_clock(2)
    engine.release_expired_locks()
    assert [announcement.topics for announcement in world.announced] == [("pay",)]


def test_a_scheduler_speaks_when_it_did_something_else_once_a_minute(world):
    world.deploy(model(start(), catch("pause", duration("PT1S")), end(), flows("start -> pause -> end")))
    world.start()

    def ticks():
        return world.ask("SELECT payload->'counts' FROM engine_events WHERE event_type = 'ENGINE_TICK' ORDER BY id")

    for _ in range(3):
        schedule.run_job("timers")
        schedule.run_job("locks")
    assert len(ticks()) == 1
    world.move_clock(5)
    schedule.run_job("timers")
    schedule.run_job("timers")
    assert len(ticks()) == 2
    assert '"timers": 1' in str(ticks()[1][0])
    world.move_clock(70)
    schedule.run_job("locks")
    assert len(ticks()) == 3


def test_what_ended_long_ago_leaves_the_runtime_tables_and_stays_in_history(world, settings):
    world.deploy(ONE)
    ended, open_one = world.start(), world.start()
    (task,) = engine.fetch_and_lock(["pay"], worker="w")
    engine.complete_task(task.id, worker="w")
    assert engine.sweep_ended() == {"swept": 0}
    world.move_clock(8 * 86_400)
    assert engine.sweep_ended() == {"swept": 1}
    assert world.ask("SELECT id FROM process_instances") == [(open_one,)]
    assert world.ask("SELECT DISTINCT instance_id FROM tokens") == [(open_one,)]
    assert world.events(ended)[-1] == "INSTANCE_COMPLETED"


def test_receipts_are_forgotten_after_a_while(world):
    world.deploy(ONE)
    world.start(key="k")
    assert engine.sweep_receipts() == {"receipts": 0}
    world.move_clock(8 * 86_400)
    assert engine.sweep_receipts() == {"receipts": 1}


def test_two_who_finish_the_last_branches_make_one_join(world):
    world.deploy(FORK)
    for _ in range(25):
        instance = world.start()
        (a,) = engine.fetch_and_lock(["a"], worker="w")
        (b,) = engine.fetch_and_lock(["b"], worker="w")
        both, failed = threading.Barrier(2), []

        def complete(task, both=both, failed=failed):
            both.wait()
            try:
                engine.complete_task(task.id, worker="w")
            except Exception as problem:
                failed.append(problem)
            finally:
                connection.close()

        threads = [threading.Thread(target=complete, args=(task,)) for task in (a, b)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert world.state(instance) == "COMPLETED"
        assert world.events(instance, "TOKEN_JOINED") == ["TOKEN_JOINED"]


def test_all_workers_get_every_task_once(world):
    world.deploy(ONE)
    instances = [world.start() for _ in range(30)]
    taken: list = []

    def work(name):
        try:
            while found := engine.fetch_and_lock(["pay"], worker=name, max=3):
                for task in found:
                    engine.complete_task(task.id, worker=name)
                    taken.append(task.id)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 30
    assert {world.state(instance) for instance in instances} == {"COMPLETED"}


def _version(world, instance) -> int:
    return world.ask("SELECT version FROM runtime_thread_version WHERE thread_id = %s", instance)[0][0]


def test_a_task_whose_lock_always_runs_out_waits_with_an_incident(world, settings):
    settings.BPM_MOST_TIMEOUTS = 3
    world.deploy(model(start(), service("a"), end(), flows("start -> a -> end")))
    instance = world.start()

    ahead = iter(range(10, 1_000, 10))

    def run_out() -> None:
        assert engine.fetch_and_lock(["a"], worker="slow", lock_seconds=1)
        world.move_clock(next(ahead))

    run_out()
    assert engine.release_expired_locks() == {"locks": 1}
    (task,) = engine.fetch_and_lock(["a"], worker="slow", lock_seconds=60)
    engine.fail_task(task.id, worker="slow", message="no", retries=2)  # that is another kind of trouble
    for _ in range(2):
        run_out()
        assert engine.release_expired_locks() == {"locks": 1}
    run_out()
    assert engine.release_expired_locks() == {"locks": 0, "given_up": 1}

    ((said,),) = world.ask("SELECT message FROM incidents WHERE state = 'OPEN'")
    assert said == "the lock of whoever took it ran out 3 times in a row, last that of slow"
    assert engine.fetch_and_lock(["a"], worker="slow") == []
    engine.retry_incident(world.only("incidents", instance), actor="op")
    run_out()
    assert engine.release_expired_locks() == {"locks": 1}
    assert replay_stored([instance], again=True)[0].problems == ()
