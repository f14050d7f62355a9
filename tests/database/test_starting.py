"""Programs that work start only on a database that is what they were written for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from config.local import ROOT
from config.valkey import Valkey

TRIGGER = "pgtrigger_tokentrail_explained_bb2b0"
CELERY = ["-m", "celery", "-A", "config"]
SHOP = (
    "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'shop.settings'; sys.path.insert(0, 'examples/shop'); "
    "import shop.wsgi"
)
# What a program has loaded in the end, in one line.
LOADED = "import sys; print(*sorted(sys.modules))"
READY = f"""
import config.asgi
from django.test import Client
assert Client().get("/readyz", headers={{"host": "localhost"}}).status_code == 200
{LOADED}
"""
SUBCOMMAND = f"""
import os
from django.core.management import execute_from_command_line
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
try:
    execute_from_command_line(["manage.py", "bpm", "test", "--help"])
except SystemExit:
    {LOADED}
"""
# Celery sends wake-ups once there are some, scenarios are for the command line, and all migrations are long applied.
OF_OTHERS = {"celery", "kombu", "redis", "yaml", "bpm.scenarios", "bpm.management", "bpm.migrations.0001_tables"}
PROGRAMS = {
    "web server": ["-m", "uvicorn", "config.asgi:application", "--port", "0", "--lifespan", "off"],
    "wsgi server": ["-c", "import config.wsgi"],
    "web server of a project": ["-c", SHOP],
    "worker": [*CELERY, "worker", "--concurrency=1", "--without-mingle", "--without-gossip"],
    "beat": [*CELERY, "beat", "--pidfile=", "--max-interval=1"],
    "worker of a command": ["manage.py", "bpm", "worker"],
}


@pytest.fixture
def unfit(transactional_db: None) -> Iterator[None]:
    """Somebody has switched a rule off and dropped an index."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE tokens DISABLE TRIGGER {TRIGGER}; DROP INDEX tokens_active")
    yield
    with connection.cursor() as cursor:
        cursor.execute(
            f"ALTER TABLE tokens ENABLE TRIGGER {TRIGGER};"
            " CREATE INDEX tokens_active ON tokens (commit_at) WHERE state = 'ACTIVE'"
        )


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_what_differs_ends_a_program_that_starts(unfit, site_environment, valkey: Valkey, program):
    ended = subprocess.run(
        [sys.executable, *program], env=site_environment, cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1, ended.stderr
    assert f"- trigger tokens.{TRIGGER} does not work: disabled" in ended.stderr
    assert "- index tokens.tokens_active is missing" in ended.stderr


def test_readiness_lists_what_differs(unfit):
    unready = Client().get("/readyz")
    assert unready.status_code == 503
    why = unready.json()["parts"]["schema"]["why"]
    assert why == f"index tokens.tokens_active is missing; trigger tokens.{TRIGGER} does not work: disabled"


def test_a_fit_database_lets_it_start(transactional_db, site_environment):
    """And a web server that has become ready has loaded nothing of what others do."""
    ended = subprocess.run(
        [sys.executable, "-c", READY], env=site_environment, cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    loaded = set(ended.stdout.splitlines()[-1].split())
    assert {"bpm.engine", "bpm.api.app", "cockpit.site"} <= loaded
    assert loaded & OF_OTHERS == set()


def test_a_subcommand_does_not_load_the_others():
    ended = subprocess.run([sys.executable, "-c", SUBCOMMAND], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    loaded = ended.stdout.splitlines()[-1].split()
    assert [name for name in loaded if name.startswith("bpm.management.bpm.")] == [
        "bpm.management.bpm.registration",
        "bpm.management.bpm.test",
    ]
    assert "celery" not in loaded


def test_a_database_that_does_not_answer_is_met_later(site_environment):
    environment = {**site_environment, "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}
    ended = subprocess.run(
        [sys.executable, "-c", "import config.asgi"], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert "schema not checked" in ended.stdout + ended.stderr


def test_months_that_are_missing_are_made_at_the_start(transactional_db, site_environment):
    """What was off for months would else never start again."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DO $$ BEGIN EXECUTE format('DROP TABLE %I', 'timer_events' ||"
            " to_char((bpm_now() + interval '3 months') AT TIME ZONE 'UTC', '_YYYY_MM')); END $$"
        )
    with pytest.raises(SystemExit):
        call_command("bpm", "verify-schema")
    ended = subprocess.run(
        [sys.executable, "-c", "import config.wsgi"], env=site_environment, cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    call_command("bpm", "verify-schema")


def test_a_project_that_says_nothing_of_logs_gets_none_on_standard_output():
    """There a command answers: `instance=$(manage.py bpm start ...)`."""
    code = (
        "import django, structlog; from django.conf import settings; settings.configure(INSTALLED_APPS=["
        "'django.contrib.contenttypes', 'django.contrib.auth', 'pgtrigger', 'bpm']); django.setup(); "
        "structlog.get_logger('bpm.x').warning('it is late', by=7, per='100%')"
    )
    program = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (program.stdout, program.stderr) == ("", "it is late by=7 per=100%\n")
