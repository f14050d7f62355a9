"""Fetch and lock, extend, unlock, locks that run out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest

from bpm.graph import Formula, WorkSpec
from bpm.semantics import commands as c
from bpm.store import claims, ids, plain_channel, reading, schedule

ONE = ("start s > external A > end e",)


def by_priority(run):
    """The same process whose task takes its priority from a variable."""
    return WorkSpec(topic=Formula(text=run.prefix + "A"), priority=Formula(text="${p}"))


def test_by_priority_then_age(deploy):
    first = deploy(*ONE, A={"work": WorkSpec(topic=Formula(text="A"), priority=Formula(text="${p}"))})
    for priority, name in ((1, "a"), (5, "b"), (5, "c"), (1, "d")):
        first.thread = ids.new_instance()
        first.start(variables={"p": priority}, business_key=name)
    fetch = claims.fetch_and_lock
    taken = [fetch([first.prefix + "A"], "w", 1, channel=first.channel)[0].business_key for _ in range(2)]
    taken += [task.business_key for task in fetch([first.prefix + "A"], "w", 5, channel=first.channel)]
    assert taken == ["b", "c", "a", "d"]


def test_a_lock_shows_what_the_token_sees(deploy):
    run = deploy(*ONE)
    run.start(variables={"x": {"y": 1.5}}, business_key="A-17")
    task = run.lock("A")
    assert (task.business_key, task.node_id, task.worker, task.retries) == ("A-17", "A", "worker", 3)
    assert str(task.variables) == "{'x': {'y': Decimal('1.5')}}"
    assert (task.version, task.definition_id) == (2, run.definition.id)
    assert claims.fetch_and_lock([run.prefix + "A"], "other", channel=run.channel) == []


def test_a_lock_is_no_step(deploy):
    run = deploy(*ONE)
    run.start()
    task = run.lock("A")
    assert claims.extend(task.id, "worker", 600, channel=run.channel).version == 3
    versions = dict(reading.thread_versions(channel=run.channel))
    assert versions[run.thread] == 1
    log = reading.history(run.thread, channel=run.channel)
    assert [(entry.version, entry.command, [e.type for e in entry.events]) for entry in log[1:]] == [
        (None, "FetchAndLock", ["TASK_LOCKED"]),
        (None, "ExtendLock", ["TASK_EXTENDED"]),
    ]
    run.agrees()


def test_extend_and_unlock_ask_who_holds_it(deploy):
    run = deploy(*ONE)
    run.start()
    task = run.lock("A")
    assert claims.extend(task.id, "other", 600, channel=run.channel) is None
    assert claims.unlock(task.id, worker="other", actor="other", channel=run.channel) is None
    assert claims.unlock(task.id, worker="worker", actor="worker", channel=run.channel).topic == run.prefix + "A"
    assert claims.unlock(task.id, worker="worker", actor="worker", channel=run.channel) is None
    run.lock("A")
    freed = claims.unlock(task.id, worker=None, actor="ann", reason="it hangs", channel=run.channel)
    assert freed.worker == "worker"
    assert reading.history(run.thread, channel=run.channel)[-1].reason == "it hangs"
    run.agrees()


def test_locks_run_out(deploy):
    run = deploy(*ONE)
    run.start()
    (task,) = claims.fetch_and_lock({run.prefix + "A": 0}, "w", channel=run.channel)
    assert claims.extend(task.id, "w", 60, channel=run.channel) is None
    released = [
        one for one in claims.release_expired(actor="sweeper", limit=1000, channel=run.channel) if one.id == task.id
    ]
    assert [(one.topic, one.worker) for one in released] == [(run.prefix + "A", "w")]
    assert reading.history(run.thread, channel=run.channel)[-1].events[0].payload == {"worker": "w"}
    run.agrees()
    run.complete("A")
    run.agrees()


def test_a_pause_is_respected(deploy):
    run = deploy(*ONE)
    run.start()
    task = run.lock("A")
    run.do(c.FailExternalTask, task=ids.ordinal(task.id), worker="worker", message="no", retry_after=3600.0)
    assert claims.fetch_and_lock([run.prefix + "A"], "w", channel=run.channel) == []
    run.agrees()


def test_tasks_of_a_suspended_instance_stay(deploy):
    run = deploy(*ONE)
    run.start()
    run.do(c.SuspendInstance, text="wait")
    assert claims.fetch_and_lock([run.prefix + "A"], "w", channel=run.channel) == []
    run.do(c.ResumeInstance)
    run.complete("A")
    run.agrees()


def test_many_workers_take_each_task_once(deploy, roles):
    run = deploy(*ONE)
    for _ in range(120):
        run.thread = ids.new_instance()
        run.start()

    def work(name):
        taken = []
        with psycopg.connect(roles.application, autocommit=True) as connection:
            while found := claims.fetch_and_lock([run.prefix + "A"], name, 7, channel=plain_channel(connection)):
                taken += [task.id for task in found]
        return taken

    with ThreadPoolExecutor(6) as pool:
        taken = [id for found in pool.map(work, "abcdef") for id in found]
    assert len(taken) == len(set(taken)) == 120


def test_the_clock_moves_only_where_a_superuser_allows_it(channel, roles):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        schedule.move_clock(timedelta(hours=1), channel=channel)
    with (
        psycopg.connect(roles.application, autocommit=True) as application,
        pytest.raises(Exception, match="not marked as one for tests"),
    ):
        schedule.move_clock(timedelta(hours=1), channel=plain_channel(application))
    with psycopg.connect(roles.owner, autocommit=True) as owner:
        owner.execute("CREATE TABLE tokentrail_test_database ()")
        with pytest.raises(Exception, match="not marked as one for tests"):
            schedule.move_clock(timedelta(hours=1), channel=plain_channel(owner))
        owner.execute("DROP TABLE tokentrail_test_database")


def test_the_clock_of_a_test_database_moves(deploy, roles):
    run = deploy(*ONE)
    with psycopg.connect(roles.superuser) as superuser:
        superuser.execute("CREATE TABLE tokentrail_test_database ()")
        run.channel = plain_channel(superuser)
        before = schedule.now(channel=run.channel)
        assert schedule.move_clock(timedelta(days=400), channel=run.channel) - before > timedelta(days=399)
        assert run.start().at - before > timedelta(days=399)
        run.agrees()
        superuser.rollback()
