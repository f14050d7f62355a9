"""Rolling upgrade: migrations first, then old and new programs side by side on the new schema; and new code on an old
schema says what is missing.

The old program is the newest commit whose migrations are others, taken out of git into a temporary folder. Where git
has no such commit (a shallow clone), it is the oldest one that is there.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bpm.store import CommitCoordinator, hardening, plain_channel, schema
from config.local import ROOT, socket_url
from config.postgres import Postgres
from tests.pure.scenarios.writing import end, person, process, start, work

MODEL = process("upgrade", start("s"), work("A", "up"), work("B", "up"), person("C"), end("e"), "s > A > B > C > e")
# What a program does of either version: only what every version has.
PROGRAM = """
import json, os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
import django
django.setup()
from bpm import engine

verb, given = json.loads(sys.argv[1])
if verb == "deploy":
    engine.deploy({"upgrade.bpmn": given.encode()}, actor="ann")
elif verb == "start":
    print(engine.start("upgrade", {"x": given}, actor="ann").thread_id)
elif verb == "work":
    for task in engine.fetch_and_lock(["up"], worker="w", max=given):
        engine.complete_task(task.id, worker="w", variables={"x": task.variables["x"] + 1})
elif verb == "finish":
    engine.complete_user_task(given, actor="bea")
elif verb == "recover":
    engine.recover()
"""
# Operations that a program of the version before may not survive.
DESTRUCTIVE = {
    "AlterField", "AlterModelTable", "DeleteModel", "RemoveConstraint", "RemoveField", "RemoveTrigger", "RenameField",
    "RenameModel",
}  # fmt: skip
FIRST_RELEASE = "0014_searchable"


@dataclass(frozen=True)
class Version:
    """A version of the program: where its files lie."""

    folder: Path

    @property
    def migrations(self) -> set[str]:
        return {path.stem for path in (self.folder / "bpm" / "migrations").glob("[0-9]*.py")}

    def run(self, address: str, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "DATABASE_URL": address, "EXTRA_APPS": "", "SECRET_KEY": "upgrade"}
        environment["PYTHONPATH"] = str(self.folder)
        return subprocess.run(
            [sys.executable, *command], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def do(self, address: str, verb: str, given: Any = None) -> str:
        done = self.run(address, "-c", PROGRAM, json.dumps([verb, given]))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True)


def migrations_of(commit: str) -> set[str]:
    listed = git("ls-tree", "--name-only", commit, "bpm/migrations/").stdout.decode().split()
    return {Path(name).stem for name in listed if re.match(r"\d{4}_.*\.py", Path(name).name)}


NEW = Version(ROOT)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Version:
    """The version before, in a folder of its own."""
    commits = git("rev-list", "--first-parent", "HEAD").stdout.decode().split()
    commit = next((one for one in commits if migrations_of(one) != NEW.migrations), commits[-1])
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit).stdout)) as files:
        files.extractall(folder, filter="data")
    return Version(folder)


@pytest.fixture
def address(postgres: Postgres) -> Iterator[str]:
    """The address of an empty database, for its owner."""
    with psycopg.connect(postgres.url(), autocommit=True) as superuser:
        superuser.execute("CREATE ROLE upgrade_owner LOGIN; CREATE ROLE upgrade_application LOGIN")
        superuser.execute("CREATE DATABASE upgrade OWNER upgrade_owner")
        yield socket_url(postgres.sockets, "upgrade").replace("postgres@", "upgrade_owner@")
        superuser.execute("DROP DATABASE upgrade WITH (FORCE)")
        superuser.execute("DROP ROLE upgrade_application; DROP ROLE upgrade_owner")


def ask(address: str, question: str, *values: Any) -> Any:
    with psycopg.connect(address) as connection:
        return connection.execute(question, values).fetchone()[0]


def test_old_and_new_programs_on_the_new_schema(old, address):
    # The old version runs, and something is open.
    assert old.run(address, "manage.py", "migrate", "-v0").returncode == 0
    old.do(address, "deploy", MODEL)
    begun = old.do(address, "start", 0)

    # New code says clearly that it is too early.
    pending = sorted(name for name in NEW.migrations - old.migrations if not schema.AFTER.match(name))
    early = NEW.run(address, "manage.py", "bpm", "verify-schema")
    assert early.returncode == (1 if pending else 0)
    for name in pending:
        assert f"migration bpm.{name} is not applied" in early.stdout
    if pending:
        with pytest.raises(schema.SchemaDiffers, match=f"migration bpm.{pending[0]} is not applied"):
            CommitCoordinator.connect_existing(address, 1)
        started = NEW.run(address, "-c", "import config.wsgi")
        assert started.returncode == 1
        assert f"migration bpm.{pending[0]} is not applied" in started.stderr

    # The migrations that come before the deployment, and the application's role.
    assert NEW.run(address, "manage.py", "bpm", "migrate-schema", "--before").returncode == 0
    with psycopg.connect(address) as connection:
        hardening.harden("upgrade_application", channel=plain_channel(connection))
    application = address.replace("upgrade_owner@", "upgrade_application@")

    # The old program goes on as if nothing had happened, also one that starts now, beside the new one.
    for version in (old, NEW):
        checked = version.run(application, "manage.py", "bpm", "verify-schema")
        assert checked.returncode == 0 or "verify-schema" in checked.stderr, checked.stdout + checked.stderr
    other = NEW.do(application, "start", 10)
    for first, second in ((old, NEW), (NEW, old)):
        first.do(application, "work", 1)
        second.do(application, "work", 1)
    old.do(application, "recover")
    NEW.do(application, "recover")
    for version, instance in ((NEW, begun), (old, other)):
        task = ask(address, "SELECT id FROM user_tasks WHERE instance_id = %s AND state = 'READY'", instance)
        version.do(application, "finish", str(task))
        assert ask(address, "SELECT state FROM process_instances WHERE id = %s", instance) == "COMPLETED"
    assert ask(address, "SELECT value FROM variables WHERE instance_id = %s AND name = 'x'", begun) == 2
    assert ask(address, "SELECT value FROM variables WHERE instance_id = %s AND name = 'x'", other) == 12

    # What both wrote is one history.
    replayed = NEW.run(application, "manage.py", "bpm", "replay", "--all")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr

    # When no old program runs any more.
    assert NEW.run(address, "manage.py", "bpm", "migrate-schema").returncode == 0
    assert NEW.run(application, "manage.py", "bpm", "verify-schema").returncode == 0


def test_what_an_old_program_would_not_survive_comes_after_it():
    """Migrations from the first release on are additions; whatever takes away or renames is named NNNN_after_..."""
    for name in sorted(NEW.migrations):
        if name <= FIRST_RELEASE or schema.AFTER.match(name):
            continue
        tree = ast.parse((ROOT / "bpm" / "migrations" / f"{name}.py").read_text())
        called = {getattr(node.func, "attr", "") for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert called & DESTRUCTIVE == set(), f"{name} belongs after the deployment: name it NNNN_after_..."


def test_migrations_before_and_after(address, monkeypatch):
    """`--before` stops in front of those that come after; it never goes back."""
    names = tuple(name for name in schema.migrations() if not schema.AFTER.match(name))
    renamed = (*names[:-1], f"{names[-1][:4]}_after_something")
    monkeypatch.setattr(schema, "migrations", lambda: renamed)
    from bpm.store import migrating

    assert migrating._last_before() == names[-2]
    monkeypatch.setattr(schema, "migrations", lambda: (*names[:-2], f"{names[-2][:4]}_after_something", names[-1]))
    assert migrating._last_before() is None, "what an older release left for later is applied by now"
