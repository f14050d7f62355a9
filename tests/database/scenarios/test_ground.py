"""The database under scenarios: only one that a superuser marked is ever emptied, or its clock moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection

from bpm import engine
from bpm.management.driving import NoGround, perform
from bpm.management.driving.ground import MARK, mark
from bpm.scenarios import read_scenarios
from bpm.scenarios.driver import BEGINNING
from bpm.store import RuleBroken, schedule
from tests.pure.scenarios.writing import end, person, process, start, write

MODEL = process("p", start("s"), person("A"), end("e"), "s > A > e")


@pytest.fixture
def unmarked(database):
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {MARK}")
    yield database
    mark()


def rows() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM token_events")
        return int(cursor.fetchone()[0])


def test_each_scenario_has_the_database_to_itself(database, tmp_path):
    (document,) = read_scenarios(write(tmp_path, "start: {process: p}", p=MODEL))
    assert [perform(document, tmp_path, database).instances for _ in range(2)] == [1, 1]
    before = database.all_commits()
    database.clear()
    assert (rows(), database.all_commits()) == (0, before)
    assert timedelta() <= schedule.now() - BEGINNING < timedelta(minutes=1)


def test_time_goes_on_from_where_it_was_set(database):
    database.clear()
    moment = datetime(2031, 5, 1, tzinfo=UTC)
    database.set_clock(moment)
    assert timedelta() <= schedule.now() - moment < timedelta(minutes=1)
    database.set_clock(moment + timedelta(days=1))
    assert timedelta(days=1) <= schedule.now() - moment < timedelta(days=1, minutes=1)


def test_an_unmarked_database_is_left_alone(unmarked):
    engine.deploy({"p.bpmn": MODEL.encode()}, actor="tester")
    engine.start("p", actor="tester")
    before = rows()
    assert before > 0
    with pytest.raises(NoGround, match="is not marked as one for tests"):
        unmarked.clear()
    assert rows() == before
    with pytest.raises((RuleBroken, DatabaseError), match="not marked as one for tests"):
        schedule.move_clock(timedelta(days=1))


def test_only_a_superuser_marks(database):
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE weak; SET ROLE weak")
        try:
            with pytest.raises(NoGround, match="only a superuser"):
                mark()
        finally:
            cursor.execute("RESET ROLE; DROP ROLE weak")
