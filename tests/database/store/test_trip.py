"""What a step says to the server, and what becomes of it when the client hangs or the session forgets."""

from __future__ import annotations

import time

import psycopg
import pytest

from bpm.semantics import commands as c
from bpm.store import plain_channel
from bpm.store.errors import Unavailable
from bpm.store.loading import question
from bpm.store.trip import Said, exchange
from bpm.store.unit import Unit

STEPS = "start s > external A > end e"


@pytest.fixture
def raw(roles):
    with psycopg.connect(roles.application, autocommit=True) as connection:
        yield connection


def test_a_client_that_hangs_between_load_and_flush_is_cut_off(deploy, roles):
    run = deploy(STEPS)
    run.start()
    ask = question(run.thread, c.SetVariables(at=run.records[-1].at), alone=False, actor="ann", key=None, message=None)
    with (
        psycopg.connect(
            roles.application, autocommit=True, options="-c idle_in_transaction_session_timeout=200"
        ) as raw,
        Unit(plain_channel(raw)) as unit,
    ):
        unit.load(run.thread, ask)
        gone_by = time.monotonic() + 20
        there = "SELECT FROM pg_stat_activity WHERE pid = %s"
        while run.channel.raw.execute(there, [raw.info.backend_pid]).fetchone() is not None:
            assert time.monotonic() < gone_by, "the session holds the instance's lock for ever"
        with pytest.raises(Unavailable, match="said nothing for too long"):
            unit.flush({})
    run.do(c.SetVariables, variables={"x": 1})


def test_a_session_that_forgets_what_was_prepared(deploy):
    run = deploy(STEPS)
    run.start()
    for forget in ("DEALLOCATE ALL", "DISCARD ALL"):
        run.channel.raw.execute(forget)
        run.do(c.SetVariables, variables={"forgot": forget})
    run.agrees()


def test_the_first_fault_is_told_and_the_connection_goes_on(raw):
    with pytest.raises(psycopg.errors.DivisionByZero):
        exchange(raw, [Said("SELECT 1 / $1::integer", ("0",)), Said("SELECT $1::text", ("never",))])
    assert exchange(raw, [Said("SELECT $1::text, NULL", ("é",)), Said("VALUES (1), (2)")]) == [
        [("é", None)],
        [("1",), ("2",)],
    ]


def test_much_goes_out_and_comes_back(raw):
    text = "x" * 8_000_000
    assert exchange(raw, [Said("SELECT $1::text", (text,))]) == [[(text,)]]


def test_it_begins_the_transaction_of_a_connection_that_is_not_in_autocommit(raw):
    raw.autocommit = False
    exchange(raw, [Said("CREATE TEMPORARY TABLE t AS SELECT 1")])
    assert raw.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    raw.rollback()
    raw.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    assert exchange(raw, [Said("SHOW transaction_isolation")]) == [[("repeatable read",)]]
    raw.rollback()


def test_within_a_pipeline_of_the_callers_own(raw):
    with raw.pipeline():
        assert exchange(raw, [Said("SELECT $1::integer + 1", ("1",))]) == [[(2,)]]
