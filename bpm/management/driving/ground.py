"""The database under scenarios: one of its own, marked as a database for tests, where time can be moved.

Emptying it takes rows of history away, which no other database allows: it takes a superuser's session that steps past
the triggers, and is refused where the mark is missing. The program itself has no such way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils.module_loading import import_string
from psycopg import sql

from bpm.scenarios.driver import BEGINNING
from bpm.store import Channel, plain_channel, schedule

# A database is one for tests where a superuser made this table; the clock asks for it, too.
MARK = "tokentrail_test_database"


class NoGround(Exception):
    """There is no database that scenarios may use; the message says why."""


@dataclass(slots=True)
class Ground:
    """A marked database, reached by Django's default connection."""

    _cleared: int = 0
    _ahead: timedelta = field(default_factory=timedelta)

    def clear(self) -> None:
        """Empty it for the next scenario and set the clock to the beginning. Raises NoGround where it is not marked."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s)", [MARK])
            if cursor.fetchone()[0] is None:
                raise NoGround(f"the database {connection.settings_dict['NAME']} is not marked as one for tests")
            self._cleared += _count_commits()
            with transaction.atomic():
                cursor.execute(_emptying())
        self._ahead = timedelta()
        self.set_clock(BEGINNING)

    def set_clock(self, moment: datetime) -> None:
        """From now on it is that moment, and time goes on from there."""
        self._ahead = moment - (schedule.now() - self._ahead)
        schedule.move_clock(self._ahead)

    def all_commits(self) -> int:
        """How many rows of `runtime_commit` were made in all, those cleared away included."""
        return self._cleared + _count_commits()


@contextmanager
def ground() -> Iterator[Ground]:
    """A database of our own for as long as the block lasts, on the server of the settings; where they name none, on one
    that is started for it (setting BPM_SCENARIO_SERVER: the path of a context manager that yields the connection's
    settings). Raises NoGround.
    """
    place = getattr(settings, "BPM_SCENARIO_SERVER", None)
    server: AbstractContextManager[dict[str, Any]] = import_string(place)() if place else nullcontext({})
    with server as given:
        connection.settings_dict.update(given)
        original = connection.settings_dict["NAME"]
        named = connection.settings_dict["TEST"]["NAME"]
        connection.settings_dict["TEST"]["NAME"] = f"tokentrail_scenarios_{os.getpid()}"
        try:
            connection.creation.create_test_db(verbosity=0, autoclobber=True)
        except (DatabaseError, SystemExit) as problem:
            raise NoGround(f"no database for scenarios could be made: {problem}") from None
        finally:
            connection.settings_dict["TEST"]["NAME"] = named
        try:
            mark()
            yield Ground()
        finally:
            connection.creation.destroy_test_db(original, verbosity=0)


def mark() -> None:
    """Mark the database of Django's default connection as one for tests. Raises NoGround for who is no superuser."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            raise NoGround("only a superuser may mark a database as one for tests: its clock is moved, it is emptied")
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {MARK} ()")


@contextmanager
def fresh_channel() -> Iterator[Channel]:
    """A connection of its own to the same database, which knows nothing but what is committed."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as raw:
        yield plain_channel(raw)


def _count_commits() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM runtime_commit")
        return int(cursor.fetchone()[0])


def _emptying() -> sql.Composed:
    # Rows are few: deleting them takes a tenth of the time of TRUNCATE, which makes new files for each table and index.
    tables = sorted({model._meta.db_table for model in apps.get_app_config("bpm").get_models() if model._meta.managed})
    deletes = [sql.SQL("DELETE FROM {};").format(sql.Identifier(table)) for table in tables]
    return sql.SQL("SET LOCAL session_replication_role = replica; {}").format(sql.Composed(deletes))
