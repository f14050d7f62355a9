"""A town of instances: an order with everything in it, and instances that call, tell and signal each other."""

from __future__ import annotations

import pytest

from bpm import engine
from config.local import ROOT
from tests.database.engine.conftest import World, world
from tests.database.engine.drawing import call, catch, end, flows, message, model, service, signal, start, throw

__all__ = ["world"]

ORDER = (ROOT / "examples" / "orders" / "order.bpmn").read_bytes()
MESSAGE = '<bpmn:message id="m" name="Hello"/>'
SIGNAL = '<bpmn:signal id="s" name="Stop"/>'
CALLER = model(start(), call("c", "called"), end(), flows("start -> c -> end"), id="caller")
CALLED = model(start(), service("work"), end(), flows("start -> work -> end"), id="called")
HEARS = model(
    start(), catch("hear", message("m")), end(), flows("start -> hear -> end"), id="hears", before=MESSAGE
)  # fmt: skip
TELLS = model(start(), throw("tell", message("m")), end(), flows("start -> tell -> end"), id="tells", before=MESSAGE)
STOPS = model(start(), catch("stop", signal("s")), end(), flows("start -> stop -> end"), id="stops", before=SIGNAL)
CRIES = model(start(), throw("cry", signal("s")), end(), flows("start -> cry -> end"), id="cries", before=SIGNAL)


@pytest.fixture
def town(world: World) -> World:
    """Several instances of each have run to their ends, made by the engine's own verbs, a transaction each."""
    world.deploy(ORDER, CALLER, CALLED, HEARS, TELLS, STOPS, CRIES)
    orders = [world.start("order", variables={"quantity": 1}) for _ in range(3)]
    others = [world.start(process) for process in ("caller", "caller", "hears", "stops", "stops")]
    world.work("orders.check-stock", in_stock=False)
    world.work("orders.order-from-supplier", delivered=10)
    world.work("orders.check-stock", in_stock=True)
    for (task,) in world.ask("SELECT id FROM user_tasks"):
        engine.complete_user_task(task, actor="anna")
    world.work("payments.charge", "work")
    world.work("orders.ship")
    world.start("tells")
    world.start("cries")
    assert {world.state(instance) for instance in (*orders, *others)} == {"COMPLETED"}
    return world
