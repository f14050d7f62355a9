"""What is there now: read from the database, and read again when something may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from bpm.management.driving.chronicle import Chronicle
from bpm.management.driving.start_timers import OPEN_START_TIMERS, StartTimer, start_timer
from bpm.scenarios.world import Thread
from bpm.semantics import State
from bpm.semantics.lifecycle import is_final
from bpm.store import django_channel
from bpm.store.reading import stored_state
from bpm.store.statements import sql


@dataclass(slots=True)
class Outlook:
    """All of a scenario's world. Nobody but its driver acts in the database, so it is read once after each act.

    `states` are the instances as their rows have them; those that have ended are read no more.
    """

    chronicle: Chronicle
    now: datetime
    states: dict[UUID, State] = field(default_factory=dict)
    start_timers: list[StartTimer] = field(default_factory=list)
    stale: bool = True

    def look(self) -> Outlook:
        """Bring it up to date."""
        if not self.stale:
            return self
        asked = (self.chronicle.question(), (OPEN_START_TIMERS, None), (sql("now"), None))
        grown, timers, ((self.now,),) = django_channel().send(*asked)
        self.chronicle.take(grown)
        for id in self.chronicle.instances:
            if id not in self.states or not _has_ended(self.states[id]):
                self.states[id] = stored_state(id) or State(thread=str(id))
        self.start_timers = [start_timer(*row) for row in timers]
        self.stale = False
        return self

    def running(self) -> Iterator[Thread]:
        """The instances that have not ended, the first one first."""
        for id, graph in self.chronicle.instances.items():
            thread = Thread(str(id), graph, self.states[id])
            if thread.is_open:
                yield thread


def _has_ended(state: State) -> bool:
    return state.instance is not None and is_final("instance", state.instance.state)
