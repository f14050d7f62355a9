"""What schedulers ask: due starts, sweeps, months ahead, tokens left behind; several at once do no harm."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from bpm.replay import ReplayEngine
from bpm.semantics import commands as c
from bpm.store import deployments, ids, plain_channel, reading, schedule
from bpm.store.definitions import NewDefinition, Subscription
from tests.pure.semantics.drawing import draw

MONTHS = "SELECT bpm_months_ahead()"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
ENDS = ("start s > external A > end e",)


def test_what_ended_is_swept_and_rebuilt_from_history(deploy):
    ended, open_one = deploy(*ENDS), deploy(*ENDS)
    for run in (ended, open_one):
        run.start(variables={"x": 1})
    ended.complete("A")
    before = reading.stored_state(ended.thread, channel=ended.channel)
    swept: list = []
    while found := schedule.sweep_ended(older_than=0, limit=500, channel=ended.channel):
        swept += found
    assert ended.thread in swept and open_one.thread not in swept
    assert reading.stored_state(ended.thread, channel=ended.channel) is None
    assert reading.stored_state(open_one.thread, channel=open_one.channel) is not None
    history = reading.history(ended.thread, channel=ended.channel)
    assert ReplayEngine(ended.graph).replay(history, thread=str(ended.thread)).state.tokens == before.tokens
    assert dict(reading.thread_versions(channel=ended.channel))[ended.thread] == before.version


def test_receipts_are_forgotten(deploy):
    run = deploy(*ENDS)
    run.start(key="once")
    assert schedule.sweep_receipts(older_than=3600, channel=run.channel) == 0
    assert schedule.sweep_receipts(older_than=0, channel=run.channel) >= 1


def test_tokens_left_behind(deploy):
    run = deploy("start s > parallel f", "f > external A > end e", "f > external B > end e2")
    active = run.start().active
    assert schedule.active_of_instance(run.thread, channel=run.channel) == list(active)
    found = [
        p.ordinal for p in schedule.active_tokens(limit=10_000, channel=run.channel) if p.instance_id == run.thread
    ]
    assert found == list(active)
    assert not list(schedule.active_tokens(older_than=3600, limit=10_000, channel=run.channel))
    run.do(c.SuspendInstance)
    assert not [p for p in schedule.active_tokens(limit=10_000, channel=run.channel) if p.instance_id == run.thread]


@pytest.fixture
def timed(channel):
    """A definition that a timer starts, and a message."""
    subscriptions = (
        Subscription(node="s", kind="TIMER", fire_at=LONG_AGO, schedule={"every": "P1D"}),
        Subscription(node="s", kind="MESSAGE", name=uuid4().hex),
    )
    new = NewDefinition(graph=draw(*ENDS), source="<drawn/>", source_hash="0", subscriptions=subscriptions)
    (stored,) = deployments.store([new], actor="ann", channel=channel).definitions
    return stored, subscriptions[1].name


def test_a_start_timer_fires_once_for_each_moment(channel, timed):
    definition, _ = timed
    (due,) = [one for one in schedule.due_starts(channel=channel) if one.definition_id == definition.id]
    assert (due.node, due.fire_at, due.schedule) == ("s", LONG_AGO, {"every": "P1D"})
    tomorrow = schedule.now(channel=channel) + timedelta(days=1)
    assert schedule.advance_start(due, tomorrow, due.schedule, actor="timers", channel=channel)
    assert not schedule.advance_start(due, tomorrow, due.schedule, actor="timers", channel=channel)
    assert not [one for one in schedule.due_starts(channel=channel) if one.definition_id == definition.id]


def test_a_new_version_takes_over_what_starts_it(channel, timed):
    definition, name = timed
    assert [one.definition_id for one in schedule.starts_named("MESSAGE", name, channel=channel)] == [definition.id]
    deployments.store([NewDefinition(graph=draw(*ENDS), source="", source_hash="1")], actor="ann", channel=channel)
    assert schedule.starts_named("MESSAGE", name, channel=channel) == []


def test_months_are_made_once(roles, channel):
    assert channel.send((MONTHS, None))[0] == [(4,)]

    def make(_):
        with psycopg.connect(roles.application, autocommit=True) as connection:
            return schedule.ensure_partitions(6, channel=plain_channel(connection))

    with ThreadPoolExecutor(4) as pool:
        made = [name for names in pool.map(make, range(4)) for name in names]
    assert len(made) == len(set(made)) == 2 * 7
    assert channel.send((MONTHS, None))[0] == [(6,)]


def test_nobody_makes_months_of_another_century(channel):
    with pytest.raises(psycopg.Error, match="two years"):
        schedule.ensure_partitions(400, channel=channel)


def test_two_deployments_at_once_give_two_versions(roles):
    key = uuid4().hex

    def deploy_one(_):
        graph = draw(*ENDS)
        scopes = {key: replace(graph.scopes["p"], id=key)}
        graph = replace(graph, id=key, scopes=scopes, nodes={i: replace(n, scope=key) for i, n in graph.nodes.items()})
        with psycopg.connect(roles.application, autocommit=True) as connection:
            new = NewDefinition(graph=graph, source="", source_hash="")
            return deployments.store([new], actor="ann", channel=plain_channel(connection)).definitions[0].version

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(deploy_one, range(4))) == [1, 2, 3, 4]


def test_ids_name_their_instance(deploy):
    run = deploy(*ENDS)
    record = run.start()
    task = run.lock("A")
    assert ids.instance_of(task.id) == run.thread == ids.instance_of(record.id_of(7))


def test_no_transaction_sweeps_two_instances(deploy, monkeypatch):
    ended = [deploy(*ENDS), deploy(*ENDS)]
    for run in ended:
        run.start()
        run.complete("A")
    query, answers = schedule.query, []

    def noted(*asked):
        answers.append(query(*asked))
        return answers[-1]

    monkeypatch.setattr(schedule, "query", noted)
    swept = schedule.sweep_ended(older_than=0, limit=500, channel=ended[0].channel)
    assert {run.thread for run in ended} <= set(swept)
    assert max(len(rows) for rows in answers) == 1
