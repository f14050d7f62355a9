"""Nothing begins of a suspended definition, whoever asks; what runs goes on."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from bpm import engine
from bpm.store import schedule
from tests.database.engine.drawing import call, cycle, end, flows, message, model, service, start

MODEL = model(start(), service("w"), end(), flows("start -> w -> end"))
CALLER = model(start(), call("c", "p"), end(), flows("start -> c -> end"), id="caller")
SAID = '<bpmn:message id="m" name="Go"/>'
HEARS = model(start("s", message("m")), service("w"), end(), flows("s -> w -> end"), id="hears", before=SAID)
TICKS = model(start("s", cycle("R/PT1H")), service("w"), end(), flows("s -> w -> end"), id="ticks")


def test_nothing_begins_until_it_is_resumed(world):
    world.deploy(MODEL, CALLER)
    running = world.start()
    engine.suspend_definition("p", actor="op", reason="prices are wrong")

    with pytest.raises(engine.Refused, match="is suspended") as refused:
        world.start()
    assert refused.value.code == "suspended"
    caller = world.start("caller")
    assert world.ask("SELECT kind, node_id FROM incidents WHERE instance_id = %s", caller) == [("call", "c")]
    world.work("w")
    assert world.state(running) == "COMPLETED"
    with pytest.raises(engine.Refused, match="is suspended"):
        engine.restart_instance(running, actor="op")
    with pytest.raises(engine.Refused, match="SUSPENDED already"):
        engine.suspend_definition("p", actor="op")

    engine.resume_definition("p", actor="op")
    assert world.where(world.start()) == ["w"]
    engine.retry_incident(world.only("incidents", caller), actor="op")
    assert world.ask("SELECT count(*) FROM process_instances WHERE parent_instance_id = %s", caller) == [(1,)]
    with pytest.raises(engine.Refused, match="ACTIVE already"):
        engine.resume_definition("p", actor="op")
    assert world.ask(
        "SELECT command, actor, stated_reason FROM runtime_commit WHERE command LIKE '%%Definition' ORDER BY sequence"
    ) == [("SuspendDefinition", "op", "prices are wrong"), ("ResumeDefinition", "op", None)]


def test_messages_and_timers_wait(world):
    world.deploy(HEARS, TICKS)
    for key in ("hears", "ticks"):
        engine.suspend_definition(key, actor="op", key=f"once {key}")
        engine.suspend_definition(key, actor="op", key=f"once {key}")
    with pytest.raises(engine.NotFound):
        engine.correlate("Go", actor="op")
    engine.publish("Go", actor="op", ttl=90_000)
    world.move_clock(4_000)
    assert engine.fire_start_timers() == {"started": 0}
    assert world.ask("SELECT count(*) FROM process_instances") == [(0,)]

    for key in ("hears", "ticks"):
        engine.resume_definition(key, actor="op")
    assert engine.fire_start_timers() == {"started": 1}
    engine.deliver_pending()
    assert world.ask("SELECT definition_key FROM process_instances ORDER BY 1") == [("hears",), ("ticks",)]


def test_a_message_waits_that_was_on_its_way_when_the_definition_was_suspended(world, monkeypatch):
    world.deploy(HEARS)
    before = schedule.starts_named("MESSAGE", "Go")
    engine.suspend_definition("hears", actor="op")
    engine.publish("Go", actor="op", ttl=90_000)
    with monkeypatch.context() as patched:
        patched.setattr(schedule, "starts_named", lambda *_, **__: before)
        engine.deliver_pending()
    assert world.ask("SELECT state FROM runtime_message WHERE box = 'OUT'") == [("PENDING",)]

    engine.resume_definition("hears", actor="op")
    world.move_clock(60)
    engine.deliver_pending()
    assert world.ask("SELECT definition_key FROM process_instances") == [("hears",)]


def test_one_version_alone(world):
    world.deploy(MODEL)
    engine.suspend_definition("p", version=1, actor="op")
    world.deploy(model(start(), service("v"), end(), flows("start -> v -> end")))
    assert world.where(world.start()) == ["v"]
    with pytest.raises(engine.NotFound):
        engine.suspend_definition("nobody", actor="op")


def test_commands(world, capsys):
    world.deploy(MODEL)
    instance = world.start()
    call_command("bpm", "suspend", str(instance), "--reason", "wait")
    call_command("bpm", "suspend", "--process", "p")
    assert world.state(instance) == "SUSPENDED"
    with pytest.raises(engine.Refused):
        world.start()
    call_command("bpm", "resume", str(instance))
    call_command("bpm", "resume", "--process", "p", "--version", "1")
    assert (world.state(instance), world.where(world.start())) == ("RUNNING", ["w"])
    with pytest.raises(SystemExit):
        call_command("bpm", "resume", str(instance))
    assert "wrong_state" in capsys.readouterr().err
