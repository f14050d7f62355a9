"""Steps that are decided before the lock: one round trip where all is as it was foreseen, and the same commit as ever
where it is not.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from bpm.store import Incoming, RuleBroken, ThreadCommit, claims, commit, committing, ids, plain_channel, reading
from bpm.store.projection import Projection
from bpm.store.unit import Unit

THREE = ("start s > external A > external B > external C > end e",)


def elsewhere(run, make, **arguments):
    """Another process commits to the thread."""
    wanted = ThreadCommit(thread_id=run.thread, command=lambda at: make(at=at, **arguments), actor="bea")
    return commit(run.channel, wanted)


def locked_again(run, task, worker):
    claims.unlock(task.id, worker=None, actor="ann", channel=run.channel)
    claims.fetch_and_lock([run.prefix + "A"], worker, channel=run.channel)


# What happens between the fetch and the answer; how the answer is committed then, or refused.
BETWEEN = {
    "nothing": (lambda run, task: None, ["foreseen"], None),
    "the lock is extended": (
        lambda run, task: claims.extend(task.id, "w", 60, channel=run.channel), ["missed", "resumed"], None,
    ),
    "the same worker has it anew": (lambda run, task: locked_again(run, task, "w"), ["missed", "resumed"], None),
    "another worker has it": (
        lambda run, task: locked_again(run, task, "v"), ["missed", "resumed"], "wrong_worker",
    ),
    "it was given back": (
        lambda run, task: claims.unlock(task.id, worker="w", actor="w", channel=run.channel),
        ["missed", "resumed"], "not_locked",
    ),
    "the lock ran out": (
        lambda run, task: claims.extend(task.id, "w", 1e-6, channel=run.channel), ["missed", "resumed"], "lock_expired",
    ),
    "somebody wrote a variable": (
        lambda run, task: elsewhere(run, c.SetVariables, variables={"x": 7}), ["missed", "loaded"], None,
    ),
    "somebody cancelled it": (
        lambda run, task: elsewhere(run, c.CancelInstance), ["missed", "loaded"], "not_running",
    ),
    "somebody suspended it": (
        lambda run, task: elsewhere(run, c.SuspendInstance), ["missed", "loaded"], "not_running",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BETWEEN)
def test_what_happened_meanwhile_is_seen_under_the_lock(remembering, ways, name):
    happen, expected, code = BETWEEN[name]
    run = remembering(*THREE)
    run.start(variables={"x": 1})
    (task,) = claims.fetch_and_lock([run.prefix + "A"], "w", channel=run.channel)
    happen(run, task)
    ways.clear()
    done = {"task": ids.ordinal(task.id), "worker": "w", "variables": {"x": 2}}
    if code is None:
        record = run.do(c.CompleteExternalTask, **done)
        assert record.events[0].type == "TASK_COMPLETED"
    else:
        before = reading.standing(run.thread, channel=run.channel)
        with pytest.raises(committing.Refused) as refused:
            run.do(c.CompleteExternalTask, **done)
        assert refused.value.code == code
        assert reading.standing(run.thread, channel=run.channel) == before
    assert ways == expected
    run.agrees()


def test_whoever_found_somebody_else_there_foresees_nothing_next_time(remembering, ways):
    """Two processes that take turns at an instance do not pay for each other's guesses."""
    run = remembering(*THREE)
    run.start(variables={"x": 1})
    for x in range(3):
        elsewhere(run, c.SetVariables, variables={"x": x})
        run.do(c.SetVariables, variables={"y": x})
    assert [way for way in ways if way != "loaded"] == ["foreseen", "missed"]
    ways.clear()
    for x in range(2):
        run.do(c.SetVariables, variables={"y": x})
    assert ways == ["resumed", "foreseen"]
    run.agrees()


