"""Every recorded history of every version replays to its end, decided again to the very same events."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpm.compiler.supported import FEATURES, features
from bpm.replay import Recorded, ReplayEngine, read_histories, verify
from bpm.semantics.events import EVENT_TYPES
from bpm.store.version import ENGINE
from tests.histories.elements import CASES
from tests.histories.record import HERE, lines, perform

FILES = sorted(HERE.glob("*/*.jsonl"))
# What only a fetch of many tasks brings about, and what becomes of messages; tests of the engine have it.
ELSEWHERE = {"TASK_EXTENDED", "TASK_UNLOCKED", "TASK_TIMED_OUT", "MESSAGE_DELIVERED", "MESSAGE_EXPIRED"}


def read(file: Path) -> list:
    with file.open(encoding="utf-8") as text:
        return [(history, list(history.commits)) for history in read_histories(text)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_it_replays(file):
    for history, commits in read(file):
        result = ReplayEngine(history.process, history.others).replay(commits, thread=history.instance)
        assert result.violations == ()
        again = {"library": history.library, "others": history.others}
        assert verify(history.process, commits, thread=history.instance, **again) is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_this_version_writes_what_is_recorded_of_it(case, tmp_path):
    """What this version decides is what its golden file says; a difference is a change of behaviour or of format."""
    recorded = HERE / ENGINE / f"{case.name.replace(' ', '-')}.jsonl"
    assert recorded.exists(), "record it: python -m tests.histories.record"
    assert list(lines(perform(case, tmp_path))) == recorded.read_text().splitlines()


def test_every_element_has_its_history():
    seen = set()
    for file in HERE.glob(f"{ENGINE}/*.jsonl"):
        for history, commits in read(file):
            visited = {event.node for commit in commits for event in commit.events}
            for node in history.process.nodes.values():
                # A compensation event waits as its handler's ticket; it is there when its activity has been.
                if node.id in visited or (node.kind == "boundary" and node.attached_to in visited):
                    seen.update(features(history.process, node))
    assert {feature for feature, runs in FEATURES.items() if runs} - seen == set()


def test_every_type_of_event_has_its_history():
    seen = {
        event.type
        for file in HERE.glob(f"{ENGINE}/*.jsonl")
        for _, commits in read(file)
        for commit in commits
        for event in commit.events
    }
    ours = {type for type, (entity, *_) in EVENT_TYPES.items() if entity != "engine"}
    assert ours - seen - ELSEWHERE == set()


def test_commits_are_read_as_they_were_written(tmp_path):
    (thread, *_) = perform(CASES[0], tmp_path).threads.values()
    ((_, commits), *_) = read(HERE / ENGINE / "tasks.jsonl")
    assert all(isinstance(commit, Recorded) for commit in commits)
    assert [(commit.sequence, commit.events) for commit in commits] == [
        (commit.sequence, commit.events) for commit in thread.commits
    ]
