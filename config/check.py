"""script/up --check: one order from start to end through the real worker, and its trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from config.supervision import Trouble, say

ACTOR = "script/up --check"
PATIENCE = 45.0
# More than lies on the shelves, so that the loop over the supplier is taken; the first try to charge the card fails.
ORDER = {"customer": "Ada", "quantity": 15, "card": "flaky"}


def run_order(look_after: Callable[[], None]) -> dict[str, Any]:
    """Start an order, do its people's work, wait for its end. Out: the instance and its trace, as JSON values.

    Raises Trouble when it does not end, or not as it should.
    """
    from bpm import engine

    instance_id = engine.start("order", business_key="CHECK-1", variables=ORDER, actor=ACTOR).thread_id
    say(f"started order {instance_id}")
    state = end_of(instance_id, look_after)
    if state != "COMPLETED":
        raise Trouble(f"the order ended {state}, not COMPLETED")
    say("the order has ended")
    return traced(instance_id, state)


def end_of(instance_id: UUID, look_after: Callable[[], None]) -> str:
    """Complete the instance's user tasks until it has ended. Out: its state. Raises Trouble when it does not end."""
    from bpm import engine
    from bpm.queries import instances, work

    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        look_after()
        instance = instances.get_instance(instance_id)
        if instance is None or instance.incidents:
            break
        if not instance.is_open:
            return instance.state
        for task in work.list_user_tasks(instance_id=instance_id).items:
            say(f"completing the user task {task.node_name}")
            engine.complete_user_task(task.id, actor=ACTOR)
        time.sleep(0.1)
    where = "nowhere" if instance is None else ", ".join(place.name for place in instance.places)
    raise Trouble(f"the order did not end in {PATIENCE:.0f} s; it is at: {where}")


def traced(instance_id: UUID, state: str) -> dict[str, Any]:
    """The trace of the instance, with what it is the trace of."""
    from bpm.audit import trace

    events = [event.as_json() for event in trace.stream(instance_id)]
    return {"instance_id": str(instance_id), "state": state, "events": events}
