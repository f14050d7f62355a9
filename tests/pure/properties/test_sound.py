"""Sound processes, run in any order, always end, leave nothing behind, and replay to what they were."""

from __future__ import annotations

import os
from random import Random

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from bpm.replay import ReplayEngine, compare, verify
from tests.pure.properties.blocks import Block, blocks, build, large_block
from tests.pure.properties.playing import Play

EXAMPLES = int(os.environ.get("TOKENTRAIL_EXAMPLES", "60"))
seeds = st.integers(min_value=0, max_value=2**32)


@settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(blocks, seeds)
def test_a_sound_process_always_ends_and_replays(block: Block, seed: int) -> None:
    play_to_the_end(block, seed)


@settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(seeds, st.integers(min_value=4, max_value=80))
def test_a_large_sound_process_always_ends_and_replays(seed: int, size: int) -> None:
    play_to_the_end(large_block(Random(seed), size), seed)  # noqa: S311


def play_to_the_end(block: Block, seed: int) -> Play:
    """Run the block's process in the order of the seed, and ask of it all that must hold."""
    note(f"block {block!r}, seed {seed}")
    play = Play(build(block), seed)
    play.run()

    state = play.state
    assert play.refusals == []
    assert state.instances[0].state in ("COMPLETED", "FAILED"), play.left()
    assert play.left() == []
    replayed = ReplayEngine(play.process).replay(play.commits, thread="i")
    assert replayed.violations == ()
    assert compare(state, replayed.state) == ()
    assert verify(play.process, play.commits, thread="i") is None
    return play
