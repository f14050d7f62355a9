"""The site as the role that `bpm harden` leaves: everything works that is no change of the schema."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from config.local import ROOT, socket_url
from config.postgres import Postgres
from tests.pure.scenarios.writing import end, process, start, work

MODEL = process("hardened", start("s"), work("A", "orders.check-stock"), end("e"), "s > A > e")
WORK = (
    ["bpm", "verify-schema"],
    ["bpm", "deploy", "hardened.bpmn"],
    ["bpm", "start", "hardened", "--var", '{"quantity": 1}'],
    ["bpm", "snapshot", "--output", "bases.jsonl"],
    ["bpm", "worker", "--once"],
    ["bpm", "seal"],
    ["bpm", "verify-seals"],
    ["bpm", "replay", "--all"],
    ["bpm", "check-invariants", "--all"],
    ["bpm", "instances"],
    ["bpm", "token", "charge-worker"],
    ["bpm", "token", "charge-worker", "--revoke"],
    ["createsuperuser", "--noinput", "--username", "ada", "--email", "ada@example.org"],
    ["shell", "-c", "from bpm import engine; engine.recover(); from bpm.jobs.schedule import JOBS; "
     "[job.run() for job in JOBS.values()]"],
    ["clearsessions"],
)  # fmt: skip


@pytest.fixture(scope="module")
def hardened(postgres: Postgres) -> Iterator[str]:
    """A database that its owner has migrated and hardened; the application's address."""
    names = {"owner": sql.Identifier("site_owner"), "application": sql.Identifier("site_application")}
    with psycopg.connect(postgres.url(), autocommit=True) as superuser:
        superuser.execute(sql.SQL("CREATE ROLE {owner} LOGIN CREATEROLE").format(**names))
        superuser.execute(sql.SQL("CREATE DATABASE site OWNER {owner}").format(**names))
        owner = socket_url(postgres.sockets, "site").replace("postgres@", "site_owner@")
        assert manage(owner, ["bpm", "migrate-schema"]).returncode == 0
        told = manage(owner, ["bpm", "harden", "--role", "site_application"])
        assert told.returncode == 0, told.stderr
        assert "site_application has what it needs on" in told.stderr
        yield owner.replace("site_owner@", "site_application@")
        superuser.execute("DROP DATABASE site WITH (FORCE)")
        superuser.execute(sql.SQL("DROP ROLE {application}; DROP ROLE {owner}").format(**names))


def manage(address: str, arguments: list[str], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DATABASE_URL": address, "DJANGO_SUPERUSER_PASSWORD": "a fine password"}
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, cwd=folder or ROOT, env=environment, capture_output=True, text=True, check=False)


def test_everything_works_as_the_applications_role(hardened, tmp_path):
    (tmp_path / "hardened.bpmn").write_text(MODEL)
    for arguments in WORK:
        done = manage(hardened, list(arguments), str(tmp_path))
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    with psycopg.connect(hardened) as connection:
        states = connection.execute("SELECT state FROM process_instances").fetchall()
    assert states == [("COMPLETED",)]
    assert (tmp_path / "bases.jsonl").read_text().count('"thread_id"') == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bpm", "migrate-schema"], "permission denied"),
        (["bpm", "harden", "--role", "site_application"], "this takes the owner of the tables, or a superuser"),
    ],
)
def test_what_changes_the_schema_does_not(hardened, arguments, said):
    done = manage(hardened, arguments)
    assert done.returncode != 0
    assert said in done.stderr


def test_the_statements_can_be_printed_for_somebody_else(hardened):
    done = manage(hardened, ["bpm", "harden", "--role", "site_application", "--print"])
    assert done.returncode == 0, done.stderr
    assert 'GRANT SELECT, INSERT ON TABLE "token_events" TO "site_application";' in done.stdout
    assert "TRUNCATE" not in done.stdout
