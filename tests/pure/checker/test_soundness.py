"""Random processes: what is sound has no fault, what an instance really comes to was looked at, and no order that was
left out would have shown more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings

from bpm.checker import Bounds, check, explore, replay
from bpm.checker.faults import faults
from bpm.compiler import compile_bpmn
from bpm.graph import Process
from bpm.semantics import State
from bpm.semantics.view import is_open
from tests.pure.checker.test_findings import shape
from tests.pure.properties.blocks import ROUNDS, build, large_block
from tests.pure.properties.drawings import Drawing
from tests.pure.properties.playing import COMES, Play
from tests.pure.properties.test_sound import EXAMPLES, seeds

SIZE = 5
FEW = max(EXAMPLES // 3, 1)
quickly = settings(max_examples=FEW, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))


def sound(seed: int) -> Process:
    """A process that can always end; without conditions to wait for it says so, as the compiler would."""
    note(f"seed {seed}")
    process = build(large_block(Random(seed), SIZE))  # noqa: S311
    kinds = {part.kind for node in process.nodes.values() if (t := node.trigger) for part in (t, *t.parts)}
    return replace(process, conditional="conditional" in kinds)


@quickly
@given(seeds)
def test_a_sound_process_has_no_error(seed):
    report = check(sound(seed), Bounds(states=400))
    assert [str(finding) for finding in report.findings if finding.severity == "error"] == []


@quickly
@given(seeds)
def test_what_a_live_instance_comes_to_was_looked_at(seed):
    process = sound(seed)
    space = explore(process, Bounds(states=400, rounds=ROUNDS, again=COMES), reduce=False)
    if space.limits or space.held:
        return
    known = {places(state) for state in space.states}
    play = Play(process, seed)
    play.do = looking(play, known, play.do)
    play.run()


def looking(play, known, do):
    """As `do`; afterwards what is at rest, and no error has failed, is something that is known."""

    def looked(command):
        do(command)
        state = play.state
        active = any(token.state == "ACTIVE" for token in state.tokens.values())
        stopped = any(is_open("incident", incident) for incident in state.incidents.values())
        if not active and not stopped and state.instances[0].state != "FAILED":
            assert places(state) in known

    return looked


def places(state: State) -> tuple[str, tuple[tuple[tuple[str, str], int], ...]]:
    """Where tokens are that have none below them."""
    tokens = [token for token in state.tokens.values() if is_open("token", token)]
    above = {id for token in tokens for id in (token.scope, token.parent)}
    counts = Counter((token.node, token.state) for token in tokens if token.id not in above)
    return state.instances[0].state, tuple(sorted(counts.items()))


@quickly
@given(seeds)
def test_orders_that_are_left_out_would_have_shown_no_more(seed):
    process = sound(seed)
    all_of_it = explore(process, Bounds(states=400), reduce=False)
    less = explore(process, Bounds(states=400))
    if not all_of_it.limits:
        assert set(less.numbers) <= set(all_of_it.numbers)
        assert set(less.reached) == set(all_of_it.reached)
        assert [(f.code, f.elements) for f in faults(less)] == [(f.code, f.elements) for f in faults(all_of_it)]


@quickly
@given(seeds)
def test_no_drawing_meets_a_defect(seed):
    note(f"seed {seed}")
    compiled = compile_bpmn(Drawing(seed).xml())
    for process in () if compiled.errors else compiled.processes:
        space = explore(process, Bounds(states=100))
        found = faults(space)
        assert len({fault.message for fault in found}) == len(found)
        for fault in found:
            if fault.there is not None:
                assert shape(space, replay(space, fault.way)) == shape(space, fault.there)


@pytest.mark.parametrize("seed", range(8))
def test_drawings_have_the_same_faults_in_any_order(seed):
    compiled = compile_bpmn(Drawing(seed * 7).xml())
    for process in () if compiled.errors else compiled.processes:
        full = explore(process, Bounds(states=400), reduce=False)
        if not full.limits:
            found = {(fault.code, fault.elements) for fault in faults(explore(process, Bounds(states=400)))}
            assert found == {(fault.code, fault.elements) for fault in faults(full)}
