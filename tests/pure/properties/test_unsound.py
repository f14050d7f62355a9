"""Drawings that make no sense, and operators who do as much: refused with reasons, or carried out without a defect."""

from __future__ import annotations

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from bpm.compiler import compile_bpmn
from bpm.replay import ReplayEngine, compare, verify
from tests.pure.properties.drawings import Drawing
from tests.pure.properties.playing import Play
from tests.pure.properties.test_sound import EXAMPLES, seeds

LOOKED_AT = 60


@settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(seeds, st.integers(min_value=0, max_value=3))
def test_no_drawing_meets_a_defect(seed: int, order: int) -> None:
    play_for_a_while(seed, order)


def play_for_a_while(seed: int, order: int) -> Play | None:
    """Compile the drawing of the seed and, if it is not refused, run it for some steps; what was done must replay."""
    note(f"seed {seed}, order {order}")
    compiled = compile_bpmn(Drawing(seed).xml())
    if compiled.errors:
        return None
    play = Play(compiled.processes[0], seed + order, meddling=order / 10)
    play.run(LOOKED_AT)

    replayed = ReplayEngine(play.process).replay(play.commits, thread="i")
    assert replayed.violations == ()
    assert compare(play.state, replayed.state) == ()
    assert verify(play.process, play.commits, thread="i") is None
    return play
