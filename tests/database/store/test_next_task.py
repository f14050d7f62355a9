"""A task that the commit which made it has locked: in the memory of processes, and where base states are."""

from __future__ import annotations

from dataclasses import replace

import psycopg

from bpm.semantics import commands as c
from bpm.store import bases, claims, ids, plain_channel, reading
from bpm.store.hydrating import hydrate
from bpm.store.projection import Projection

ROWS = (
    "start s > parallel f",
    "f > external A > external B > parallel j",
    "f > external Y > j",
    "j > end e",
)


def test_a_fold_from_a_base_state_sees_it_though_a_later_lock_was_earlier(deploy, channel, roles):
    """Sequences are not the order of commits: the base state has seen a lock of a higher one, of another task."""
    run = deploy(*ROWS)
    run.start()
    run.advance()
    task = run.lock("A")
    with psycopg.connect(roles.hardened) as other:
        run.channel = plain_channel(other)
        done = run.do(
            c.CompleteExternalTask,
            task=ids.ordinal(task.id),
            worker=task.worker,
            next_topics={run.prefix + "B": 60, run.prefix + "Y": 60},
        )
        run.channel = channel
        later = run.lock("Y")
        assert later.sequence > done.sequence
        assert bases.take(channel=channel).taken >= 1
    projection = Projection()
    assert hydrate(projection, channel).unfolded == 0
    held, stored = projection.get(run.thread), reading.stored_state(run.thread, channel=channel)
    assert held is not None and stored is not None
    following = claims.locked_by(replace(done, repeated=True), channel=channel)
    assert following is not None and following == claims.locked_by(done, channel=channel)
    number = ids.ordinal(following.id)
    assert held.state.tasks[number] == stored.tasks[number]
    assert (stored.tasks[number].state, stored.tasks[number].version) == ("LOCKED", 1)
