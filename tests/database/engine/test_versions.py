"""Living with versions: tokens put elsewhere, instances that go on with another definition; both replay."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from bpm import engine
from bpm.audit.replaying import replay_stored
from bpm.models import ProcessInstance, RunRecord
from bpm.store import histories
from bpm.store.reading import history, stored_state
from tests.database.engine.drawing import call, end, flows, model, service, start

OLD = model(start(), service("a"), service("b"), end(), flows("start -> a -> b -> end"))
NEW = model(start(), service("a2"), service("b"), service("c"), end(), flows("start -> a2 -> b -> c -> end"))


def test_modify__moves_a_token_and_replays(world):
    world.deploy(OLD)
    instance = world.start()

    engine.modify_instance(
        instance, start_before=["b"], cancel_at=["a"], variables={"x": 1}, actor="op", reason="a is not needed"
    )

    assert world.where(instance) == ["b"]
    assert world.variables(instance) == {"x": 1}
    world.work("b")
    assert world.state(instance) == "COMPLETED"
    assert replay_stored([instance], again=True)[0].problems == ()


@pytest.mark.parametrize("said", [{}, {"start_before": ["nowhere"]}, {"cancel_at": ["b"]}])
def test_modify__refuses_what_makes_no_sense_and_changes_nothing(world, said):
    world.deploy(OLD)
    instance = world.start()
    before = world.events(instance)

    with pytest.raises(engine.EngineError):
        engine.modify_instance(instance, actor="op", **said)

    assert world.events(instance) == before


def test_migrate__goes_on_with_the_new_version_and_replays(world):
    world.deploy(OLD)
    instance = world.start()
    world.deploy(NEW)
    plan = engine.plan_migration(instance)
    assert plan.problems == ("a has no partner: a is not in the new definition",)
    with pytest.raises(engine.Invalid):
        engine.migrate_instance(instance, actor="op")

    engine.migrate_instance(instance, nodes={"a": "a2"}, actor="op", reason="version 2")

    assert world.where(instance) == ["a2"]
    world.work("a")  # the task keeps the topic under which it was made
    world.work("b")
    world.work("c")
    assert world.state(instance) == "COMPLETED"
    assert "INSTANCE_MIGRATED" in world.events(instance)
    assert replay_stored([instance], again=True)[0].problems == ()


def test_migrate__is_refused_without_another_version_and_for_pairs_that_do_not_fit(world):
    world.deploy(OLD)
    instance = world.start()
    with pytest.raises(engine.Invalid, match="runs that version already"):
        engine.migrate_instance(instance, actor="op")
    world.deploy(NEW)
    with pytest.raises(engine.Invalid, match="a and end differ"):
        engine.migrate_instance(instance, nodes={"a": "end"}, actor="op")
    with pytest.raises(engine.NotFound):
        engine.migrate_instance(instance, version=9, actor="op")
    with pytest.raises(engine.NotFound):
        engine.migrate_instance(instance, version=10**30, actor="op")


def test_restart_command(world, capsys):
    world.deploy(OLD)
    one, two = world.start(variables={"x": 1}), world.start()
    engine.cancel_instance(one, actor="op")

    with pytest.raises(SystemExit):
        call_command("bpm", "restart", str(one), str(two), "--before", "b", "--variables", '{"y": 2}', "--reason", "r")

    assert (world.where(one), world.variables(one)) == (["b"], {"x": 1, "y": 2})
    said = capsys.readouterr()
    assert f"{one}: restarted" in said.out
    assert f"{two}: wrong_state" in said.err


def test_commands(world, capsys):
    world.deploy(OLD)
    one, two = world.start(), world.start()
    world.deploy(NEW)

    call_command("bpm", "modify", str(one), "--after", "a", "--cancel-at", "a")
    call_command("bpm", "migrate", str(two), "--node", "a=a2", "--reason", "version 2")

    assert (world.where(one), world.where(two)) == (["b"], ["a2"])
    assert "migrated" in capsys.readouterr().out


def test_restart__opens_a_new_run_of_the_same_thread_and_replays(world):
    world.deploy(OLD)
    instance = world.start(variables={"x": 1})
    world.work("a", x=7)
    world.work("b")
    assert world.state(instance) == "COMPLETED"

    engine.restart_instance(instance, actor="op", reason="b was wrong", start_before=["b"])
    assert (world.state(instance), world.where(instance), world.variables(instance)) == ("RUNNING", ["b"], {"x": 7})
    world.work("b")
    engine.restart_instance(instance, actor="op", keep="start", variables={"y": 2})
    assert (world.where(instance), world.variables(instance)) == (["a"], {"x": 1, "y": 2})
    engine.cancel_instance(instance, actor="op")

    runs = RunRecord.objects.filter(thread_id=instance).order_by("number")
    assert [(run.number, run.state) for run in runs] == [(1, "COMPLETED"), (2, "COMPLETED"), (3, "CANCELLED")]
    assert len({commit.run_id for commit in history(instance) if commit.version}) == 3
    assert replay_stored([instance], again=True)[0].problems == ()
    assert stored_state(instance).instances[0].state == "CANCELLED"


def test_restart__of_another_version(world):
    world.deploy(OLD)
    instance = world.start()
    engine.cancel_instance(instance, actor="op")
    world.deploy(NEW)

    engine.restart_instance(instance, actor="op", version=2, keep="none")

    assert world.where(instance) == ["a2"]
    engine.cancel_instance(instance, actor="op")
    engine.restart_instance(instance, actor="op", version=1)
    assert world.where(instance) == ["a"]
    assert replay_stored([instance], again=True)[0].problems == ()


def test_restart__is_done_once_with_a_key(world, monkeypatch):
    world.deploy(OLD)
    instance = world.start()
    engine.cancel_instance(instance, actor="op")

    first = engine.restart_instance(instance, actor="op", key="k")
    again = engine.restart_instance(instance, actor="op", key="k")

    assert again.repeated and again.sequence == first.sequence
    with pytest.raises(engine.KeyConflict):
        engine.restart_instance(instance, actor="op", key="k", keep="none")
    monkeypatch.setattr(histories, "beginning", lambda thread: None)
    assert engine.restart_instance(instance, actor="op", key="k").sequence == first.sequence, "archived meanwhile"


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ({"keep": "some"}, engine.Invalid),
        ({"node": "a"}, engine.Invalid),
        ({"node": "start", "start_before": ["b"]}, engine.Invalid),
        ({"start_before": ["nowhere"]}, engine.NotFound),
        ({"version": 7}, engine.NotFound),
    ],
)
def test_restart__refuses_what_makes_no_sense_and_changes_nothing(world, said, refusal):
    world.deploy(OLD)
    instance = world.start()
    engine.cancel_instance(instance, actor="op")
    before = world.events(instance)

    with pytest.raises(refusal):
        engine.restart_instance(instance, actor="op", **said)

    assert world.events(instance) == before


def test_restart__asks_where_to_begin_when_the_start_was_archived(world, monkeypatch):
    world.deploy(OLD)
    instance = world.start()
    engine.cancel_instance(instance, actor="op")
    monkeypatch.setattr(histories, "beginning", lambda thread: None)
    with pytest.raises(engine.Invalid, match="name a start event"):
        engine.restart_instance(instance, actor="op")
    engine.restart_instance(instance, actor="op", node="start")
    assert world.where(instance) == ["a"]


def test_restart__is_refused_while_it_runs_and_when_it_was_swept(world, settings):
    world.deploy(OLD)
    instance = world.start()
    with pytest.raises(engine.Refused, match="only one that has ended"):
        engine.restart_instance(instance, actor="op")
    engine.cancel_instance(instance, actor="op")
    settings.BPM_KEEP_ENDED_DAYS = 0
    engine.sweep_ended()

    with pytest.raises(engine.Refused, match="only history has it") as refused:
        engine.restart_instance(instance, actor="op")
    assert refused.value.code == "not_running"
    with pytest.raises(engine.NotFound, match="only history has it"):
        engine.restart_instance(instance, actor="op", version=1)


def test_restart__of_a_called_instance_tells_nobody(world):
    world.deploy(
        model(start(), call("c", "sub"), end(), flows("start -> c -> end")),
        model(start(), service("w"), end(), flows("start -> w -> end"), id="sub"),
    )
    caller = world.start()
    world.work("w")
    assert world.state(caller) == "COMPLETED"
    called = ProcessInstance.objects.get(definition_key="sub")
    assert called.parent_instance_id == caller

    engine.restart_instance(called.id, actor="op")
    world.work("w")

    assert world.state(called.id) == "COMPLETED"
    assert world.events(called.id).count("MESSAGE_SENT") == 1
    assert replay_stored([caller, called.id], again=True)[1].problems == ()