@pytest.mark.parametrize("seconds", [60, 0.5, 0.1, 0.123457, 31_536_000.000001])
def test_a_lock_that_the_step_gives_begins_with_the_commit(remembering, ways, seconds):
    """To the microsecond, in what the step tells, what is stored, and what history says."""
    run = remembering(*THREE)
    run.start(variables={"x": 1})
    (task,) = claims.fetch_and_lock([run.prefix + "A"], "w", channel=run.channel)
    wanted = {run.prefix + "B": seconds, run.prefix + "C": seconds}
    record = run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="w", next_topics=wanted)
    following = claims.locked_by(record, channel=run.channel)
    until = record.at + timedelta(seconds=float(seconds))
    (told,) = [event for event in record.events if event.type == "TASK_LOCKED"]
    stored = reading.stored_state(run.thread, channel=run.channel).tasks[told.id]
    assert following is not None
    assert (following.lock_expire_at, told.payload["until"]) == (until, until.isoformat())
    assert (stored.lock_expire_at, stored.state, stored.version) == (until, "LOCKED", 1)
    logged = reading.history(run.thread, channel=run.channel)[-1]
    assert told in logged.events
    assert set(ways) == {"foreseen"}
    run.agrees()
    run.do(c.FailExternalTask, task=told.id, worker="w", message="no")
    assert ways[-1] == "foreseen"
    run.agrees()


def test_a_lock_that_is_known_to_have_run_out_is_no_guess(remembering, ways):
    run = remembering(*THREE)
    run.start()
    (task,) = claims.fetch_and_lock([run.prefix + "A"], "w", channel=run.channel)
    wanted = {run.prefix + "B": 1e-6}
    record = run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="w", next_topics=wanted)
    (told,) = [event for event in record.events if event.type == "TASK_LOCKED"]
    ways.clear()
    with pytest.raises(committing.Refused) as refused:
        run.do(c.CompleteExternalTask, task=told.id, worker="w")
    assert refused.value.code == "lock_expired"
    assert ways == ["missed", "resumed"]
    run.agrees()


def test_what_names_the_time_is_decided_under_the_lock(remembering, ways):
    late = {"trigger": Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))}
    run = remembering("start s > external A > catch t > end e", t=late)
    run.start()
    record = run.complete("A")
    assert ways == ["foreseen", "resumed"]
    (timer,) = record.state.timers.values()
    assert timer.fire_at == record.at + timedelta(hours=1)
    with pytest.raises(committing.Refused):
        run.do(c.FireTimer, timer=timer.id)
    assert ways[2:] == ["resumed"]
    run.agrees()


def test_the_time_of_an_expression_is_that_of_the_lock(remembering, ways):
    run = remembering(
        "start s > external A > exclusive g > external B [dateTime().isAfter(due)] > end e", "g > external C [*] > e"
    )
    run.start()
    run.complete("A")
    assert ways[:2] == ["foreseen", "resumed"]
    run.agrees()


def test_a_branch_that_takes_others_with_it_is_decided_under_the_lock(remembering, ways):
    """Workers lock those meanwhile, which is no commit of the instance."""
    stop = {"trigger": Trigger(kind="terminate")}
    run = remembering("start s > parallel f", "f > external A > end stop", "f > external B > end e", stop=stop)
    run.start()
    run.advance()
    (task,) = claims.fetch_and_lock([run.prefix + "B"], "w", channel=run.channel)
    ways.clear()
    run.complete("A")
    assert ways == ["resumed"]
    assert reading.stored_state(run.thread, channel=run.channel).tasks[ids.ordinal(task.id)].state == "CANCELLED"
    run.agrees()


def test_a_start_finds_that_it_was_made_already(remembering, ways):
    run = remembering(*THREE)
    first = run.start(key="k", variables={"x": 1})
    run.records.clear()
    again = run.start(key="k", variables={"x": 1})
    assert (again.repeated, again.sequence) == (True, first.sequence)
    with pytest.raises(committing.Refused) as refused:
        run.start(variables={"x": 1})
    assert refused.value.code == "duplicate"
    assert ways == ["foreseen", "loaded", "resumed"]
    run.agrees()


