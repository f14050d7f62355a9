"""Histories made in memory, and ways to spoil them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from bpm.graph import Formula, Process, Trigger
from bpm.replay import Recorded
from bpm.semantics import Event
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw


class Recording(Run):
    """A run that keeps its commits as the commit log would."""

    def __init__(self, process: Process, **start: Any) -> None:
        self.commits: list[Recorded] = []
        super().__init__(process, **start)

    def _step(self, command: c.Command) -> None:
        before = len(self.events)
        super()._step(command)
        recorded = Recorded(
            sequence=2 * len(self.commits) + 1,
            version=self.state.version,
            command=type(command).__name__,
            at=command.at,
            arguments=c.to_json(self.command),
            events=tuple(self.events[before:]),
        )
        self.commits.append(recorded)


def two_branches() -> Recording:
    """A fork, work with a worker in one branch and a timer in the other, a join, the end."""
    graph = draw(
        "start s > parallel f > external A > parallel j > end e",
        "f > catch t > j",
        t={"trigger": Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))},
    )
    run = Recording(graph, variables={"x": 1})
    run.work("A", y={"z": [1, 2]})
    run.wait(3600)
    assert run.ended == "COMPLETED"
    return run


def spoil(commits: list[Recorded], spoiled: str, *, nth: int = 0, drop: bool = False, **changes: Any) -> list[Recorded]:
    """The history with the nth event of that type changed (or dropped); `payload` changes are merged."""
    found = -1
    history: list[Recorded] = []
    for commit in commits:
        events: list[Event] = []
        for event in commit.events:
            found += event.type == spoiled
            if event.type == spoiled and found == nth:
                if drop:
                    continue
                payload = event.payload | changes.get("payload", {})
                event = replace(event, **(changes | {"payload": payload}))
            events.append(event)
        history.append(replace(commit, events=tuple(events)))
    return history


def appended(commits: list[Recorded], *events: Event, at: datetime | None = None) -> list[Recorded]:
    """The history with one more commit of these events."""
    last = commits[-1]
    version = None if last.version is None else last.version + 1
    added = replace(last, sequence=last.sequence + 1, version=version, at=at or last.at, events=events)
    return [*commits, added]


def until(commits: list[Recorded], type: str) -> list[Recorded]:
    """The history up to and with the commit that has the first event of that type."""
    for number, commit in enumerate(commits, start=1):
        if any(event.type == type for event in commit.events):
            return commits[:number]
    raise LookupError(type)
