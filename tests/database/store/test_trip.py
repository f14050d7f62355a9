"""What a step says to the server, and what becomes of it when the client hangs or the session forgets."""

from __future__ import annotations

import signal
import time

import psycopg
import pytest

from bpm.semantics import commands as c
from bpm.store import ThreadCommit, commit, plain_channel
from bpm.store.errors import Unavailable
from bpm.store.loading import question
from bpm.store.projection import Projection
from bpm.store.trip import Said, exchange
from bpm.store.unit import Unit


class Interrupted(Exception):
    """What the handler of a signal raises."""


def interrupt(*_: object) -> None:
    raise Interrupted


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


@pytest.mark.parametrize("forgets", [False, True], ids=["settle", "load"])
def test_what_interrupts_the_waiting_leaves_no_connection_in_the_middle_of_it(deploy, roles, forgets):
    """A handler of a signal raises (a time limit, a worker that is told to stop). The answer is nobody's then: the
    connection ends, and with it what it was told, which must not end up in the next one's answer.
    """
    run = deploy(STEPS)
    run.start()
    remembered = Projection()

    def write(channel, x):
        wanted = ThreadCommit(
            thread_id=run.thread, command=lambda at: c.SetVariables(at=at, variables={"x": x}), actor="ann"
        )
        return commit(channel, wanted, remembered)

    write(run.channel, 1)
    if forgets:
        remembered.forget(run.thread)
    with (
        psycopg.connect(roles.hardened, autocommit=True) as raw,
        psycopg.connect(roles.application) as other,
    ):
        other.execute("SELECT FROM runtime_thread_version WHERE thread_id = %s FOR UPDATE", [run.thread])
        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Interrupted):
            write(plain_channel(raw), 2)
        signal.signal(signal.SIGALRM, before)
        assert raw.closed
    assert write(run.channel, 3).version >= 3
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