def test_a_message_that_another_has_received_starts_nothing(remembering, ways):
    """What the first try did not foresee the second one finds under the lock."""
    run = remembering(*THREE)
    sent = Incoming(sender=ids.new_instance(), version=1, ordinal=1, kind="MESSAGE", name="m")
    wanted = {"command": lambda at: c.StartInstance(at=at), "actor": "ann", "definition": run.definition.id}
    first = commit(run.channel, ThreadCommit(thread_id=run.thread, message=sent, **wanted))
    again = commit(run.channel, ThreadCommit(thread_id=ids.new_instance(), message=sent, **wanted))
    assert (again.repeated, again.thread_id) == (True, first.thread_id)
    assert ways == ["foreseen", "loaded"]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_the_zone_of_the_session_changes_nothing(remembering, ways, zone):
    run = remembering(*THREE)
    run.channel.raw.execute(f"SET timezone = '{zone}'")
    run.start(variables={"x": 1})
    (task,) = claims.fetch_and_lock([run.prefix + "A"], "w", channel=run.channel)
    wanted = {run.prefix + "B": 60, run.prefix + "C": 60}
    record = run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="w", next_topics=wanted)
    elsewhere(run, c.SetVariables, variables={"x": 3})
    following = claims.locked_by(record, channel=run.channel)
    other = run.do(c.CompleteExternalTask, task=ids.ordinal(following.id), worker="w", next_topics=wanted)
    assert ways[-2:] == ["missed", "loaded"]
    for one in (record, other):
        (told,) = [event for event in one.events if event.type == "TASK_LOCKED"]
        assert told.payload["until"] == (one.at.astimezone(UTC) + timedelta(seconds=60)).isoformat()
        assert told in [event for commit in reading.history(run.thread, channel=run.channel) for event in commit.events]
    run.agrees()
    run.channel.raw.execute("RESET timezone")
    run.agrees()


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_two_processes_at_one_instance_whatever_isolation_their_sessions_ask_for(remembering, roles, isolation):
    run = remembering(*THREE)
    run.start(variables={"x": 0})
    sessions = [psycopg.connect(roles.application, autocommit=True) for _ in range(2)]

    def write(raw, times):
        raw.execute(f"SET default_transaction_isolation = '{isolation}'")
        remembered = Projection()
        for x in range(times):
            wanted = ThreadCommit(
                thread_id=run.thread, command=lambda at, x=x: c.SetVariables(at=at, variables={"x": x}), actor="ann"
            )
            commit(plain_channel(raw), wanted, remembered)

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(write, raw, 20) for raw in sessions]
    for raw, one in zip(sessions, done, strict=True):
        one.result()
        raw.close()
    assert reading.version(run.thread, channel=run.channel) == 41
    run.agrees()


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_workers_at_one_queue_whatever_isolation_their_sessions_ask_for(deploy, roles, isolation):
    """What is no step of an instance (a fetch, a lock given back) is a statement by itself."""
    run = deploy(*THREE)
    for _ in range(12):
        run.thread = ids.new_instance()
        run.start()
        run.advance()
    sessions = [psycopg.connect(roles.application, autocommit=True) for _ in range(4)]

    def take(raw):
        raw.execute(f"SET default_transaction_isolation = '{isolation}'")
        taken = []
        for _ in range(8):
            for task in claims.fetch_and_lock([run.prefix + "A"], "w", 2, channel=plain_channel(raw)):
                claims.extend(task.id, "w", 60, channel=plain_channel(raw))
                taken.append(task.id)
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [id for one in pool.map(take, sessions) for id in one]
    for raw in sessions:
        raw.close()
    assert len(taken) == len(set(taken)) == 12


@pytest.mark.parametrize("microsecond", [0, 1, 100_000, 123_456, 999_999])
def test_times_are_written_as_the_core_writes_them(connection, microsecond):
    at = datetime(2031, 12, 31, 23, 59, 59, microsecond, tzinfo=UTC)
    connection.execute("SET timezone = 'America/New_York'")
    assert connection.execute("SELECT bpm_moment(%s)", [at]).fetchone() == (at.isoformat(),)


def test_what_the_rules_refuse_at_the_end_is_no_commit(remembering, ways, monkeypatch):
    """The rules that look for events are asked when the statement is done, as the last thing before the commit."""
    run = remembering(*THREE)
    run.start(variables={"x": 1})
    standing = reading.standing(run.thread, channel=run.channel)
    settle = Unit.settle

    def without_its_event(unit, thread, seen, until, document):
        assert document.pop("runtime_state_command")
        return settle(unit, thread, seen, until, document)

    monkeypatch.setattr(Unit, "settle", without_its_event)
    with pytest.raises(RuleBroken, match="has no event"):
        run.do(c.SetVariables, variables={"x": 2})
    monkeypatch.setattr(Unit, "settle", settle)
    assert reading.standing(run.thread, channel=run.channel) == standing
    run.agrees()
    run.do(c.SetVariables, variables={"x": 2})
    assert ways[-1] == "foreseen"
    run.agrees()
