"""A decision that was made for one moment, told for a later one.

The time of a step is known only when its row is locked; what the step decides hardly ever hangs on it. So a step can be
decided before, for a moment that has passed, and be told for the moment that it gets (before `holds_until`). Only the
end of a lock that it gives moves along.

    decide(graph, state, command at a)  then  later(decided, a, b)   =   decide(graph, state, command at b)
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from bpm.semantics.changing import changed
from bpm.semantics.decide import Decided
from bpm.semantics.events import Event


def locks_given(events: tuple[Event, ...], at: datetime) -> dict[int, timedelta]:
    """The locks of tasks that the step itself has made (`locks.lock_next`): for how long after the step, by the event's
    place. Any other lock ends when its command says.
    """
    made: set[int] = set()
    given = {}
    for place, event in enumerate(events):
        if event.type == "TASK_CREATED":
            made.add(event.id)
        elif event.type == "TASK_LOCKED" and event.id in made:
            given[place] = datetime.fromisoformat(event.payload["until"]) - at
    return given


def later(decided: Decided, assumed: datetime, at: datetime) -> Decided:
    """What was decided for the time `assumed`, at the time `at`: as late or later, and before `holds_until`."""
    given = locks_given(decided.events, assumed)
    if not given:
        return decided
    events, state = list(decided.events), decided.state.copy()
    for place, lasting in given.items():
        event, until = events[place], at + lasting
        events[place] = replace(event, payload={**event.payload, "until": until.isoformat()})
        state.put("task", changed(state.tasks[event.id], lock_expire_at=until))
    return replace(decided, events=tuple(events), state=state)
