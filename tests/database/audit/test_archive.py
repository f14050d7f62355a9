"""Archiving a month: what moves, what stays, that nothing is lost wherever it is interrupted, and that what is archived
is still believed, found, replayed and exported."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import warnings
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import connection

from bpm import engine
from bpm.audit import sealing, trace
from bpm.audit.archive import blocks, catalog, months
from bpm.audit.archive.index import Indexing
from bpm.audit.canonical import FORM, FORMS
from bpm.audit.histories import find_history
from bpm.audit.statements import sql as archive_sql
from bpm.jobs.schedule import run_job
from tests.database.audit.conftest import ORDER

TABLES = [table.name for table in FORMS[FORM]]


def this_month() -> str:
    return f"{datetime.now(UTC):%Y-%m}"


@pytest.fixture
def past(world, observer):
    """Two instances that are done and one that waits, in a month that is over by now; the partitions as they were."""
    world.deploy(ORDER)
    done = [
        world.start("order", business_key=f"B-{n}", variables={"t": "a\tb\\c\n\u00e9", "n": 1.50}) for n in range(2)
    ]
    world.work("A", worker="ada")
    world.work("B", "C")
    open_ = world.start("order")
    world.work("A", worker="ada")
    engine.tick("timers", {"fired": 1})
    world.move_clock(40 * 86400)
    return done, open_


def counted(world) -> dict[str, int]:
    return {table: world.ask(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


def recorded(instance):
    history = find_history(instance)
    return history.definition.key, list(history.commits)


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_a_month_moves_and_is_still_there(world, bpm, past, tmp_path, format):
    (first, second), waiting = past
    before, histories = counted(world), {id: recorded(id) for id in (first, second, waiting)}
    status, said = bpm(
        "archive", this_month(), "--to", tmp_path, "--format", format, "--actor", "dora", "--reason", "old"
    )
    assert status == 0, said
    after = counted(world)
    (part,) = catalog.parts()
    assert {name: table["rows"] for name, table in part.manifest["tables"].items()} == before
    # What was done meanwhile (the commit of the archive itself) lies in the present month.
    assert after["token_events"] == part.kept["token_events"] < before["token_events"]
    assert world.ask("SELECT count(*) FROM token_events WHERE instance_id = %s", first) == [(0,)]

    assert {id: recorded(id) for id in histories} == histories
    assert bpm("verify-seals")[0] == 0
    assert bpm("check-invariants", "--all")[0] == 0
    status, said = bpm("replay", "--all", "--verify")
    assert status == 0 and said.startswith("3 instances replayed"), said
    status, said = bpm("export", "--format", "csv", "--to", tmp_path / "all.csv", "--definition", "order")
    assert status == 0 and said.startswith("3 instances"), said
    ((actor, reason, arguments),) = world.ask(
        "SELECT actor, stated_reason, arguments::text FROM runtime_commit WHERE command = 'Archive'"
    )
    assert (actor, reason, json.loads(arguments)["rows"]) == ("dora", "old", before)

    # The open instance goes on, and ends.
    world.work("B", "C")
    assert world.state(waiting) == "COMPLETED"
    sealing.seal()
    assert bpm("verify-seals")[0] == 0
    assert bpm("replay", "--all")[0] == 0

    # Now its rows of that month may go, too: a second part, with nothing new in it.
    status, said = bpm("archive", this_month(), "--to", tmp_path)
    assert status == 0 and "part 2: 0 rows archived" in said and said.rstrip().endswith("0 stay in the database"), said
    assert [part.part for part in catalog.parts()] == [1, 2]
    assert bpm("verify-seals")[0] == 0
    status, said = bpm("replay", "--all", "--verify")
    assert status == 0 and said.startswith("3 instances replayed"), said
    engine.sweep_ended()
    world.ask("SELECT bpm_move_clock(interval '90 days')")
    engine.sweep_ended()
    assert bpm("replay", "--instance", first)[0] == 0


def test_archived_instances_are_findable(world, bpm, past, tmp_path):
    (first, _), waiting = past
    assert bpm("archive", this_month(), "--to", tmp_path)[0] == 0
    rows = world.ask(
        "SELECT instance_id, definition_key, business_key, state, stayed FROM runtime_archived_instance ORDER BY id"
    )
    assert {row[0]: row[1:] for row in rows}[first] == ("order", "B-0", "COMPLETED", False)
    assert {row[0]: row[1:] for row in rows}[waiting] == ("order", None, "RUNNING", True)
    for asked in (("--state", "COMPLETED"), ("--user", "tester"), ("--worker", "ada"), ("--instance", first)):
        status, said = bpm("export", "--format", "jsonl", "--to", tmp_path / "x.jsonl", *asked)
        assert status == 0 and str(first) in (tmp_path / "x.jsonl").read_text(), (asked, said)
    assert bpm("export", "--format", "jsonl", "--to", tmp_path / "y.jsonl", "--worker", "nobody")[1].startswith(
        "0 inst"
    )


def test_tampering_with_an_archive_is_found(world, bpm, past, tmp_path, tamper):
    assert bpm("archive", this_month(), "--to", tmp_path, "--format", "jsonl")[0] == 0
    tamper("DELETE FROM token_events WHERE id = (SELECT min(id) FROM token_events)")
    status, said = bpm("verify-seals")
    assert status == 1 and "rows of token_events that stayed" in said, said


def test_a_row_changed_in_the_archive_is_named(world, bpm, past, tmp_path, observer):
    assert bpm("archive", this_month(), "--to", tmp_path, "--format", "jsonl")[0] == 0
    (part,) = catalog.parts()
    table = next(table for table in part.tables if table.name == "external_task_events")
    lines = [line.replace(b"TASK_LOCKED", b"TASK_LOOKED") for line in part.lines(table)]
    changed = blocks.write(part.place, part.file(table).name, table, iter(lines), "jsonl", lambda block, line: None)
    manifest = part.manifest | {"tables": part.manifest["tables"] | {table.name: changed.to_json()}}
    observer.execute("SET session_replication_role = replica")
    observer.execute("UPDATE runtime_archive SET manifest = %s", [json.dumps(manifest)])
    status, said = bpm("verify-seals")
    assert status == 1 and "changed: seal 1: external_task_events" in said and "TASK_LOOKED" in said, said


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def after(act):
    """The act is done, and then the machine is switched off."""
    return lambda *arguments, **named: (act(*arguments, **named), die())


def at_the_note_of_the_archive(name: str):
    """Inside the transaction that has replaced the partitions."""
    return die() if name == "add_archive" else archive_sql(name)


# Where it ends, in the order in which the command comes there: what is patched, and by what.
POINTS = {
    "some of it is sealed": (sealing, "_seal_next", after(sealing._seal_next)),
    "a file is begun": (blocks._Parquet, "add", after(blocks._Parquet.add)),
    "one file is written": (blocks, "write", after(blocks.write)),
    "the files are written, the index is not": (Indexing, "write", die),
    "the manifest is not": (months, "dumps", die),
    "all is written and not verified": (months, "_verify", die),
    "it is verified": (months, "_replace", die),
    "the partitions are replaced, and nothing is committed": (months, "sql", at_the_note_of_the_archive),
}
LAST = (months, "loads", die)  # after the commit: the client never heard of it


def kill_an_archiver(bpm, observer, tmp_path, monkeypatch, point) -> None:
    """The command in a process of its own, which dies at the point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads that the child does not need
        child = os.fork()
    if not child:
        # The parent's connection is neither used nor closed here.
        _inherited, connection.connection = connection.connection, None
        try:
            monkeypatch.setattr(*point)
            bpm("archive", this_month(), "--to", tmp_path)
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    while observer.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'").fetchone():
        pass  # the server has not heard of it yet


