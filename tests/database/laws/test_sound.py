"""Random sound processes through the database: whatever is done in whatever order, by a process that forgets what it
knew between two steps as often as not, the instance ends, and what is stored is what is replayed and decided again.

The processes and the choices are those of `tests/pure/properties`; here each command is a commit of the store.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random
from uuid import UUID

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from bpm import engine
from bpm.audit.replaying import replay_stored
from bpm.engine.step import MEMORY, step
from bpm.replay import Recorded
from bpm.semantics import commands as c
from bpm.store import definitions, ids, reading
from tests.database.store.conftest import store_graph
from tests.pure.properties.blocks import Block, blocks, build, large_block
from tests.pure.properties.playing import Play

seeds = st.integers(min_value=0, max_value=2**32)
EXAMPLES = int(os.environ.get("TOKENTRAIL_EXAMPLES", "12"))


class StoredPlay(Play):
    """A play whose every command is a commit, and whose state is what the tables say."""

    def __init__(self, block: Block, seed: int) -> None:
        super().__init__(build(block), seed)
        self.definition = store_graph(None, self.process).id
        self.thread: UUID = ids.new_instance()
        self.locked = 0

    def do(self, command: c.Command) -> None:
        if isinstance(command, c.LockTask):
            # The queue gives whichever of that topic is the oldest.
            (task,) = engine.fetch_and_lock([self.state.tasks[command.task].topic], worker="w", lock_seconds=600)
            self.locked = ids.ordinal(task.id)
        else:
            self._commit(command)
        if self.chance.random() < 0.5:
            # What a new process would know: nothing.
            MEMORY.forget(self.thread)
            definitions.forget()
        stored = reading.stored_state(self.thread)
        assert stored is not None
        self.state = stored

    def _commit(self, command: c.Command) -> None:
        start = isinstance(command, c.StartInstance)
        if isinstance(command, c.CompleteExternalTask | c.FailExternalTask | c.ThrowBpmnError) and self.locked:
            command, self.locked = replace(command, task=self.locked), 0
        record = step(
            self.thread,
            lambda at: replace(command, at=at),
            actor="ann",
            definition=self.definition if start else None,
        )
        self.commits.append(
            Recorded(
                sequence=record.sequence,
                version=record.version,
                command=record.command,
                at=record.at,
                arguments={},
                events=record.events,
            )
        )


@settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(blocks, seeds)
def test_what_is_stored_is_what_replays(world, block: Block, seed: int) -> None:
    play_to_the_end(block, seed)


@settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(seeds, st.integers(min_value=4, max_value=40))
def test_what_is_stored_of_a_large_process_is_what_replays(world, seed: int, size: int) -> None:
    play_to_the_end(large_block(Random(seed), size), seed)  # noqa: S311


def play_to_the_end(block: Block, seed: int) -> None:
    """Run it, and compare: live = stored = replayed = decided again."""
    note(f"block {block!r}, seed {seed}")
    play = StoredPlay(block, seed)
    play.run()
    instance = play.state.instance
    assert instance is not None and instance.state in ("COMPLETED", "FAILED")
    assert play.left() == []
    (outcome,) = replay_stored([play.thread], again=True)
    assert outcome.problems == ()
    assert outcome.commits >= len(play.commits) > 0
