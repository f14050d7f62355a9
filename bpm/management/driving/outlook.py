"""What is there now: read from the database, and read again when something may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from bpm.management.driving.chronicle import Chronicle
from bpm.management.driving.start_timers import StartTimer, start_timers
from bpm.scenarios.world import Thread
from bpm.semantics import State
from bpm.semantics.lifecycle import is_final
from bpm.store import schedule
from bpm.store.reading import stored_state


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
        self.chronicle.read_on()
        for id in self.chronicle.instances:
            if id not in self.states or not _has_ended(self.states[id]):
                self.states[id] = stored_state(id) or State(thread=str(id))
        self.start_timers = start_timers()
        self.now = schedule.now()
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
