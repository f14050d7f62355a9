"""Running the migrations: the one thing that changes the schema, and a job of its own before programs start.

`migrate(dsn)` is for programs that are no Django site: a child process with settings of its own runs Django's
migrations of the tables here and of what they refer to (accounts). A site uses its own `manage.py migrate`, or
`manage.py bpm migrate-schema`, which adds two things: only one such job runs at a time, and `--before` leaves those
for later that an older program still running would not survive (named NNNN_after_...).
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg.conninfo import conninfo_to_dict

from bpm.store import schema
from bpm.store.errors import StoreError

APPS = ("django.contrib.contenttypes", "django.contrib.auth", "pgtrigger", "bpm")
# What a connection string calls what Django's settings call otherwise; the rest are options of the connection.
_NAMES = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
# How a traceback begins its last words: a class with its module. PostgreSQL's own lines (DETAIL: ) are none.
_EXCEPTION = re.compile(r"(?:\w+\.)*[A-Z]\w*[a-z]\w*: ")
_LOCK = "hashtextextended('tokentrail migrations', 0)"
# Seconds until a job that waits for another one asks again.
_ASK_AGAIN = 0.2


class MigrationFailed(StoreError):
    """The migrations did not run to their end; the message is what Django said. Run them again."""


def migrate(dsn: str, *, before_only: bool = False) -> None:
    """Bring the database to the schema of this program. Raises MigrationFailed.

    `before_only`: as far as older programs that still run can bear it.
    """
    child = subprocess.run(  # noqa: S603
        [sys.executable, "-c", f"from {__name__} import main; main()"],
        # Not as an argument: those of a process can be read by others.
        input=json.dumps({"dsn": dsn, "before_only": before_only}),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if child.returncode:
        raise MigrationFailed(f"the migrations failed: {_said(child.stderr) or f'exit status {child.returncode}'}")


def _said(traceback: str) -> str:
    """The exception at the end of a traceback, with all lines of its message; else the last line."""
    lines = traceback.strip().splitlines()
    begins = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
    return "\n".join(lines[begins[-1] :] if begins else lines[-1:])


def run(using: str = "default", *, before_only: bool = False, verbosity: int = 1) -> None:
    """The same on a database of Django's settings, in this process."""
    from django.core.management import call_command
    from django.db import connections
    from django.db.migrations.loader import MigrationLoader

    connection = connections[using]
    options: dict[str, Any] = {"database": using, "interactive": False, "verbosity": verbosity}
    with _only_one(connection):
        target = _last_before() if before_only else None
        if target is None:
            call_command("migrate", **options)
            return
        loader = MigrationLoader(connection)
        for app in sorted(loader.migrated_apps - {"bpm"}):
            call_command("migrate", app, **options)
        # A target that is behind would be gone back to.
        if ("bpm", target) not in loader.applied_migrations:
            call_command("migrate", "bpm", target, **options)


def _last_before() -> str | None:
    """The last migration but those at the end that come after the deployment; None where none does."""
    names = list(schema.migrations())
    there_are = bool(schema.AFTER.match(names[-1]))
    while schema.AFTER.match(names[-1]):
        names.pop()
    return names[-1] if there_are else None


@contextmanager
def _only_one(connection: Any) -> Iterator[None]:
    """A second job waits here for the first, and then finds nothing to do. It asks again and again: in a statement that
    waits it would hold a snapshot, for which the first one's CREATE INDEX CONCURRENTLY waits in turn.
    """
    with connection.cursor() as cursor:
        while not _taken(cursor):
            time.sleep(_ASK_AGAIN)
    try:
        yield
    finally:
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT pg_advisory_unlock({_LOCK})")


def _taken(cursor: Any) -> bool:
    cursor.execute(f"SELECT pg_try_advisory_lock({_LOCK})")
    return bool(cursor.fetchone()[0])


def main() -> None:
    """The child: settings that hold nothing but the database, then the migrations."""
    asked = json.load(sys.stdin)
    parts = conninfo_to_dict(asked["dsn"])
    database: dict[str, Any] = {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {}}
    for name, value in parts.items():
        if name in _NAMES:
            database[_NAMES[name]] = str(value)
        else:
            database["OPTIONS"][name] = value

    import django
    from django.conf import settings

    settings.configure(
        DATABASES={"default": database},
        INSTALLED_APPS=APPS,
        SECRET_KEY=secrets.token_hex(),
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    )
    django.setup()
    run(before_only=asked["before_only"], verbosity=0)
