"""The ground of the database tests: the server, the test database, and emptying it past the guards."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from tests.servers import POSTGRES_VERSION

GUARD = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'only grows'; END $$;
CREATE TRIGGER refuse BEFORE TRUNCATE ON auth_user FOR EACH STATEMENT EXECUTE FUNCTION refuse();
"""


@pytest.mark.django_db
def test_the_server_is_the_one_asked_for():
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        assert int(cursor.fetchone()[0]) // 10_000 == POSTGRES_VERSION
    assert connection.settings_dict["NAME"] == "test_tokentrail"


@pytest.fixture
def guarded_users(django_db_setup, django_db_blocker):
    """A table that refuses TRUNCATE, set up before and taken down after the test's own transactions and flush."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(GUARD)
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM auth_user")
        left = cursor.fetchone()[0]
        cursor.execute("DROP TRIGGER refuse ON auth_user; DROP FUNCTION refuse()")
    assert left == 0


def test_the_flush_steps_past_guards(guarded_users, transactional_db):
    User.objects.create(username="somebody")


@pytest.mark.django_db
def test_system_checks_find_nothing():
    call_command("check", databases=["default"], fail_level="WARNING", stdout=StringIO())