def test_killed_anywhere_it_starts_again_without_loss(world, bpm, past, tmp_path, monkeypatch, observer):
    before = counted(world)
    for place, point in POINTS.items():
        kill_an_archiver(bpm, observer, tmp_path, monkeypatch, point)
        assert counted(world) == before and catalog.parts() == [], place
        assert bpm("verify-seals")[0] == 0, place
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "write", die)  # the files lie there, whole: they are not written anew
        kill_an_archiver(bpm, observer, tmp_path, monkeypatch, LAST)
    (part,) = catalog.parts()
    assert {name: table["rows"] for name, table in part.manifest["tables"].items()} == before
    assert counted(world)["token_events"] == part.kept["token_events"] < before["token_events"]
    assert bpm("verify-seals")[0] == 0
    assert bpm("replay", "--all", "--verify")[1].startswith("3 instances replayed")


def test_rows_that_come_meanwhile_are_not_lost(world, bpm, past, tmp_path, monkeypatch):
    verify = months._verify

    def late(*arguments):
        verify(*arguments)
        world.ask(
            "INSERT INTO engine_events (at, entity, event_type, payload, actor, engine_version, format) SELECT min(at),"
            " 'engine', 'ENGINE_TICK', '{}', 'late', '0', 1 FROM engine_events RETURNING 1"
        )

    with monkeypatch.context() as patch:
        patch.setattr(months, "_verify", late)
        status, said = bpm("archive", this_month(), "--to", tmp_path)
    assert status == 1 and "archived were" in said, said
    assert catalog.parts() == []
    assert bpm("archive", this_month(), "--to", tmp_path)[0] == 0
    assert bpm("verify-seals")[0] == 0


