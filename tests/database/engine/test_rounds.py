"""Rounds of a loop: what they go over is read when they begin, not by each of them."""

from __future__ import annotations

import pytest

from bpm import engine
from tests.database.engine.drawing import end, flows, model, service, start

LOOP = '<bpmn:multiInstanceLoopCharacteristics {kind} camunda:collection="${{items}}" camunda:elementVariable="item"/>'


@pytest.mark.parametrize(
    ("kind", "more", "read"),
    [
        ('isSequential="false"', "", False),
        ('isSequential="true"', "", True),
        ('isSequential="false"', '<camunda:inputOutput><camunda:inputParameter name="of">${items.size()}'
         "</camunda:inputParameter></camunda:inputOutput>", True),
    ],
    ids=["parallel", "sequential", "also read inside"],
)  # fmt: skip
def test_what_only_parallel_rounds_go_over_is_not_loaded_by_each_step(world, kind, more, read):
    inside = f"<bpmn:extensionElements>{more}</bpmn:extensionElements>" if more else ""
    world.deploy(
        model(start(), service("pay", inner=inside + LOOP.format(kind=kind)), end(), flows("start -> pay -> end"))
    )
    assert world.ask("SELECT reads ? 'items' FROM process_definitions") == [(read,)]
    instance = world.start(variables={"items": ["a", "b", "c"]})
    seen = []
    while tasks := engine.fetch_and_lock(["pay"], worker="w", max=1):
        seen.append((tasks[0].variables["item"], tasks[0].variables["items"]))
        engine.complete_task(tasks[0].id, worker="w")
    assert seen == [(item, ["a", "b", "c"]) for item in "abc"]
    assert world.state(instance) == "COMPLETED"
