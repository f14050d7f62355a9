"""Live = replayed, and deciding on what `Need` asks for = deciding on all, for every run of the corpus.

The instances are those that the scenarios of three sources bring about, as far as they can be run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bpm.replay import ReplayEngine, compare, verify
from bpm.scenarios import CoreDriver, read_scenarios, run_document, scenario_files
from bpm.scenarios.world import Thread
from bpm.semantics import State, apply
from bpm.semantics import commands as c
from tests.pure.scenarios.corpus import corpus
from tests.pure.semantics.drawing import decide_from_nothing

SOURCES = ("prod_hmcts_civil", "betsy", "bpmn_js_token_simulation")


def threads(source: str) -> Iterator[tuple[str, Thread]]:
    """Every instance that the scenarios of a source bring about, with the scenario's name."""
    for file in scenario_files([str(corpus(source))]):
        for document in read_scenarios(file):
            drivers: list[CoreDriver] = []

            def new_driver(folder: Path = file.parent, drivers: list[CoreDriver] = drivers) -> CoreDriver:
                drivers.append(CoreDriver(folder))
                return drivers[-1]

            run_document(document, new_driver)
            for driver in drivers:
                for thread in driver.world.threads.values():
                    yield document.name, thread


@pytest.mark.parametrize("source", SOURCES)
def test_replayed_is_live_and_deciding_again_agrees(source):
    found = 0
    for name, thread in threads(source):
        result = ReplayEngine(thread.graph).replay(thread.commits, thread=thread.id)
        assert result.violations == (), name
        assert compare(thread.state, result.state) == (), name
        assert verify(thread.graph, thread.commits, thread=thread.id) is None, name
        found += 1
    assert found > 30


@pytest.mark.parametrize("source", SOURCES)
def test_deciding_on_a_part_is_deciding_on_the_whole(source):
    for name, thread in threads(source):
        state = State(thread=thread.id)
        for commit in thread.commits:
            command = c.from_json(commit.command, commit.arguments, commit.at)
            if state.instance is not None:
                assert decide_from_nothing(thread.graph, state, command) == commit.events, (name, commit.command)
            for event in commit.events:
                apply(state, event)
            state = state.sealed()