def test_a_place_that_spoils_what_is_written_is_not_trusted(world, bpm, past, tmp_path, monkeypatch):
    before = counted(world)
    monkeypatch.setattr(months, "hash_of_file", lambda *_: "0")
    status, said = bpm("archive", this_month(), "--to", tmp_path)
    assert status == 1 and "cannot be trusted" in said
    assert counted(world) == before


def test_a_retention_of_what_nobody_has_deployed_is_taken_with_a_note(world):
    said = io.StringIO()
    call_command("bpm", "retention", "ordr", "--days", "60", stderr=said)
    assert said.getvalue() == "note: no process of the key ordr has been deployed yet\n"


def test_retention_says_what_stays(world, bpm, past, tmp_path):
    (first, _), waiting = past
    assert "nothing to archive" in bpm("archive", "--to", tmp_path)[1]
    assert bpm("retention", "order", "--days", "60", "--actor", "dora", "--reason", "the law")[0] == 0
    assert "nothing to archive" in bpm("archive", "--to", tmp_path)[1]
    status, said = bpm("archive", this_month(), "--to", tmp_path)
    assert status == 0
    assert world.ask("SELECT count(*) FROM token_events WHERE instance_id = %s", first) != [(0,)]
    assert bpm("retention", "order", "--days", "30")[0] == 0
    assert bpm("retention")[1] == "order: 30 days\n"
    assert "history of it go" in bpm("archive", "--list")[1]
    assert "part 2" in bpm("archive", "--to", tmp_path)[1]
    assert world.ask("SELECT count(*) FROM token_events WHERE instance_id = %s", first) == [(0,)]
    assert world.ask("SELECT count(*) FROM token_events WHERE instance_id = %s", waiting) != [(0,)]
    assert "nothing to archive" in bpm("archive", "--to", tmp_path)[1]
    assert bpm("retention", "--everything", "--for-ever")[0] == 0
    assert bpm("retention", "order")[0] == 2
    assert bpm("verify-seals")[0] == 0
    said = world.ask("SELECT actor, stated_reason FROM runtime_commit WHERE command = 'SetRetention' ORDER BY sequence")
    assert said[0] == ("dora", "the law")


