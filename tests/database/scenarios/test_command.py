"""`bpm test --engine`: with a server of its own, or in a database of its own on the server that is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from config.local import socket_url
from tests.pure.scenarios.writing import end, person, process, start, write

ROOT = Path(__file__).resolve().parents[3]
MODEL = process("p", start("s"), person("A"), end("e"), "s > A > e")
SCENARIOS = """
    start: {process: p}
    expect: {waiting: [A]}
    ---
    start: {process: p}
    auto: [user_task]
    expect: {ended: false}
"""


@pytest.fixture
def file(tmp_path):
    return write(tmp_path, SCENARIOS, p=MODEL)


def bpm_test(*arguments: object, **environment: str) -> tuple[int, list[str], str]:
    done = subprocess.run(
        [sys.executable, "manage.py", "bpm", "test", "--engine", *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_without_a_server_it_starts_one(file, tmp_path):
    local = tmp_path / "local"
    local.mkdir()
    status, lines, _ = bpm_test(file, "--json", TMPDIR=str(local))
    assert status == 1
    assert [json.loads(line)["passed"] for line in lines[:-1]] == [True, False]
    assert lines[-1] == "1 passed, 1 failed"
    assert list(local.iterdir()) == []


def test_on_a_server_it_makes_a_database_of_its_own(file, postgres):
    url = socket_url(postgres.sockets, "postgres")
    status, lines, complaint = bpm_test(file, "--only", "scenario 1", DATABASE_URL=url)
    assert (status, lines, complaint) == (0, ["1 instances, 2 rows in runtime_commit", "1 passed, 0 failed"], "")
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT datname FROM pg_database WHERE datname LIKE 'tokentrail_scenarios%%'"
        ).fetchall()
    assert f"tokentrail_scenarios_{os.getpid()}" in {name for (name,) in names} or names == []


def test_who_may_not_move_time_is_told(file, postgres):
    with psycopg.connect(socket_url(postgres.sockets, "postgres"), autocommit=True) as connection:
        connection.execute("CREATE ROLE weak_tester LOGIN CREATEDB")
    try:
        url = socket_url(postgres.sockets, "postgres").replace("//postgres@", "//weak_tester@")
        status, lines, complaint = bpm_test(file, DATABASE_URL=url)
        assert (status, lines) == (2, [])
        assert "only a superuser may mark a database as one for tests" in complaint
    finally:
        with psycopg.connect(socket_url(postgres.sockets, "postgres"), autocommit=True) as connection:
            connection.execute("DROP ROLE weak_tester")


def test_one_at_a_time(file):
    status, _, complaint = bpm_test(file, "--jobs", "2")
    assert status == 2
    assert "--jobs goes without --engine" in complaint
