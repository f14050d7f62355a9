"""Whether a database is fit: the record is what migrations make, and whatever is changed in one shows."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command

from bpm.management.bpm.verify_schema import relations
from bpm.store import plain_channel, schema
from tests.database.store.conftest import DATABASE, Roles

MONTH = "to_char(bpm_now() AT TIME ZONE 'UTC', '_YYYY_MM')"
THIS_MONTH = "DO $$ BEGIN EXECUTE format('{}', (SELECT 'token_events' || " + MONTH + ")); END $$"

# (what is done to the schema, what the verdict says of it)
CHANGES = {
    "a trigger disabled": (
        "ALTER TABLE tokens DISABLE TRIGGER pgtrigger_tokentrail_explained_bb2b0",
        "trigger tokens.pgtrigger_tokentrail_explained_bb2b0 does not work: disabled",
    ),
    "a trigger for replicas": (
        "ALTER TABLE tokens ENABLE REPLICA TRIGGER pgtrigger_tokentrail_explained_bb2b0",
        "trigger tokens.pgtrigger_tokentrail_explained_bb2b0 does not work: for replicas only",
    ),
    "a trigger dropped": (
        "DROP TRIGGER pgtrigger_tokentrail_lifecycle_71da3 ON tokens",
        "trigger tokens.pgtrigger_tokentrail_lifecycle_71da3 is missing",
    ),
    "a trigger's function emptied": (
        "CREATE OR REPLACE FUNCTION pgtrigger_tokentrail_explained_bb2b0() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RETURN NULL; END'",
        "function pgtrigger_tokentrail_explained_bb2b0() is another: ",
    ),
    "a trigger that looks elsewhere": (
        "ALTER FUNCTION pgtrigger_tokentrail_explained_bb2b0() RESET search_path",
        "function pgtrigger_tokentrail_explained_bb2b0() is another: ",
    ),
    "a trigger too many": (
        "CREATE TRIGGER swallow BEFORE INSERT ON token_events FOR EACH ROW"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "trigger token_events.swallow should not be there",
    ),
    "a rule": (
        "CREATE RULE swallow AS ON INSERT TO timers DO INSTEAD NOTHING",
        "rule timers.swallow should not be there: rewrites what is asked",
    ),
    "row security": (
        "ALTER TABLE tokens ENABLE ROW LEVEL SECURITY",
        "table tokens is another: ordinary, row security, not ordinary",
    ),
    "a month's trigger disabled": (
        THIS_MONTH.format("ALTER TABLE %I DISABLE TRIGGER USER"),
        "does not have trigger pgtrigger_tokentrail_append_only",
    ),
    "a month that can be truncated": (
        THIS_MONTH.format("DROP TRIGGER pgtrigger_tokentrail_never_truncated_0a9bd ON %I"),
        "does not have trigger pgtrigger_tokentrail_never_truncated",
    ),
    "a month detached": (
        THIS_MONTH.format("ALTER TABLE token_events DETACH PARTITION %I"),
        "token_events has no partition for 2",
    ),
    "a default partition": (
        "CREATE TABLE token_events_rest PARTITION OF token_events DEFAULT",
        "token_events_rest is a default partition of token_events",
    ),
    "versions that may come twice": (
        THIS_MONTH.replace("token_events", "runtime_commit")
        .format("DROP INDEX %I")
        .replace(MONTH, f"{MONTH} || '_thread_version'"),
        "does not keep (thread_id, version) unique",
    ),
    "a constraint dropped": (
        "ALTER TABLE tokens DROP CONSTRAINT tokens_state",
        "constraint tokens.tokens_state is missing",
    ),
    "a constraint not validated": (
        "ALTER TABLE timers DROP CONSTRAINT timers_state;"
        " ALTER TABLE timers ADD CONSTRAINT timers_state CHECK (state <> 'x') NOT VALID",
        "constraint timers.timers_state does not work: not validated",
    ),
    "an index dropped": ("DROP INDEX tokens_active", "index tokens.tokens_active is missing"),
    "a column dropped": ("ALTER TABLE incidents DROP COLUMN message", "column incidents.message is missing"),
    "a column that may be empty": (
        "ALTER TABLE tokens ALTER COLUMN node_id DROP NOT NULL",
        "column tokens.node_id is another: character varying, not character varying not null",
    ),
    "a function dropped": (
        "DROP FUNCTION bpm_sees(uuid, uuid)",
        "function bpm_sees(p_instance uuid, p_token uuid) is missing",
    ),
    "a function that has its owner's rights": (
        "ALTER FUNCTION bpm_flush(jsonb) SECURITY DEFINER",
        "function bpm_flush(d jsonb) is another: ",
    ),
    "the view of all history": (
        "CREATE OR REPLACE VIEW runtime_event AS SELECT * FROM runtime_event WHERE entity <> 'x'",
        "view runtime_event is another",
    ),
    "numbers that come again": (
        "ALTER SEQUENCE runtime_commit_sequence CYCLE",
        "sequence runtime_commit_sequence is another: bigint by 1, cycles, not bigint by 1",
    ),
    "the off-switch put back": (
        "CREATE OR REPLACE FUNCTION _pgtrigger_should_ignore(trigger_name name) RETURNS boolean LANGUAGE sql STABLE AS"
        " $$ SELECT coalesce(current_setting('pgtrigger.ignore', true), '') <> '' $$",
        "pgtrigger's off-switch works: any role may set pgtrigger.ignore and pass every rule",
    ),
    "a migration not applied": (
        "DELETE FROM django_migrations WHERE app = 'bpm' AND name = '0002_functions'",
        "migration bpm.0002_functions is not applied",
    ),
    "a session without triggers": (
        "SET LOCAL session_replication_role = replica",
        "session_replication_role is replica: no trigger works in this session",
    ),
}


@pytest.fixture
def changing(roles: Roles) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's transaction that leaves nothing behind."""
    with psycopg.connect(roles.superuser) as connection:
        yield connection
        connection.rollback()


