"""The line is lost while a step of one trip is committed: the caller hears of it, the step was done once or not at all,
and what the process remembers is of no harm, be it what is stored or what was stored before.
"""

from __future__ import annotations

import psycopg
import pytest

from bpm.semantics import commands as c
from bpm.store import ThreadCommit, commit, committing, ids, plain_channel, reading
from tests.chaos.cutting import BETWEEN, CUT, MODES, Cutter
from tests.database.store.conftest import DATABASE, HARDENED

STEPS = "start s > external A > end e"
DONE = {"before": False, BETWEEN: False, "after": True}


@pytest.fixture(scope="module")
def cutter(postgres):
    cutter = Cutter(postgres.sockets)
    yield cutter
    cutter.close()


@pytest.fixture
def lost(cutter):
    """lost(mode, wanted, projection): the commit, whose line is cut so."""

    def cut(mode, wanted, projection):
        with psycopg.connect(cutter.url(DATABASE).replace("postgres@", f"{HARDENED}@"), autocommit=True) as raw:
            raw.execute(CUT.format(mode))
            cuts = cutter.cuts
            with pytest.raises(psycopg.OperationalError):
                commit(plain_channel(raw), wanted, projection)
            assert (raw.closed, cutter.cuts) == (True, cuts + 1)

    return cut


def setting(run, x, key=None):
    return ThreadCommit(
        thread_id=run.thread, command=lambda at: c.SetVariables(at=at, variables={"x": x}), actor="ann", key=key
    )


def value(run):
    return reading.stored_state(run.thread, channel=run.channel).variables[0, "x"].value


def is_remembered(run, projection):
    held = projection.get(run.thread)
    return (held.version, held.last_at) == reading.standing(run.thread, channel=run.channel)


@pytest.mark.parametrize("key", ["k", None], ids=["with a key", "without"])
@pytest.mark.parametrize("mode", DONE)
def test_a_step_of_one_trip(remembering, lost, projection, ways, mode, key):
    run = remembering(STEPS)
    run.start(variables={"x": 0})
    lost(mode, setting(run, 1, key), projection)
    assert (value(run), projection.get(run.thread).version) == (int(DONE[mode]), 1)
    ways.clear()
    again = commit(run.channel, setting(run, 1, key), projection)
    # Asked again without a key it is done again: it had none to be known by.
    assert (again.repeated, again.version) == (DONE[mode] and key is not None, 3 if DONE[mode] and key is None else 2)
    assert ways == (["missed", "loaded"] if DONE[mode] else ["foreseen"])
    commit(run.channel, setting(run, 2), projection)
    assert value(run) == 2
    assert is_remembered(run, projection)
    run.agrees()


@pytest.mark.parametrize("mode", DONE)
def test_a_start(remembering, lost, projection, mode):
    """By its id and without a key, too, nothing starts twice."""
    run = remembering(STEPS)
    wanted = {
        "thread_id": run.thread, "command": lambda at: c.StartInstance(at=at, variables={"x": 1}), "actor": "ann",
        "definition": run.definition.id,
    }  # fmt: skip
    lost(mode, ThreadCommit(**wanted, key="k"), projection)
    assert projection.get(run.thread) is None
    again = commit(run.channel, ThreadCommit(**wanted, key="k"), projection)
    assert (again.repeated, again.version) == (DONE[mode], 1)
    with pytest.raises(committing.Refused) as refused:
        commit(run.channel, ThreadCommit(**wanted), projection)
    assert refused.value.code == "duplicate"
    run.agrees()


@pytest.mark.parametrize("mode", DONE)
def test_a_workers_answer(remembering, lost, projection, mode):
    """Its task is done once, and asked again with the key the worker hears that."""
    run = remembering(STEPS)
    run.start()
    task = ids.ordinal(run.lock("A").id)
    done = ThreadCommit(
        thread_id=run.thread,
        command=lambda at: c.CompleteExternalTask(at=at, task=task, worker="worker"),
        actor="worker",
        key="k",
    )
    lost(mode, done, projection)
    assert commit(run.channel, done, projection).repeated == DONE[mode]
    told = [event.type for one in reading.history(run.thread, channel=run.channel) for event in one.events]
    assert told.count("TASK_COMPLETED") == 1
    run.advance()
    assert reading.stored_state(run.thread, channel=run.channel).instances[0].state == "COMPLETED"
    run.agrees()


@pytest.mark.parametrize("mode", MODES)
def test_two_trips(remembering, lost, projection, mode):
    """The same where the step was not remembered, and COMMIT is a statement of its own."""
    run = remembering(STEPS)
    run.start(variables={"x": 0})
    projection.forget(run.thread)
    lost(mode, setting(run, 1, "k"), projection)
    assert projection.get(run.thread) is None
    assert commit(run.channel, setting(run, 1, "k"), projection).version == 2
    assert value(run) == 1
    run.agrees()
