"""Start timers of definitions, as scenarios see and fire them: also before their moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from bpm.engine.acting import act
from bpm.expressions.timers import Schedule, following
from bpm.semantics.commands import StartInstance
from bpm.store import ids, schedule
from bpm.store.schedule import DueStart
from bpm.store.values import loads

# All that are set, the earliest first.
OPEN_START_TIMERS: LiteralString = """
    SELECT id, version, process_def_id, definition_key, node_id, fire_at, schedule::text FROM start_subscriptions
    WHERE kind = 'TIMER' AND state = 'OPEN' ORDER BY fire_at, id
"""


@dataclass(frozen=True, slots=True)
class StartTimer:
    """A start timer that is set, as the scheduler would find it at its moment."""

    due: DueStart

    @property
    def at(self) -> datetime:
        """Its moment."""
        return self.due.fire_at

    @property
    def node(self) -> str:
        """The start event."""
        return self.due.node


def start_timer(id: UUID, version: int, definition: UUID, key: str, node: str, at: datetime, set_as: str) -> StartTimer:
    """The timer of a row of OPEN_START_TIMERS."""
    due = DueStart(
        id=id, version=version, definition_id=definition, key=key, node=node, fire_at=at, schedule=loads(set_as)
    )
    return StartTimer(due)


def fire_start_timer(timer: StartTimer, *, actor: str) -> None:
    """Start the process as its timer does, whatever the clock says; then the timer goes on to its next moment."""
    due = timer.due
    act(
        ids.new_instance(),
        lambda at: StartInstance(at=at, node=due.node, trigger="timer"),
        actor=actor,
        definition=due.definition_id,
    )
    after = following(Schedule.from_json(due.schedule))
    moment, set_as = (None, None) if after is None else (after.fire_at, after.to_json())
    schedule.advance_start(due, moment, set_as, actor=actor)
