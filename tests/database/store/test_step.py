"""One step: what it writes, what it refuses, what it does twice, and whose transaction it is."""

from __future__ import annotations

import psycopg
import pytest

from bpm.engine.step import Refused, step
from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from bpm.store import LostRace, NoPartition, claims, definitions, ids, plain_channel, reading, schedule
from bpm.store import committing as module

BRANCHES = ("start s > external A > parallel f", "f > external B > parallel j", "f > external C > j", "j > end e")


def test_live_replayed_and_stored_are_one(deploy):
    run = deploy(*BRANCHES)
    run.start(variables={"price": 12.5, "who": {"b": 1, "a": [True, None]}}, business_key="A-17", reason="a trial")
    run.complete("A", paid=True)
    run.agrees()
    run.complete("C", price=13)
    run.agrees()
    run.complete("B")
    run.agrees()
    state = reading.stored_state(run.thread, channel=run.channel)
    assert state.instances[0].state == "COMPLETED"
    assert state.instances[0].business_key == "A-17"
    log = reading.history(run.thread, channel=run.channel)
    assert [entry.version for entry in log if entry.version] == list(range(1, len(run.records) + 1))
    assert [entry.command for entry in log if entry.version is None] == ["FetchAndLock"] * 3
    assert log[0].reason == "a trial" and log[0].actor == "ann"


def test_a_record_says_what_is_left_to_do(deploy):
    run = deploy(*BRANCHES)
    started = run.start()
    assert (started.version, started.command, started.active) == (1, "StartInstance", ())
    assert started.topics == (run.prefix + "A",)
    forked = run.complete("A")
    assert len(forked.active) == 2 and forked.topics == ()
    assert [run.graph.node(forked.state.tokens[id].node).id for id in forked.active] == ["B", "C"]


def test_events_carry_who_and_why(deploy, connection):
    run = deploy("start s > external A > end e")
    first = run.start(reason="asked for")
    run.do(c.SetVariables, variables={"x": 1}, cause=first.sequence, actor="bea", reason="wrong amount")
    rows = connection.execute(
        "SELECT DISTINCT actor, stated_reason, caused_by, engine_version, format FROM runtime_event"
        " WHERE thread_id = %s ORDER BY 1",
        [run.thread],
    ).fetchall()
    assert rows == [("ann", "asked for", None, "0.1.0", 1), ("bea", "wrong amount", first.sequence, "0.1.0", 1)]
    (missing,) = connection.execute(
        "SELECT count(*) FROM runtime_event WHERE thread_id = %s AND (xid IS NULL OR commit_sequence IS NULL"
        " OR ordinal IS NULL OR thread_version IS NULL OR row_version IS NULL)",
        [run.thread],
    ).fetchone()
    assert missing == 0


def test_a_refusal_changes_nothing(deploy):
    run = deploy(*BRANCHES)
    run.start()
    before = reading.stored_state(run.thread, channel=run.channel)
    with pytest.raises(Refused, match="READY") as caught:
        run.do(c.CompleteExternalTask, task=2, worker="w")
    assert caught.value.code == "not_locked"
    with pytest.raises(Refused) as caught:
        run.do(c.CompleteExternalTask, task=4_000, worker="w")
    assert caught.value.code == "not_found"
    assert reading.stored_state(run.thread, channel=run.channel) == before
    assert run.channel.raw.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_an_unknown_instance_is_refused(deploy):
    run = deploy(*BRANCHES)
    with pytest.raises(Refused) as caught:
        run.do(c.CancelInstance)
    assert caught.value.code == "not_found"


@pytest.mark.parametrize("value", [float("nan"), "\x00", {1: 2}])
def test_values_that_are_no_json_are_refused(deploy, value):
    run = deploy(*BRANCHES)
    with pytest.raises(Refused) as caught:
        run.start(variables={"x": value})
    assert caught.value.code == "invalid"
    assert reading.stored_state(run.thread, channel=run.channel) is None


def test_the_same_key_is_done_once(deploy):
    run = deploy(*BRANCHES)
    first = run.start(variables={"x": 1}, key="one")
    again = run.start(variables={"x": 1}, key="one")
    assert again.repeated and not first.repeated
    assert (again.sequence, again.version, again.at, again.run_id) == (first.sequence, 1, first.at, first.run_id)
    with pytest.raises(Refused) as caught:
        run.start(variables={"x": 2}, key="one")
    assert caught.value.code == "key_conflict"
    # A key is its actor's.
    run.do(c.SetVariables, variables={"y": 1}, key="one", actor="bea")
    run.agrees()


def test_what_was_refused_may_be_asked_again_with_its_key(deploy):
    run = deploy("start s > external A > end e")
    run.start()
    with pytest.raises(Refused):
        run.do(c.CompleteExternalTask, task=2, worker="worker", key="k", actor="worker")
    task = run.lock("A")
    record = run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="worker", key="k", actor="worker")
    assert not record.repeated


