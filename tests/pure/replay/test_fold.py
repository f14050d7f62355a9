"""Replay: history alone gives the state that was live, at its end and at any moment before."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from bpm.replay import Recorded, ReplayEngine, compare, state_at
from bpm.semantics.changing import changed
from bpm.semantics.evolve import BrokenHistory
from bpm.semantics.state import ENTITIES
from tests.pure.replay.recording import Recording, spoil, two_branches
from tests.pure.semantics.drawing import START, draw


def test_replay_gives_the_live_state():
    run = two_branches()
    result = ReplayEngine(run.process).replay(run.commits, thread="i")
    assert result.violations == ()
    assert compare(run.state, result.state) == ()
    assert {token.state for token in result.final_tokens.values()} == {"COMPLETED"}
    assert [task.state for task in result.final_tasks.values()] == ["DONE"]
    assert [timer.state for timer in result.final_timers.values()] == ["FIRED"]
    assert result.variables == {"x": 1, "y": {"z": [1, 2]}}
    assert (result.commits, result.events) == (len(run.commits), len(run.events))


def test_any_iterable_of_commits_is_folded_once():
    run = two_branches()
    assert ReplayEngine(run.process).replay(iter(run.commits), thread="i").state.version == run.state.version


def test_the_state_at_a_version_and_at_a_time():
    run = two_branches()
    assert state_at(run.process, run.commits, version=1, thread="i").version == 1
    hour = START + timedelta(hours=1)
    early = state_at(run.process, run.commits, at=hour - timedelta(seconds=1), thread="i")
    assert [timer.state for timer in early.timers.values()] == ["SCHEDULED"]
    assert compare(run.state, state_at(run.process, run.commits, at=hour, thread="i")) == ()
    assert state_at(run.process, run.commits, version=0).instance is None


def test_the_state_of_a_broken_history_is_not_guessed():
    run = two_branches()
    with pytest.raises(BrokenHistory):
        state_at(run.process, spoil(run.commits, "TOKEN_CREATED", drop=True))


def test_locks_that_are_no_steps_raise_no_version():
    """The engine locks tasks of many instances in one commit that has no version of any of them."""
    run = Recording(draw("start s > external A > end e"))
    run.work("A")
    commits = [replace(one, version=None) if one.command == "LockTask" else one for one in run.commits]
    commits = [one if one.version in (None, 1) else replace(one, version=one.version - 1) for one in commits]
    result = ReplayEngine(run.process).replay(commits)
    assert result.violations == ()
    assert result.state.version == run.state.version - 1
    (task,) = result.final_tasks.values()
    assert task.version == 3


def test_commits_survive_as_json():
    run = two_branches()
    text = json.dumps([commit.to_json() for commit in run.commits])
    again = [Recorded.from_json(data, format=1) for data in json.loads(text)]
    assert again == run.commits
    assert compare(run.state, ReplayEngine(run.process).replay(again, thread="i").state) == ()


def test_differences_are_said_in_words():
    run = two_branches()
    state = ReplayEngine(run.process).replay(run.commits, thread="i").state
    state.tokens[1] = replace(state.tokens[1], state="WAITING")
    state.variables[0, "x"] = replace(state.variables[0, "x"], value=True)
    del state.tasks[next(iter(state.tasks))]
    state.version += 1
    version = run.state.version
    assert compare(run.state, state, run.state) == (
        f"the instance: version is {version} live, {version + 1} replayed, {version} stored",
        "token 1 (e): state is 'COMPLETED' live, 'WAITING' replayed, 'COMPLETED' stored",
        "task 4 (A) is there live and stored, not replayed",
        "variable (0, 'x'): value is 1 live, True replayed, 1 stored",
    )


def test_numbers_are_compared_as_json_has_them():
    run = two_branches()
    state = ReplayEngine(run.process).replay(run.commits, thread="i").state
    state.variables[0, "x"] = replace(state.variables[0, "x"], value=Decimal("1.0"))
    assert compare(run.state, state) == ()


def test_an_entity_is_changed_as_dataclasses_do_it():
    state = two_branches().state
    entities = [entity for kind in ENTITIES for entity in state.table(kind).values() if hasattr(entity, "version")]
    assert len({type(entity) for entity in entities}) > 3
    for entity in entities:
        assert changed(entity, version=77) == replace(entity, version=77) != entity
        assert changed(entity) == entity
    with pytest.raises(KeyError):
        changed(entities[0], nothing=1)
