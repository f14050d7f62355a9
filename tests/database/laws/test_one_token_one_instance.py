"""One transaction advances one token, and never spans two instances: read off the transaction ids of what was written.

History carries the transaction that wrote each row (xid); a runtime row tells its last one itself (xmin).
"""

from __future__ import annotations

import pytest

EVENTS = (
    "token_events",
    "external_task_events",
    "timer_events",
    "work_events",
    "engine_events",
    "runtime_state_command",
)
ROWS = {
    "process_instances": "id",
    "tokens": "instance_id",
    "token_links": "instance_id",
    "external_tasks": "instance_id",
    "timers": "instance_id",
    "user_tasks": "instance_id",
    "variables": "instance_id",
    "incidents": "instance_id",
    "runtime_wait_ticket": "instance_id",
    "runtime_message": "instance_id",
    "runtime_thread_version": "thread_id",
    "runtime_run_record": "thread_id",
}
NOBODY = "00000000-0000-0000-0000-000000000000"
# What is no step of an instance: a lock, and what becomes of it, changes a task's row alone; a message that was
# received, or that nobody wanted, its own row at the sender.
NO_STEPS = {
    "TASK_LOCKED",
    "TASK_EXTENDED",
    "TASK_UNLOCKED",
    "TASK_TIMED_OUT",
    "MESSAGE_DELIVERED",
    "MESSAGE_EXPIRED",
}


def test_a_transaction_is_one_commit_of_the_log(town):
    assert town.ask("SELECT count(*) FROM runtime_commit")[0][0] > 50
    assert town.ask("SELECT xid::text FROM runtime_commit GROUP BY xid HAVING count(*) > 1") == []


@pytest.mark.parametrize("table", EVENTS)
def test_what_a_commit_writes_is_of_its_own_instance_and_transaction(town, table):
    strangers = town.ask(
        f"""SELECT {"e.event_type" if table != "runtime_state_command" else "e.op"} FROM {table} e
            JOIN runtime_commit c ON c.sequence = e.commit_sequence
            WHERE e.xid <> c.xid OR (c.thread_id <> e.instance_id AND c.thread_id <> %s)""",
        NOBODY,
    )
    assert strangers == []


def test_what_belongs_to_no_instance_moves_none(town):
    statement = """SELECT DISTINCT event_type FROM runtime_event e
                   JOIN runtime_commit c ON c.sequence = e.commit_sequence
                   WHERE c.thread_id = %s AND e.thread_id <> c.thread_id"""
    assert {type for (type,) in town.ask(statement, NOBODY)} <= NO_STEPS


def test_no_transaction_wrote_rows_of_two_instances(town):
    every = " UNION ALL ".join(
        f"SELECT xmin::text AS xid, {whose} AS instance FROM {table}" for table, whose in ROWS.items()
    )
    spans = (
        f"SELECT xid FROM ({every}) AS written WHERE instance <> %s GROUP BY xid HAVING count(DISTINCT instance) > 1"
    )
    assert town.ask(spans, NOBODY) == []


def test_a_transaction_advances_one_token(town):
    """A token is advanced where it moves on or forks. Others are born, woken, joined or cancelled by the same step."""
    walks = """SELECT xid::text, count(DISTINCT (instance_id, token_id)) FROM token_events
               WHERE event_type IN ('TOKEN_MOVED', 'TOKEN_FORKED') GROUP BY xid ORDER BY 2 DESC"""
    found = town.ask(walks)
    assert len(found) > 20
    assert found[0][1] == 1
    joins = "SELECT xid::text FROM token_events WHERE event_type = 'TOKEN_JOINED' GROUP BY xid HAVING count(*) > 1"
    assert town.ask(joins) == []
