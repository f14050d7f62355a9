"""Each verb's round trips, counted on the wire: two a commit, three where something more was asked; one where the step
was foreseen, as a start is. More fails here.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from bpm.engine.step import Refused
from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from bpm.store import claims, ids, outbox, plain_channel, schedule
from tests.database.store.conftest import APPLICATION, DATABASE
from tests.database.store.wire import Wire

ORDER = ("start s > external A > parallel f", "f > external B > parallel j", "f > user U > j", "j > end e")


@pytest.fixture
def wire(postgres):
    with tempfile.TemporaryDirectory(prefix="wire") as folder:
        wire = Wire(postgres.sockets, Path(folder))
        yield wire
        wire.close()


@pytest.fixture
def counted(roles, wire):
    """counted(2): the block takes that many round trips."""
    with psycopg.connect(wire.address(APPLICATION, DATABASE), autocommit=True) as connection:
        channel = plain_channel(connection)

        @contextmanager
        def count(expected):
            before = wire.turns
            yield channel
            assert wire.turns - before == expected

        yield count


def test_a_life_in_round_trips(deploy, counted):
    run = deploy(*ORDER)
    with counted(1) as run.channel:
        run.start(variables={"x": 1}, key="start")
    with counted(3) as run.channel:  # there is one; the key is found: nothing to do, and the transaction is given back
        pass_again(run)
    with counted(1) as channel:
        (task,) = claims.fetch_and_lock([run.prefix + "A"], "w", channel=channel)
    with counted(1) as channel:
        claims.extend(task.id, "w", 60, channel=channel)
    with counted(2) as run.channel:
        record = run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="w", variables={"x": 2}, key="done")
    for token in record.active:
        with counted(2) as run.channel:
            run.do(c.AdvanceToken, token=token)
    with counted(1) as channel:
        (task,) = claims.fetch_and_lock([run.prefix + "B"], "w", channel=channel)
    with counted(2) as run.channel:
        run.do(c.FailExternalTask, task=ids.ordinal(task.id), worker="w", message="no")
    with counted(1) as channel:
        (task,) = claims.fetch_and_lock([run.prefix + "B"], "w", channel=channel)
    with counted(2) as run.channel:
        run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="w")
    with counted(2) as run.channel:
        run.do(c.SetVariables, variables={"new": 1})
    user_task = next(id for record in run.records for id in record.state.user_tasks)
    with counted(2) as run.channel:
        run.do(c.ClaimUserTask, user_task=user_task, user="bea")
    with counted(2) as run.channel:
        record = run.do(c.CompleteUserTask, user_task=user_task, user="bea")
    with counted(2) as run.channel:
        run.do(c.AdvanceToken, token=record.active[0])
    run.agrees()


def test_a_worker_goes_on_without_a_fetch(deploy, counted):
    run = deploy("start s > external A > external B > external C > end e")
    with counted(1) as run.channel:
        run.start(variables={"x": 1})
    with counted(1) as channel:
        (task,) = claims.fetch_and_lock([run.prefix + "A"], "w", channel=channel)
    wanted = {run.prefix + "B": 60, run.prefix + "C": 60}
    # What the next task's worker sees is asked for once more, by a process that does not remember the instance.
    with counted(3) as run.channel:
        record = run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="w", next_topics=wanted)
        following = claims.locked_by(record, channel=run.channel)
    assert following is not None and following.variables == {"x": 1}
    with counted(2) as run.channel:
        record = run.do(
            c.CompleteExternalTask, task=ids.ordinal(following.id), worker="w", next_topics={"elsewhere": 1}
        )
        assert claims.locked_by(record, channel=run.channel) is None
    run.agrees()


def test_what_a_process_remembers_it_need_not_load(remembering, counted):
    """A life of one commit a round trip, from the start to the end."""
    run = remembering("start s > external A > external B > user U > end e")
    inside = run.do
    run.channel, before = None, run.channel

    def turns(expected, make, **arguments):
        with counted(expected) as run.channel:
            record = inside(make, looked_at=False, **arguments)
        run.channel = before
        return record

    wanted = {run.prefix + "A": 60, run.prefix + "B": 60}
    turns(1, c.StartInstance, definition=run.definition.id, variables={"x": 1})
    (task,) = claims.fetch_and_lock([run.prefix + "A"], "w", channel=before)
    record = turns(1, c.CompleteExternalTask, task=ids.ordinal(task.id), worker="w", next_topics=wanted, key="k")
    following = claims.locked_by(record, channel=before)
    record = turns(1, c.CompleteExternalTask, task=ids.ordinal(following.id), worker="w", variables={"x": 2})
    record = turns(1, c.AdvanceToken, token=record.active[0]) if record.active else record
    (user_task,) = record.state.user_tasks
    turns(1, c.ClaimUserTask, user_task=user_task, user="bea")
    record = turns(1, c.CompleteUserTask, user_task=user_task, user="bea")
    assert record.state.instances[0].state == "COMPLETED"
    run.agrees()


def pass_again(run):
    assert run.do(c.StartInstance, definition=run.definition.id, variables={"x": 1}, key="start").repeated


def test_events_in_round_trips(deploy, counted):
    timer = {"trigger": Trigger(kind="timer", timer_kind="date", timer=Formula(text="2020-01-01T00:00:00Z"))}
    message = {"trigger": Trigger(kind="message", name=Formula(text="paid"))}
    run = deploy("start s > catch t > catch m > end e", t=timer, m=message)
    with counted(2) as run.channel:  # a timer is set, for which the time must be known
        run.start()
    with counted(1) as channel:
        schedule.due_timers(channel=channel)
    with counted(2) as run.channel:
        record = run.do(c.FireTimer, timer=2)
    ticket = next(iter(record.state.tickets))
    with counted(1) as channel:
        outbox.publish("MESSAGE", run.prefix, {}, actor="ann", channel=channel)
    with counted(2) as run.channel:
        run.do(c.Correlate, ticket=ticket)
    run.agrees()


def test_an_interrupting_timer(deploy, counted):
    late = {
        "trigger": Trigger(kind="timer", timer_kind="date", timer=Formula(text="2020-01-01T00:00:00Z")),
        "attached_to": "A",
    }
    run = deploy("start s > external A > end e", "boundary late > external L > end e2", late=late)
    with counted(2) as run.channel:  # a timer is set, for which the time must be known
        run.start()
    timer = next(iter(run.records[-1].state.timers))
    with counted(2) as run.channel:
        run.do(c.FireTimer, timer=timer)
    with counted(2) as run.channel:
        run.do(c.CancelInstance)
    run.agrees()


def test_a_refusal_in_round_trips(deploy, counted):
    run = deploy(*ORDER)
    with counted(1) as run.channel:
        run.start()
    with counted(2) as run.channel, pytest.raises(Refused):  # the load, and ROLLBACK
        run.do(c.CompleteExternalTask, task=999, worker="w")
    with counted(2) as run.channel, pytest.raises(Refused):
        run.do(c.CompleteExternalTask, task=2, worker="w")


@pytest.mark.parametrize("width", [40, 200])
def test_a_large_instance(deploy, counted, width):
    run = deploy(
        "start s > parallel f",
        "f > external B0 > parallel j",
        *(f"f > external B{n} > j" for n in range(1, width)),
        "j > end e",
    )
    with counted(1) as run.channel:
        run.start()
    run.advance()
    for n in (0, 17, 39):
        task = run.lock(f"B{n}")
        with counted(2) as run.channel:
            run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="worker")
    with counted(3) as run.channel:
        run.do(c.CancelInstance, text="enough")
    run.agrees()