def test_a_transaction_may_change_one_instance(deploy, roles):
    one, other = deploy(*BRANCHES), deploy(*BRANCHES)
    with psycopg.connect(roles.application) as connection:
        one.channel = other.channel = plain_channel(connection)
        one.start()
        one.do(c.SetVariables, variables={"x": 1})
        with pytest.raises(Refused) as caught:
            other.start()
        assert caught.value.code == "second_instance"
        # The refusal has not broken the transaction, and what it did before stays.
        one.do(c.SetVariables, variables={"x": 2})
        connection.commit()
        other.start()
        connection.rollback()
    with psycopg.connect(roles.application, autocommit=True) as connection:
        channel = plain_channel(connection)
        assert reading.stored_state(one.thread, channel=channel).variables[(0, "x")].value == 2
        assert reading.stored_state(other.thread, channel=channel) is None
        one.channel = channel
        one.agrees()


def test_a_rolled_back_transaction_leaves_nothing(deploy, roles):
    run = deploy(*BRANCHES)
    with psycopg.connect(roles.application) as connection:
        run.channel = plain_channel(connection)
        run.start()
        connection.rollback()
        assert reading.stored_state(run.thread, channel=run.channel) is None


def test_no_month_is_a_clear_error(deploy, roles):
    run = deploy(*BRANCHES)
    with psycopg.connect(roles.superuser) as superuser:
        superuser.execute("ALTER TABLE runtime_commit DETACH PARTITION " + month(superuser))
        run.channel = plain_channel(superuser)
        with pytest.raises(NoPartition, match="bpm_ensure_partitions"):
            run.start()
        superuser.rollback()


def month(connection):
    return connection.execute(
        "SELECT 'runtime_commit' || to_char(bpm_now() AT TIME ZONE 'UTC', '_YYYY_MM')"
    ).fetchone()[0]


def test_time_goes_on_within_an_instance(deploy):
    run = deploy("start s > user U > end e")
    run.start()
    for x in range(20):
        run.do(c.SetVariables, variables={"x": x})
    times = [record.at for record in run.records]
    assert times == sorted(set(times))


def test_a_step_that_always_fails_gives_up(deploy, monkeypatch):
    run = deploy(*BRANCHES)
    run.start()
    monkeypatch.setattr(module, "PAUSE", 0)
    monkeypatch.setattr(module.Unit, "flush", lash_out)
    with pytest.raises(Refused) as caught:
        run.do(c.SetVariables, variables={"x": 1})
    assert caught.value.code == "busy"


def lash_out(self, document):
    raise LostRace("somebody else was faster")


def test_a_stale_row_is_a_lost_race(deploy, monkeypatch):
    """Between load and flush a fetch locks the task that the step cancels: the step begins anew and sees the lock."""
    run = deploy("start s > external A > end e")
    run.start()
    decide, fetched = module.decide, []

    def decide_slowly(*arguments):
        if not fetched:
            with psycopg.connect(run.channel.raw.info.dsn, autocommit=True) as other:
                fetched.extend(claims.fetch_and_lock([run.prefix + "A"], "w", channel=plain_channel(other)))
        return decide(*arguments)

    monkeypatch.setattr(module, "decide", decide_slowly)
    run.do(c.CancelInstance, text="enough")
    assert len(fetched) == 1
    events = [e for entry in reading.history(run.thread, channel=run.channel) for e in entry.events]
    assert [e.type for e in events if e.type.startswith("TASK")] == ["TASK_CREATED", "TASK_LOCKED", "TASK_CANCELLED"]
    run.agrees()


def test_timers_fire_by_the_clock_of_the_database(deploy, roles):
    run = deploy(
        "start s > catch t > end e",
        t={"trigger": Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))},
    )
    run.start()
    with pytest.raises(Refused, match="due at"):
        run.do(c.FireTimer, timer=2)
    assert not [place for place in schedule.due_timers(1_000, channel=run.channel) if place.instance_id == run.thread]


def test_two_definitions_of_a_key(deploy, channel):
    first, second = deploy(*BRANCHES).definition, deploy(*BRANCHES).definition
    assert second.version == first.version + 1
    assert definitions.find("p", channel=channel) == second.id
    assert definitions.find("p", version=first.version, channel=channel) == first.id
    definitions.forget()
    assert definitions.load(first.id, channel=channel) == first
    with pytest.raises(KeyError):
        definitions.load(ids.NIL, channel=channel)


def test_step_needs_no_settings_of_django_on_a_plain_connection(deploy):
    run = deploy(*BRANCHES)
    record = step(
        run.thread, lambda at: c.StartInstance(at=at), actor="ann", definition=run.definition.id, channel=run.channel
    )
    assert record.version == 1