def test_the_schedule_archives_what_is_due_where_a_place_is_named(world, bpm, past, tmp_path, settings, observer):
    settings.BPM_ARCHIVE_TO = None
    assert bpm("retention", "order", "--days", "30")[0] == 0
    assert run_job("archive") == {} and catalog.parts() == []
    assert bpm("archive", "--due")[0] == bpm("archive", "--due", this_month(), "--to", tmp_path)[0] == 2
    settings.BPM_ARCHIVE_TO = str(tmp_path)
    with weak_role(observer):
        assert run_job("archive") == {} and catalog.parts() == []
    before = counted(world)["token_events"]
    assert run_job("archive")["archived_rows"] > before
    assert len(catalog.parts()) == 1 and run_job("archive") == {}
    assert bpm("archive", "--due")[1].startswith("nothing to archive")
    said = world.ask("SELECT actor, stated_reason FROM runtime_commit WHERE command = 'Archive'")
    assert said == [("engine", "retention")]
    assert bpm("verify-seals")[0] == 0


@contextlib.contextmanager
def weak_role(observer):
    """This connection is that of a role which may not take a month out."""
    observer.execute("DROP ROLE IF EXISTS weak_one")
    observer.execute("CREATE ROLE weak_one; GRANT pg_read_all_data, pg_write_all_data TO weak_one")
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE weak_one")
    yield
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
    observer.execute("DROP ROLE weak_one")


def test_a_month_that_is_not_over_or_not_sealed_is_refused(world, bpm, tmp_path, observer):
    world.deploy(ORDER)
    status, said = bpm("archive", this_month(), "--to", tmp_path)
    assert status == 1 and "is not over" in said
    observer.execute("BEGIN")
    observer.execute("SELECT pg_current_xact_id()")
    world.start("order")
    world.move_clock(40 * 86400)
    status, said = bpm("archive", this_month(), "--to", tmp_path)
    assert status == 1 and "not sealed yet" in said
    observer.execute("ROLLBACK")
    assert bpm("archive", this_month(), "--to", f"memory://archive-{tmp_path.name}")[0] == 0
    assert bpm("archive", "--to", tmp_path)[0] == 0
    assert bpm("archive", this_month())[0] == 2


def test_the_partition_is_guarded_as_before(world, bpm, past, tmp_path):
    assert bpm("archive", this_month(), "--to", tmp_path)[0] == 0
    partition = f"token_events_{this_month().replace('-', '_')}"
    for statement in (f"DELETE FROM {partition}", f"UPDATE {partition} SET node_id = ''", f"TRUNCATE {partition}"):
        with pytest.raises(Exception, match=r"only grows|never truncated"), connection.cursor() as cursor:
            cursor.execute(statement)
    names = world.ask("SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'", partition)
    assert names == []
    log = f"runtime_commit_{this_month().replace('-', '_')}"
    assert world.ask("SELECT 1 FROM pg_indexes WHERE tablename = %s AND indexname = %s", log, f"{log}_thread_version")


def test_nobody_else_may_replace_a_month(world, observer):
    observer.execute("DROP ROLE IF EXISTS somebody")
    observer.execute("CREATE ROLE somebody")
    ((may,),) = world.ask(
        "SELECT has_function_privilege('somebody', p.oid, 'EXECUTE') FROM pg_proc p WHERE proname = 'bpm_replace_month'"
    )
    assert may is False
    observer.execute("DROP ROLE somebody")


def test_the_trace_of_an_archived_instance_is_what_it_was(world, bpm, past, tmp_path):
    (first, _), waiting = past
    wanted = trace.Wanted(node="A", entities=("task",))

    def traced(instance):
        pages, after = [], None
        while (page := trace.trace(instance, after=after, size=7, newest_first=True)).after:
            pages += page.events
            after = page.after
        return [
            list(trace.stream(instance)),
            list(trace.stream(instance, newest_first=True)),
            [*pages, *page.events],
            trace.trace(instance, wanted).events,
        ]

    before = {instance: traced(instance) for instance in (first, waiting)}
    assert before[first][3][0].topic == "A"
    assert bpm("archive", this_month(), "--to", tmp_path)[0] == 0
    assert {instance: traced(instance) for instance in (first, waiting)} == before
    world.work("B", "C")
    assert bpm("archive", this_month(), "--to", tmp_path)[0] == 0
    events = list(trace.stream(waiting))
    assert [event.type for event in events[: len(before[waiting][0])]] == [event.type for event in before[waiting][0]]
    assert events[-1].type == "INSTANCE_COMPLETED"