def test_the_record_is_what_the_migrations_make(roles):
    with psycopg.connect(roles.superuser, autocommit=True) as connection:
        text = schema.record_of(plain_channel(connection), relations())
    recorded = Path(schema.__file__).with_name("schema.json").read_text()
    assert text == recorded, "after a new migration: manage.py bpm verify-schema --record"


def test_a_fresh_database_is_fit_for_who_may_only_read(channel):
    assert schema.require(channel) == schema.Verdict(())


def test_who_could_switch_rules_off_is_told(roles):
    for address, who in ((roles.owner, "the owner of the tables"), (roles.superuser, "a superuser")):
        with psycopg.connect(address, autocommit=True) as connection:
            verdict = schema.require(plain_channel(connection))
        assert [note for note in verdict.notes if who in note]


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES.keys())
def test_whatever_is_changed_shows(changing, change, said):
    changing.execute(change)
    with pytest.raises(schema.SchemaDiffers) as caught:
        schema.require(plain_channel(changing))
    assert [one for one in caught.value.differences if said in one], caught.value


def test_everything_that_differs_is_listed_at_once(changing):
    names = ("a trigger disabled", "a constraint dropped", "a function dropped", "the off-switch put back")
    for name in names:
        changing.execute(CHANGES[name][0])
    with pytest.raises(schema.SchemaDiffers) as caught:
        schema.require(plain_channel(changing))
    assert sorted(caught.value.differences) == sorted(CHANGES[name][1] for name in names)
    assert str(caught.value).count("\n- ") == len(names)


def test_a_restored_database_is_fit(roles, postgres):
    """PostgreSQL writes some things in other words after a dump was restored."""
    tools, socket = postgres.binaries, ["-h", str(postgres.sockets), "-U", "postgres"]
    with psycopg.connect(postgres.url(), autocommit=True) as superuser:
        superuser.execute("CREATE DATABASE restored")
        dump = subprocess.run([tools / "pg_dump", *socket, DATABASE], capture_output=True, check=True).stdout
        restore = [tools / "psql", *socket, "-q", "-v", "ON_ERROR_STOP=1", "restored"]
        subprocess.run(restore, input=dump, capture_output=True, check=True)
        with psycopg.connect(postgres.url("restored"), autocommit=True) as connection:
            assert schema.verify(plain_channel(connection)).differences == ()
        superuser.execute("DROP DATABASE restored WITH (FORCE)")


def test_an_empty_database(postgres):
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        verdict = schema.verify(plain_channel(connection))
    assert verdict.differences == ("there are no tables of this program: run the migrations first",)


def test_a_newer_database(changing):
    """The migrations of a rolling upgrade come first: what they changed is told, what is missing is refused still."""
    changing.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('bpm', '9999_later', now())")
    changing.execute(CHANGES["a column that may be empty"][0])
    changing.execute("ALTER TABLE tokens ADD COLUMN colour text")
    verdict = schema.require(plain_channel(changing))
    assert [note for note in verdict.notes if "newer than this program: it has bpm.9999_later" in note]
    assert [note for note in verdict.notes if note.startswith("column tokens.node_id is another")]
    for essential in ("a constraint dropped", "a trigger disabled", "the off-switch put back", "a month detached"):
        with changing.transaction(force_rollback=True):
            changing.execute(CHANGES[essential][0])
            assert len(schema.verify(plain_channel(changing)).differences) == 1, essential


def test_what_comes_after_the_old_program_may_wait(changing, monkeypatch):
    known = schema.migrations()
    monkeypatch.setattr(schema, "migrations", lambda: (*known, "9998_after_colour_is_gone"))
    verdict = schema.require(plain_channel(changing))
    assert "migration bpm.9998_after_colour_is_gone waits until no older program runs" in verdict.notes


@pytest.mark.django_db
def test_the_command(capsys):
    call_command("bpm", "verify-schema")
    assert "the schema is as it should be" in capsys.readouterr().out


@pytest.mark.django_db
def test_the_command_lists_and_fails(capsys, monkeypatch):
    monkeypatch.setattr(schema, "verify", lambda: schema.Verdict(("one is missing", "two is another"), ("a note",)))
    with pytest.raises(SystemExit) as caught:
        call_command("bpm", "verify-schema")
    assert caught.value.code == 1
    assert capsys.readouterr().out == "note: a note\none is missing\ntwo is another\n"
