"""The same commands by two ways: to one thread by processes that remember it and decide before the lock, each by what
it saw last, and to another one by a process that remembers nothing. The same happens, event by event and row by row.

Whatever the drawing: also those that make no sense, with operators who do as much (`tests/pure/properties`).
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from bpm.audit.replaying import replay_stored
from bpm.compiler import compile_bpmn
from bpm.graph import Process
from bpm.semantics import commands as c
from bpm.semantics.state import entities
from bpm.store import Refused, ThreadCommit, claims, commit, django_channel, ids, reading
from bpm.store.projection import Projection
from bpm.store.unit import Unit
from tests.database.store.conftest import store_graph, with_topics
from tests.pure.properties.blocks import Block, blocks, build
from tests.pure.properties.drawings import Drawing
from tests.pure.properties.playing import Play

seeds = st.integers(min_value=0, max_value=2**32)
EXAMPLES = int(os.environ.get("TOKENTRAIL_EXAMPLES", "8"))
LOOKED_AT = 40
PROCESSES = 3
# What may differ: times, and the names of the two threads.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d)?|datetime\.datetime\([^()]*\)")


def _plain(value: Any) -> Any:
    """A dataclass as its fields, anything else as Python writes it."""
    return (
        [type(value).__name__, *(getattr(value, one.name) for one in fields(value))]
        if is_dataclass(value)
        else repr(value)
    )


class Way:
    """One thread, and who commits to it."""

    def __init__(self, name: str, process: Process, seed: int, projections: list[Projection] | None) -> None:
        self.prefix = f"{name}{seed:08x}."
        self.projections = projections
        graph = with_topics(process, self.prefix)
        self.definition, self.other = (store_graph(None, graph).id for _ in range(2))
        self.thread = ids.new_instance()

    def lock(self, topic: str) -> None:
        """The worker takes the oldest task of the topic."""
        claims.fetch_and_lock([self.prefix + topic], "w", lock_seconds=600)

    def do(self, command: c.Command, process: int, key: str | None) -> tuple[str, str]:
        """One command by that process. What came of it, and its events."""
        definition: UUID | None = None
        if isinstance(command, c.StartInstance):
            definition = self.definition
        elif isinstance(command, c.MigrateInstance):
            definition = self.other
            command = replace(command, definition=str(definition))
        elif isinstance(command, c.CompleteExternalTask):
            command = replace(command, next_topics={self.prefix + topic: 60 for topic in command.next_topics})
        wanted = ThreadCommit(
            thread_id=self.thread, command=lambda at: replace(command, at=at), actor="ann", key=key,
            definition=definition,
        )  # fmt: skip
        try:
            record = commit(django_channel(), wanted, self.projections[process] if self.projections else None)
        except Refused as refused:
            return refused.code, ""
        return f"repeated {record.version}" if record.repeated else "done", self.alike(record.events)

    def alike(self, what: Any) -> str:
        """As text, without what is each thread's own."""
        text = (
            json.dumps(what, default=_plain, sort_keys=True)
            .replace(str(self.thread), "thread")
            .replace(self.prefix, "")
        )
        return MOMENT.sub("then", text.replace(str(self.definition), "one").replace(str(self.other), "other"))

    def rows(self) -> list[str]:
        """All that is stored of it."""
        state = reading.stored_state(self.thread)
        assert state is not None
        return [self.alike(one) for one in entities(state)]


class TwoWays(Play):
    """A play whose every command goes both ways, by one of several processes."""

    def __init__(self, process: Process, seed: int, *, meddling: float = 0.0) -> None:
        super().__init__(process, seed, meddling=meddling)
        self.remembers = Way("remembers", process, seed, [Projection() for _ in range(PROCESSES)])
        self.forgets = Way("forgets", process, seed, None)
        self.done = 0

    def do(self, command: c.Command) -> None:
        if isinstance(command, c.LockTask):
            topic = self.state.tasks[command.task].topic
            for way in (self.remembers, self.forgets):
                way.lock(topic)
        else:
            key = f"k{self.done}" if self.chance.random() < 0.2 else None
            process = self.chance.randrange(PROCESSES) if self.chance.random() < 0.3 else 0
            again = key is not None and self.chance.random() < 0.5
            for _ in range(1 + again):
                came, forgot = (way.do(command, process, key) for way in (self.remembers, self.forgets))
                assert came == forgot, command
            self.done += came[0] == "done"
        stored = reading.stored_state(self.remembers.thread)
        assert stored is not None
        for id, task in stored.tasks.items():
            stored.tasks[id] = replace(task, topic=task.topic.removeprefix(self.remembers.prefix))
        self.state = stored
        self.at += timedelta(seconds=1)
        assert self.remembers.rows() == self.forgets.rows()


def play(process: Process, seed: int, steps: int, meddling: float) -> None:
    """Play it for so many steps; then each thread's history proves its rows."""
    two = TwoWays(process, seed, meddling=meddling)
    two.run(steps)
    for outcome in replay_stored([two.remembers.thread, two.forgets.thread], again=True):
        assert outcome.problems == ()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each step that was decided before the lock, whether all was as it was foreseen."""
    found: list[bool] = []
    settle = Unit.settle

    def settling(self: Unit, *about: Any) -> Any:
        result = settle(self, *about)
        found.append(result is not None)
        return result

    monkeypatch.setattr(Unit, "settle", settling)
    return found


def test_sound_processes(world, settled) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
    @given(blocks, seeds)
    def both(block: Block, seed: int) -> None:
        note(f"block {block!r}, seed {seed}")
        play(build(block), seed, LOOKED_AT, 0.0)

    both()
    assert any(settled)


def test_drawings_and_operators_that_make_no_sense(world, settled) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
    @given(seeds, st.integers(min_value=0, max_value=3))
    def both(seed: int, order: int) -> None:
        note(f"seed {seed}, order {order}")
        compiled = compile_bpmn(Drawing(seed).xml())
        if not compiled.errors:
            play(compiled.processes[0], seed + order, LOOKED_AT, order / 10)

    both()
    assert any(settled)
