"""The local projection: what is committed with it is what is committed without, it knows when it is stale, and it is
bounded."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import call_command

from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from bpm.store import (
    CommitCoordinator,
    ThreadCommit,
    bases,
    claims,
    commit,
    committing,
    hydrating,
    ids,
    plain_channel,
    reading,
)
from bpm.store.hydrating import TooMuchToHydrate, hydrate
from bpm.store.projection import MEGABYTE, Projected, Projection, _kept
from tests.database.store.conftest import Run, differences

BRANCHES = (
    "start s > external A > parallel f",
    "f > external B > parallel j",
    "f > user U > j",
    "j > external D > end e",
)
LATER = {"trigger": Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))}


def test_a_life_with_it(remembering, ways):
    run = remembering(*BRANCHES)
    run.start(variables={"x": 1, "big": {"list": list(range(50))}})
    run.complete("A", x=2, fresh="new")
    run.complete("B", y=[1, 2])
    (user_task,) = [task for task in run.records[-1].state.user_tasks.values() if task.state == "READY"]
    run.do(c.ClaimUserTask, user_task=user_task.id, user="bea")
    run.do(c.SetVariables, variables={"never": "seen before"}, unset=["x"])
    run.do(c.CompleteUserTask, user_task=user_task.id, variables={"ok": True})
    run.advance()
    run.complete("D")
    run.agrees()
    assert reading.stored_state(run.thread, channel=run.channel).instances[0].state == "COMPLETED"
    # All is known from the start on.
    assert set(ways) == {"foreseen"}


def test_what_has_ended_is_forgotten(remembering, projection):
    run = remembering(*BRANCHES)
    run.start()
    assert len(projection) == 1
    run.do(c.CancelInstance, text="enough")
    assert (len(projection), projection.size) == (0, 0)
    run.agrees()


def test_a_loop_and_a_boundary_event(remembering, ways):
    run = remembering(
        "start s > external A > exclusive g", "g > external B > A", "boundary late > external L > end e2",
        late=LATER | {"attached_to": "A"},
    )  # fmt: skip
    run.start(variables={"x": 1})
    for x in range(3):
        run.complete("A", x=x)
        run.complete("B")
    # A timer is set for the time of the step, so that it is decided under the lock.
    assert ways == ["loaded", *("foreseen", "resumed") * 3]
    run.do(c.CancelInstance, text="enough")
    run.agrees()


def test_a_lock_in_between_is_seen(remembering, ways):
    run = remembering("start s > external A > end e")
    run.start()
    claims.fetch_and_lock([run.prefix + "A"], "w", channel=run.channel)
    run.do(c.SetVariables, variables={"x": 1})
    run.do(c.CancelInstance, text="enough")
    assert ways == ["foreseen", "foreseen", "resumed"]
    run.agrees()


def test_somebody_else_commits(remembering, projection, ways):
    """It is no subscription: what others do is found out under the lock."""
    run = remembering(*BRANCHES)
    run.start(variables={"x": 1})
    held = projection.get(run.thread)
    elsewhere = ThreadCommit(
        thread_id=run.thread, command=lambda at: c.SetVariables(at=at, variables={"x": 5}), actor="bea"
    )
    commit(run.channel, elsewhere)
    assert projection.get(run.thread) is held
    assert reading.standing(run.thread, channel=run.channel) != (held.version, held.last_at)
    run.do(c.SetVariables, variables={"y": 1})
    assert ways == ["foreseen", "loaded", "missed", "loaded"]
    run.do(c.SetVariables, variables={"z": 1})
    run.do(c.SetVariables, variables={"z": 2})
    assert ways[4:] == ["resumed", "foreseen"]
    run.agrees()


def test_a_commit_that_fails_teaches_nothing(remembering, projection):
    run = remembering(*BRANCHES)
    run.start(variables={"x": 1})
    held = projection.get(run.thread)
    with pytest.raises(committing.Refused):
        run.do(c.CompleteExternalTask, task=2, worker="nobody")
    assert projection.get(run.thread) is held


def test_a_joined_transaction_teaches_nothing_before_its_commit(roles, remembering, projection):
    run = remembering(*BRANCHES)
    run.start(variables={"x": 1})
    held = projection.get(run.thread)
    with psycopg.connect(roles.hardened) as connection:
        change = ThreadCommit(
            thread_id=run.thread, command=lambda at: c.SetVariables(at=at, variables={"x": 5}), actor="bea"
        )
        commit(plain_channel(connection), change, projection)
        assert projection.get(run.thread) is held
        connection.rollback()
    run.do(c.SetVariables, variables={"y": 1})
    run.agrees()


def test_keys_are_kept(remembering, ways):
    run = remembering(*BRANCHES)
    run.start(key="start")
    first = run.do(c.SetVariables, variables={"x": 1}, key="k")
    again = run.do(c.SetVariables, variables={"x": 1}, key="k")
    assert again.repeated and again.sequence == first.sequence
    assert ways == ["foreseen", "foreseen", "missed", "loaded"]
    with pytest.raises(committing.KeyConflict):
        run.do(c.SetVariables, variables={"x": 2}, key="k")


def test_a_wide_instance_is_read_by_parts(remembering, projection, ways):
    run = remembering(
        "start s > parallel f", "f > external B0 > parallel j", *(f"f > external B{n} > j" for n in range(1, 40)),
        "j > end e",
    )  # fmt: skip
    run.start()
    run.advance()
    run.complete("B0")
    assert set(ways[3:]) == {"loaded"}
    run.agrees()


def test_it_is_bounded_in_bytes(deploy):
    """What it says it takes is about what it takes, and no more than it was given."""
    projection = Projection(4 * MEGABYTE)
    run = deploy(*BRANCHES)
    big = {"text": "x" * 20_000, "list": list(range(1_000)), "table": {f"key{n}": n * 1.5 for n in range(200)}}
    tracemalloc.start()
    try:
        begun = tracemalloc.get_traced_memory()[0]
        for _ in range(120):
            run.thread = ids.new_instance()
            wanted = ThreadCommit(
                thread_id=run.thread,
                command=lambda at: c.StartInstance(at=at, variables=json.loads(json.dumps(big))),
                actor="ann",
                definition=run.definition.id,
            )
            commit(run.channel, wanted, projection)
        taken = tracemalloc.get_traced_memory()[0] - begun
    finally:
        tracemalloc.stop()
    assert 30 < len(projection) < 120
    assert 3.5 * MEGABYTE < projection.size <= 4 * MEGABYTE
    assert taken < 1.5 * projection.most
    assert projection.get(run.thread) is not None, "the newest stays"


def test_what_is_too_large_for_it_is_not_remembered(deploy):
    projection = Projection(10_000)
    run = deploy(*BRANCHES)
    wanted = ThreadCommit(
        thread_id=run.thread,
        command=lambda at: c.StartInstance(at=at, variables={"text": "x" * 20_000}),
        actor="ann",
        definition=run.definition.id,
    )
    commit(run.channel, wanted, projection)
    assert (len(projection), projection.size) == (0, 0)


# --- hydrating


@pytest.fixture
def several(deploy: Callable[..., Run]) -> list[Run]:
    """Open threads at different places, one with a task locked, and one that has ended."""
    runs = []
    for place in range(4):
        run = deploy(*BRANCHES)
        run.start(variables={"place": place, "x": {"deep": [1.5, None]}})
        if place:
            run.complete("A", x=place)
        if place > 1:
            run.lock("B")
        if place > 2:
            run.do(c.CancelInstance, text="enough")
        runs.append(run)
    return runs


def compare(projection: Projection, runs: list[Run]) -> None:
    for run in runs:
        stored = reading.stored_state(run.thread, channel=run.channel)
        held = projection.get(run.thread)
        if stored.instances[0].state != "RUNNING":
            assert held is None
            continue
        assert isinstance(held, Projected)
        assert (held.version, held.last_at) == reading.standing(run.thread, channel=run.channel)
        assert differences(held.state, _kept(stored)) == []
        assert held.state.variables == _kept(stored).variables
        assert held.state.tasks == _kept(stored).tasks
        assert held.state.counter == stored.counter
        assert held.state.index == _kept(stored).index


def test_hydrated_from_history_alone(several, channel):
    projection = Projection()
    done = hydrate(projection, channel)
    assert done.unfolded == 0 and done.left == 0 and done.threads >= 3 and done.rows > 0
    compare(projection, several)


def test_hydrated_from_base_states_and_what_came_after(several, channel):
    taken = bases.take(channel=channel)
    assert 3 <= taken.taken <= taken.open  # others may have been taken before
    assert bases.take(channel=channel) == bases.Taken(open=taken.open, taken=0, dropped=0)
    assert hydrate(Projection(), channel).rows == 0
    several[0].complete("A", x=9)
    several[2].do(c.SetVariables, variables={"late": True})
    claims.fetch_and_lock([several[0].prefix + "B"], "w", channel=channel)
    projection = Projection()
    done = hydrate(projection, channel)
    assert (done.threads, done.unfolded) == (taken.open, 0) and 0 < done.rows < 100
    compare(projection, several)
    several[1].do(c.CancelInstance, text="enough")
    again = bases.take(channel=channel)
    assert (again.taken, again.dropped) == (2, 1)


def test_what_cannot_be_folded_is_read_from_its_rows(several, roles, channel, monkeypatch):
    def broken(*_: Any) -> None:
        raise KeyError("archived")

    monkeypatch.setattr(hydrating, "_folded", broken)
    projection = Projection()
    done = hydrate(projection, channel)
    assert done.unfolded == done.threads
    compare(projection, several)


def test_it_is_of_one_moment(several, roles, channel, monkeypatch):
    """What is committed while it is read is not in it: neither the thread's version nor its state."""
    before = {run.thread: reading.standing(run.thread, channel=channel) for run in several}
    fold = hydrating._fold

    def meanwhile(page: Any, frozen: Any) -> Iterator[Any]:
        with psycopg.connect(roles.hardened, autocommit=True) as other:
            several[0].channel = plain_channel(other)
            several[0].do(c.SetVariables, variables={"late": True})
        yield from fold(page, frozen)

    monkeypatch.setattr(hydrating, "_fold", meanwhile)
    projection = Projection()
    hydrate(projection, channel)
    held = projection.get(several[0].thread)
    assert (held.version, held.last_at) == before[several[0].thread]
    assert (0, "late") not in held.state.variables


