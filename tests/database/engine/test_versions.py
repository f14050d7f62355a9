"""Living with versions: tokens put elsewhere, instances that go on with another definition; both replay."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from bpm import engine
from bpm.audit.replaying import replay_stored
from tests.database.engine.drawing import end, flows, model, service, start

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


def test_commands(world, capsys):
    world.deploy(OLD)
    one, two = world.start(), world.start()
    world.deploy(NEW)

    call_command("bpm", "modify", str(one), "--after", "a", "--cancel-at", "a")
    call_command("bpm", "migrate", str(two), "--node", "a=a2", "--reason", "version 2")

    assert (world.where(one), world.where(two)) == (["b"], ["a2"])
    assert "migrated" in capsys.readouterr().out
