"""What the database refuses, tried with raw SQL as the application's role, as the owner and as a superuser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from tests.database.store.conftest import Roles, Run

HISTORY = (
    "runtime_commit",
    "token_events",
    "external_task_events",
    "timer_events",
    "work_events",
    "engine_events",
    "runtime_state_command",
)
RUNTIME = (
    "process_instances",
    "tokens",
    "token_links",
    "external_tasks",
    "timers",
    "user_tasks",
    "variables",
    "runtime_wait_ticket",
    "runtime_run_record",
)
SWITCH_OFF = "SELECT set_config('pgtrigger.ignore', (SELECT array_agg(DISTINCT tgname)::text FROM pg_trigger), false)"


@pytest.fixture(params=["application", "owner", "superuser"])
def attacker(request: pytest.FixtureRequest, roles: Roles) -> Iterator[psycopg.Connection[Any]]:
    """Somebody with raw SQL who has switched off every pgtrigger that can be switched off."""
    with psycopg.connect(getattr(roles, request.param), autocommit=True) as connection:
        connection.execute(SWITCH_OFF)
        yield connection


@pytest.fixture
def run(deploy: Callable[..., Run]) -> Run:
    """An open instance that has rows in every table of history."""
    run = deploy(
        "start s > external A > parallel f", "f > user U > parallel j", "f > catch t > j", "j > end e", t=timer()
    )
    run.start(variables={"x": 1})
    run.complete("A")
    return run


def timer() -> dict[str, Any]:
    return {"trigger": Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))}


def refused(connection: psycopg.Connection[Any], statement: str, *values: Any, state: str) -> None:
    with pytest.raises(psycopg.Error) as caught, connection.transaction():
        connection.execute(statement, values)
    assert caught.value.sqlstate == state, caught.value


def month_of(connection: psycopg.Connection[Any], table: str) -> str:
    (name,) = connection.execute("SELECT %s || to_char(bpm_now() AT TIME ZONE 'UTC', '_YYYY_MM')", [table]).fetchone()  # type: ignore[misc]
    return str(name)


@pytest.mark.parametrize("table", HISTORY)
def test_history_only_grows(attacker, run, table):
    for name in (table, month_of(attacker, table)):
        (rows,) = attacker.execute(f"SELECT count(*) FROM {name}").fetchone()
        assert rows
        refused(attacker, f"UPDATE {name} SET engine_version = 'forged'", state="TT100")
        refused(attacker, f"DELETE FROM {name}", state="TT100")
        refused(attacker, f"TRUNCATE {name}", state="TT100")


def test_months_that_come_are_guarded_too(attacker, roles):
    for table in HISTORY:
        (name,) = attacker.execute(
            "SELECT %s || to_char((bpm_now() + interval '2 months') AT TIME ZONE 'UTC', '_YYYY_MM')", [table]
        ).fetchone()
        refused(attacker, f"TRUNCATE {name}", state="TT100")
        (triggers,) = attacker.execute(
            "SELECT count(*) FROM pg_trigger WHERE tgrelid = %s::regclass AND tgtype & 24 <> 0", [name]
        ).fetchone()
        assert triggers == 1, f"{name} has no row trigger against UPDATE and DELETE"


NEW_TOKEN = """
INSERT INTO tokens (id, ordinal, version, commit_version, commit_at, created_at, instance_id, node_id, state, scope_id,
                    step, local_scope)
