"""Where a fetch looks for tasks: nothing that is READY is missed, however little of the queue is walked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bpm.store import claims, heads, ids
from bpm.store.heads import HIGHEST, LOWEST, Heads


@pytest.fixture
def queue(deploy):
    """A run with six READY tasks of one topic, and a function that fetches."""
    run = deploy("start s > external A > end e")
    for _ in range(6):
        run.thread = ids.new_instance()
        run.start()
    return run, lambda limit=1: claims.fetch_and_lock([run.prefix + "A"], "w", limit, channel=run.channel)


def claimed(run):
    """What this process knows of the topic."""
    return heads.HEADS.of(run.channel.raw)._heads[run.prefix + "A"].claimed


def test_the_first_look_is_at_everything():
    assert Heads().places(["a"]) is None


def test_other_priorities_are_looked_at_whole(queue, monkeypatch):
    _, fetch = queue
    (task,) = fetch()
    known = Heads()
    known.looked_at([task.topic])
    known.claimed([task])
    assert known.places([task.topic]) == [
        {"topic": task.topic, "lowest": 1, "highest": HIGHEST},
        {"topic": task.topic, "priority": 0, "since": task.created_at - heads.MARGIN},
        {"topic": task.topic, "lowest": LOWEST, "highest": -1},
    ]
    monkeypatch.setattr(heads, "TRUST", 0.0)
    assert known.places([task.topic]) is None


def test_nothing_further_back_is_walked_over_while_there_is_something_else(queue):
    run, fetch = queue
    (first,) = fetch()
    rest = run.channel.raw.execute(
        "SELECT created_at FROM external_tasks WHERE topic = %s AND state = 'READY' ORDER BY created_at", [first.topic]
    ).fetchall()
    claimed(run)[0] = rest[2][0] + heads.MARGIN
    assert [task.created_at for task in fetch(6)] == [at for (at,) in rest[2:]]
    # The two that were left are found as soon as there is nothing else.
    assert [task.created_at for task in fetch(6)] == [at for (at,) in rest[:2]]


def test_a_task_given_back_is_found_when_there_is_no_other(queue):
    run, fetch = queue
    tasks = fetch(6)
    claimed(run)[0] += timedelta(days=1)
    claims.unlock(tasks[3].id, worker="w", actor="w", channel=run.channel)
    assert [task.id for task in fetch()] == [tasks[3].id]
