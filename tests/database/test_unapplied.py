"""Whether all migrations are applied is asked every few seconds, and mostly they are."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from bpm.queries import installation

pytestmark = pytest.mark.django_db


def test_where_all_are_recorded_no_plan_is_made(monkeypatch):
    monkeypatch.delattr(installation, "MigrationExecutor")
    assert installation.unapplied_migrations() == []


def test_the_names_are_those_that_django_loads():
    assert set(installation._migrations()) == set(MigrationLoader(connection).disk_migrations)


def test_what_is_not_recorded_is_said():
    last = ("auth", "0012_alter_user_first_name_max_length")
    MigrationRecorder(connection).record_unapplied(*last)
    assert installation.unapplied_migrations() == [".".join(last)]