def test_too_much_is_refused_with_what_to_do(several, channel):
    with pytest.raises(TooMuchToHydrate) as caught:
        hydrate(Projection(), channel, limit=20)
    assert caught.value.threads >= 3
    assert set(caught.value.counts) == {"commits", "messages", "state commands", "events", "waits"}
    assert all(number <= 21 for kind, number in caught.value.counts.items() if kind != "commits")
    said = str(caught.value)
    assert "more than 20 rows since their base states" in said and "20+ events" in said
    assert "bpm snapshot" in said and 'hydrate="lazy"' in said
    bases.take(channel=channel)
    assert hydrate(Projection(), channel, limit=20).rows == 0


def test_the_limit_is_a_million_rows():
    assert hydrating.hydrate.__kwdefaults__ == {"limit": hydrating.LIMIT} == {"limit": 1_000_000}


def test_what_does_not_fit_is_left_for_later(several, channel):
    projection = Projection(20_000)
    done = hydrate(projection, channel)
    assert done.left > 0 and projection.size <= 20_000
    assert done.threads == len(projection) + done.left


def test_the_coordinator_hydrates_at_its_start(several, roles, monkeypatch):
    with CommitCoordinator.connect_existing(roles.hardened, 2) as eager:
        assert eager.hydrated.threads >= 3
        held = eager.projected(several[0].thread)
        assert held.state.variables[0, "place"].value == 0
        assert eager.is_current(held)
        several[0].do(c.SetVariables, variables={"x": 1})
        assert not eager.is_current(held)
        assert held.last_at < reading.standing(several[0].thread, channel=several[0].channel)[1]
    with CommitCoordinator.connect_existing(roles.hardened, 2, hydrate="lazy") as lazy:
        assert lazy.hydrated is None and lazy.projected(several[0].thread) is None
        change = ThreadCommit(
            thread_id=several[0].thread, command=lambda at: c.SetVariables(at=at, variables={"x": 2}), actor="ann"
        )
        lazy.commit(change)
        assert lazy.is_current(lazy.projected(several[0].thread))
    monkeypatch.setattr(hydrating.hydrate, "__kwdefaults__", {"limit": 10})
    with pytest.raises(TooMuchToHydrate):
        CommitCoordinator.connect_existing(roles.hardened, 2)


@pytest.mark.django_db
def test_the_command(capsys, tmp_path):
    call_command("bpm", "snapshot", "--output", str(tmp_path / "bases.jsonl"))
    said = capsys.readouterr()
    assert said.out == "0 of 0 open instances, 0 of ended ones dropped\n"
    assert (tmp_path / "bases.jsonl").read_text() == ""