VALUES (gen_random_uuid(), 99, %s, %s, bpm_now(), bpm_now(), %s, 'A', 'ACTIVE', %s, 'enter', 0)
"""


def test_no_row_without_its_event(attacker, run):
    refused(attacker, NEW_TOKEN, 1, 3, run.thread, run.thread, state="TT103")


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("tokens", "step = 'enter'"),
        ("external_tasks", "priority = 7"),
        ("timers", "fire_at = now()"),
        ("user_tasks", "assignee = 'eve'"),
        ("variables", "value = '2'"),
        ("process_instances", "business_key = 'forged'"),
        ("runtime_thread_version", "counters = '{}'"),
    ],
)
def test_no_change_without_its_event(attacker, run, table, change):
    whose = {"process_instances": "id", "runtime_thread_version": "thread_id"}.get(table, "instance_id")
    commit = ", commit_at = bpm_now()" if table != "runtime_thread_version" else ", last_at = bpm_now()"
    refused(
        attacker,
        f"UPDATE {table} SET {change}, version = version + 1{commit} WHERE {whose} = %s",
        run.thread,
        state="TT103",
    )
    # Also with the time and version of the last commit left as they are: the row's new version has no event.
    if table != "runtime_thread_version":
        refused(
            attacker,
            f"UPDATE {table} SET {change}, version = version + 1 WHERE {whose} = %s",
            run.thread,
            state="TT103",
        )


def test_a_link_needs_its_commit(attacker, run):
    refused(
        attacker,
        """INSERT INTO token_links (id, ordinal, version, commit_version, commit_at, created_at, instance_id,
               parent_token_id, child_token_id, link_type)
           SELECT gen_random_uuid(), 1, 1, 1, bpm_now(), bpm_now(), instance_id, id, id, 'JOIN' FROM tokens
           WHERE instance_id = %s LIMIT 1""",
        run.thread,
        state="TT103",
    )


@pytest.mark.parametrize("table", [*RUNTIME, "runtime_thread_version"])
def test_versions_rise_by_one(attacker, run, table):
    whose = {"process_instances": "id", "runtime_run_record": "thread_id", "runtime_thread_version": "thread_id"}
    column = whose.get(table, "instance_id")
    (rows,) = attacker.execute(f"SELECT count(*) FROM {table} WHERE {column} = %s", [run.thread]).fetchone()
    assert rows or table == "runtime_wait_ticket"
    if not rows:
        return
    for wrong in ("version", "version + 2", "version - 1"):
        refused(attacker, f"UPDATE {table} SET version = {wrong} WHERE {column} = %s", run.thread, state="TT101")


def test_rows_are_born_with_version_one(attacker, run):
    refused(attacker, NEW_TOKEN, 2, 3, run.thread, run.thread, state="TT101")


def test_identity_stays(attacker, run):
    refused(
        attacker,
        "UPDATE tokens SET version = version + 1, instance_id = gen_random_uuid() WHERE instance_id = %s",
        run.thread,
        state="TT101",
    )


def test_final_states_are_absorbing(attacker, run):
    run.do(c.CancelInstance, text="enough")
    for table, final, after in (
        ("tokens", "CANCELLED", "ACTIVE"),
        ("external_tasks", "DONE", "READY"),
        ("timers", "CANCELLED", "SCHEDULED"),
        ("user_tasks", "CANCELLED", "CLAIMED"),
    ):
        (rows,) = attacker.execute(
            f"SELECT count(*) FROM {table} WHERE instance_id = %s AND state = %s", [run.thread, final]
        ).fetchone()
        assert rows, table
        change = (
            f"UPDATE {table} SET state = '{after}', version = version + 1 WHERE instance_id = %s AND state = '{final}'"
        )
        refused(attacker, change, run.thread, state="P0001")


def test_states_are_legal(attacker, run):
    refused(
        attacker,
        "UPDATE timers SET state = 'SLEEPING', version = version + 1 WHERE instance_id = %s",
        run.thread,
        state="P0001",
    )
    refused(attacker, NEW_TOKEN.replace("'ACTIVE'", "'DREAMING'"), 1, 3, run.thread, run.thread, state="23514")


@pytest.mark.parametrize("table", RUNTIME)
def test_rows_of_an_open_instance_stay(attacker, run, table):
    whose = {"process_instances": "id", "runtime_run_record": "thread_id"}.get(table, "instance_id")
    (rows,) = attacker.execute(f"SELECT count(*) FROM {table} WHERE {whose} = %s", [run.thread]).fetchone()
    if rows:
        refused(attacker, f"DELETE FROM {table} WHERE {whose} = %s", run.thread, state="TT102")
    if table != "process_instances":  # others refer to it: TRUNCATE alone is refused for that already
        refused(attacker, f"TRUNCATE {table}", state="TT100")


def test_threads_are_never_deleted(attacker, run):
    refused(attacker, "DELETE FROM runtime_thread_version WHERE thread_id = %s", run.thread, state="TT102")


def test_definitions_are_immutable(attacker, run):
    refused(attacker, "UPDATE process_definitions SET name = 'forged' WHERE id = %s", run.definition.id, state="TT104")
    refused(attacker, "DELETE FROM process_definitions WHERE id = %s", run.definition.id, state="TT104")


def test_an_ended_instance_may_be_swept(attacker, run):
    run.do(c.CancelInstance, text="enough")
    for table in ("tokens", "variables", "timers"):
        attacker.execute(f"DELETE FROM {table} WHERE instance_id = %s", [run.thread])


def test_other_apps_keep_their_switch(roles):
    """Only our triggers ignore pgtrigger.ignore: a project that uses it for triggers of its own is not disturbed."""
    with psycopg.connect(roles.superuser) as connection:
        connection.execute("SET pgtrigger.ignore = '{pgtrigger_theirs_12345,pgtrigger_tokentrail_append_only_2bc7b}'")
        asked = "SELECT _pgtrigger_should_ignore(%s)"
        assert connection.execute(asked, ["pgtrigger_theirs_12345"]).fetchone() == (True,)
        assert connection.execute(asked, ["pgtrigger_tokentrail_append_only_2bc7b"]).fetchone() == (False,)


def test_a_temporary_table_hides_nothing(attacker, run):
    """A rule that looks rows up finds the real ones, whatever a session puts before them."""
    for table in ("token_events", "process_instances", "pg_class"):
        attacker.execute(f"CREATE TEMPORARY TABLE {table} AS SELECT * FROM {table} LIMIT 0")
    attacker.execute("SET search_path = pg_temp, public, pg_catalog")
    attacker.execute(
        """INSERT INTO pg_temp.token_events (at, instance_id, token_id, row_version, thread_version)
           SELECT commit_at, instance_id, id, version + 1, commit_version FROM public.tokens WHERE instance_id = %s""",
        [run.thread],
    )
    change = "UPDATE public.tokens SET version = version + 1, step = 'enter' WHERE instance_id = %s"
    refused(attacker, change, run.thread, state="TT103")
    refused(attacker, "DELETE FROM public.tokens WHERE instance_id = %s", run.thread, state="TT102")


NEW_RUN = "UPDATE process_instances SET run_id = gen_random_uuid(), version = version + 1{} WHERE id = %s"
BEGUN = ", state = 'RUNNING', ended_at = NULL"


def test_a_new_run_begins_after_an_end_and_with_its_event(attacker, run):
    refused(attacker, NEW_RUN.format(""), run.thread, state="TT108")
    run.do(c.CancelInstance, text="enough")
    change = BEGUN.removeprefix(", ")
    refused(attacker, f"UPDATE process_instances SET {change}, version = version + 1 WHERE id = %s", run.thread,
            state="P0001")  # fmt: skip
    refused(attacker, NEW_RUN.format(""), run.thread, state="TT108")
    refused(attacker, NEW_RUN.format(BEGUN), run.thread, state="TT103")
