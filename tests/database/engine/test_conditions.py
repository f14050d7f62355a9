"""Conditional start events begin when somebody asks, each with the variables that let it."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from bpm import engine
from bpm.audit.replaying import replay_stored
from tests.database.engine.drawing import end, flows, model, service, start


def hot(condition: str, id: str) -> bytes:
    asked = f"<bpmn:condition>{condition}</bpmn:condition>"
    inner = f"<bpmn:conditionalEventDefinition>{asked}</bpmn:conditionalEventDefinition>"
    return model(start("s", inner), service("w"), end(), flows("s -> w -> end"), id=id)


def test_what_holds_begins(world, capsys):
    world.deploy(hot("${t &gt; 40}", "p"), hot("${t &gt; 10}", "q"), hot("${missing == 1}", "r"))

    (record,) = engine.evaluate_conditions({"t": 20}, actor="op", business_key="k")
    assert (world.where(record.thread_id), world.variables(record.thread_id)) == (["w"], {"t": 20})
    assert len(engine.evaluate_conditions({"t": 50}, actor="op")) == 2
    assert engine.evaluate_conditions({"t": 50}, actor="op", process="r") == ()
    assert engine.evaluate_conditions({}, actor="op") == ()
    assert replay_stored([record.thread_id], again=True)[0].problems == ()
    with pytest.raises(engine.NotFound):
        engine.evaluate_conditions({}, actor="op", process="nobody")

    call_command("bpm", "conditions", "--process", "p", "--variables", '{"t": 41}')
    assert len(capsys.readouterr().out.split()) == 1


def test_a_key_begins_each_once(world):
    world.deploy(hot("${t &gt; 40}", "p"))
    first = engine.evaluate_conditions({"t": 50}, actor="op", key="k")
    again = engine.evaluate_conditions({"t": 50}, actor="op", key="k")
    assert [one.thread_id for one in first] == [one.thread_id for one in again] and again[0].repeated
    with pytest.raises(engine.KeyConflict):
        engine.evaluate_conditions({"t": 51}, actor="op", key="k")


def test_a_suspended_one_begins_nothing_and_holds_up_none(world):
    world.deploy(hot("${t &gt; 40}", "p"), hot("${t &gt; 40}", "q"))
    engine.suspend_definition("p", actor="op")
    (record,) = engine.evaluate_conditions({"t": 50}, actor="op")
    assert world.ask("SELECT definition_key FROM process_instances") == [("q",)] and record.version == 1
    assert engine.evaluate_conditions({"t": 50}, actor="op", process="p") == ()


def test_a_new_version_takes_the_place_of_the_old_one(world):
    world.deploy(hot("${t &gt; 40}", "p"))
    world.deploy(hot("${t &gt; 90}", "p"))
    assert engine.evaluate_conditions({"t": 50}, actor="op") == ()


def test_an_event_of_two_conditions_begins_once_and_sees_the_time(world):
    each = "".join(
        f"<bpmn:conditionalEventDefinition><bpmn:condition>{text}</bpmn:condition></bpmn:conditionalEventDefinition>"
        for text in ("${t &gt; 40}", "=today() &gt; date(2020, 1, 1)")
    )
    world.deploy(model(start("s", each), service("w"), end(), flows("s -> w -> end")))
    assert len(engine.evaluate_conditions({"t": 50}, actor="op")) == 1
    assert len(engine.evaluate_conditions({"t": 1}, actor="op")) == 1


def test_an_event_of_two_times_waits_for_both(world):
    each = "".join(
        f"<bpmn:timerEventDefinition><bpmn:timeDuration>{text}</bpmn:timeDuration></bpmn:timerEventDefinition>"
        for text in ("PT1H", "PT2H")
    )
    world.deploy(model(start("s", each), service("w"), end(), flows("s -> w -> end")))
    assert world.ask("SELECT name FROM start_subscriptions WHERE state = 'OPEN' ORDER BY fire_at") == [("",), ("2",)]
    world.move_clock(3_700)
    assert engine.fire_start_timers() == {"started": 1}
    world.move_clock(7_400)
    assert engine.fire_start_timers() == {"started": 1}
