"""Exported histories are read as they were written, and what is none is refused by its line."""

from __future__ import annotations

import json

import pytest

from bpm.graph import to_json
from bpm.replay import ReplayEngine, UnreadableHistory, exported, read_histories
from bpm.semantics.events import FORMAT
from tests.pure.replay.recording import two_branches


def lines(*, format: int = FORMAT) -> list[str]:
    run = two_branches()
    found = [exported.head(), exported.definition("d", "p", 1, to_json(run.process))]
    found += [exported.commit(id, "d", one, format=format) for id in ("i", "k") for one in run.commits]
    return [json.dumps(line) + "\n" for line in found]


def test_what_was_written_is_read():
    run = two_branches()
    found = [(one.instance, one.key, one.version, list(one.commits)) for one in read_histories(lines())]
    assert [one[:3] for one in found] == [("i", "p", 1), ("k", "p", 1)]
    assert all(list(commits) == run.commits for *_, commits in found)
    for history in read_histories(lines()):
        result = ReplayEngine(history.process).replay(history.commits, thread=history.instance)
        assert result.violations == () and result.commits == len(run.commits)


def test_an_instance_that_was_not_iterated_is_passed_over():
    assert [one.instance for one in read_histories(lines())] == ["i", "k"]


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ("{", "line 3"),
        ('{"what": 1}', "line 3: neither"),
        ('{"instance": "i", "definition": "e", "events": []}', "line 3: there is no definition e"),
        ('{"instance": "i", "definition": "d", "events": []}', "line 3: no commit"),
        ('{"history": 99}', "form 99"),
        ('{"definition": "d", "key": "p", "graph": {"id": 1, "nodes": 5}}', "line 3: no graph"),
    ],
)
def test_lines_that_are_none_are_refused(spoiled, said):
    with pytest.raises(UnreadableHistory, match=said):
        for history in read_histories([*lines()[:2], spoiled]):
            list(history.commits)


def test_events_from_the_future_are_refused():
    with pytest.raises(UnreadableHistory, match="format"):
        for history in read_histories(lines(format=FORMAT + 1)):
            list(history.commits)
