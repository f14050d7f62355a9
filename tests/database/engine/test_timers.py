"""Timers fire from the database, also those that fell due while nothing ran."""

from __future__ import annotations

import threading

from django.db import connection

from bpm import engine
from tests.database.engine.drawing import boundary, catch, cycle, duration, end, flows, model, service, start, user

WAIT = model(start(), catch("pause", duration("PT1H")), end(), flows("start -> pause -> end"))


def test_a_timer_that_fell_due_while_all_was_down_fires_afterwards(world):
    world.deploy(WAIT)
    instance = world.start()
    assert engine.fire_due_timers() == {"timers": 0}
    world.move_clock(86_400)
    assert engine.fire_due_timers() == {"timers": 1}
    assert world.state(instance) == "COMPLETED"
    assert engine.fire_due_timers() == {"timers": 0}


def test_several_schedulers_at_once_fire_each_timer_once(world):
    world.deploy(WAIT)
    instances = [world.start() for _ in range(12)]
    world.move_clock(7_200)
    fired, ready = [], threading.Barrier(3)

    def schedule() -> None:
        ready.wait()
        try:
            fired.append(engine.fire_due_timers()["timers"])
        finally:
            connection.close()

    threads = [threading.Thread(target=schedule) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.fire_due_timers()
    assert [world.state(instance) for instance in instances] == ["COMPLETED"] * 12
    assert [world.events(instance, "TIMER_FIRED") for instance in instances] == [["TIMER_FIRED"]] * 12


def test_of_a_backlog_each_scheduler_begins_elsewhere(world, monkeypatch):
    world.deploy(WAIT)
    instances = [world.start() for _ in range(5)]
    world.move_clock(7_200)
    monkeypatch.setattr("random.randrange", lambda number: number - 1)
    # More than a round takes: from a place of its own, all the way round. Fewer: the oldest first.
    assert engine.fire_due_timers(3) == {"timers": 3}
    assert engine.fire_due_timers(3) == {"timers": 2}
    fired = world.ask("SELECT instance_id FROM timer_events WHERE event_type = 'TIMER_FIRED' ORDER BY commit_sequence")
    assert [row[0] for row in fired] == [instances[place] for place in (2, 0, 1, 3, 4)]


def test_an_interrupting_timer_takes_the_work_away(world):
    late = boundary("late", "pay", duration("PT10S"))
    world.deploy(
        model(start(), service("pay"), late, end(), end("given_up"), flows("start -> pay -> end", "late -> given_up"))
    )
    instance = world.start()
    (task,) = engine.fetch_and_lock(["pay"], worker="w")
    world.move_clock(11)
    engine.fire_due_timers()
    assert world.state(instance) == "COMPLETED"
    assert world.ask("SELECT state FROM external_tasks WHERE id = %s", task.id) == [("CANCELLED",)]


def test_a_timer_that_does_not_interrupt_repeats(world):
    late = boundary("late", "look", cycle("R3/PT10M"), interrupting=False)
    parts = [start(), user("look"), late, service("remind"), end(), end("reminded")]
    world.deploy(model(*parts, flows("start -> look -> end", "late -> remind -> reminded")))
    instance = world.start()
    for minutes in (10, 20, 30, 40, 50):
        world.move_clock(minutes * 60 + 1)
        engine.fire_due_timers()
        world.work("remind")
    assert world.events(instance, "TIMER_FIRED") == ["TIMER_FIRED"] * 3
    engine.complete_user_task(world.only("user_tasks", instance), actor="anna")
    assert world.state(instance) == "COMPLETED"


def test_a_timer_ends_with_its_token(world):
    late = boundary("late", "pay", duration("PT10S"))
    world.deploy(
        model(start(), service("pay"), late, end(), end("given_up"), flows("start -> pay -> end", "late -> given_up"))
    )
    instance = world.start()
    world.work("pay")
    world.move_clock(11)
    assert engine.fire_due_timers() == {"timers": 0}
    assert world.events(instance, "TIMER_SCHEDULED", "TIMER_CANCELLED", "TIMER_FIRED") == [
        "TIMER_SCHEDULED",
        "TIMER_CANCELLED",
    ]


def test_a_suspended_instance_keeps_its_timer_until_it_goes_on(world):
    world.deploy(WAIT)
    instance = world.start()
    engine.suspend_instance(instance, actor="operator")
    world.move_clock(7_200)
    assert engine.fire_due_timers() == {"timers": 0}
    engine.resume_instance(instance, actor="operator")
    assert engine.fire_due_timers() == {"timers": 1}
    assert world.state(instance) == "COMPLETED"


def test_a_start_timer_starts_instances_of_the_newest_version(world):
    world.deploy(model(start(inner=cycle("R2/PT1H")), user("old"), end(), flows("start -> old -> end")))
    world.deploy(model(start(inner=cycle("R2/PT1H")), user("new"), end(), flows("start -> new -> end")))
    assert engine.fire_start_timers() == {"started": 0}
    for hours in (1, 2, 3, 4):
        world.move_clock(hours * 3_600 + 1)
        engine.fire_start_timers()
    assert world.ask("SELECT node_id FROM user_tasks") == [("new",), ("new",)]
    assert world.ask("SELECT DISTINCT started_by FROM process_instances") == [("engine",)]


def test_several_schedulers_start_once(world):
    world.deploy(model(start(inner=duration("PT1H")), user("look"), end(), flows("start -> look -> end")))
    world.move_clock(3_601)
    ready = threading.Barrier(3)

    def schedule() -> None:
        ready.wait()
        try:
            engine.fire_start_timers()
        finally:
            connection.close()

    threads = [threading.Thread(target=schedule) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.ask("SELECT count(*) FROM process_instances") == [(1,)]
