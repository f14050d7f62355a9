"""A project that has set something up wrongly hears of it from `manage.py check`, not from a traceback later."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connection

from bpm.jobs import checks
from cockpit import checks as of_the_cockpit

ROOT = Path(__file__).resolve().parents[2]


def found() -> list[str | None]:
    return [message.id for message in checks.check_settings()]


def test_the_ready_made_site_is_as_it_should_be():
    assert checks.check_settings() == []
    assert of_the_cockpit.check_apps() == []


def test_another_database_is_refused(monkeypatch):
    monkeypatch.setattr(connection, "vendor", "sqlite")
    assert found() == ["bpm.E001"]


def test_what_is_set_up_wrongly_is_said_all_at_once(settings):
    settings.USE_TZ = False
    settings.BPM_CELERY_APP = "nowhere.app"
    settings.BPM_KEEP_ENDED_DAYS = "a week"
    settings.BPM_KEEP_ENDED_DAY = 7
    assert found() == ["bpm.E002", "bpm.E003", "bpm.W001", "bpm.E004"]
    settings.BPM_CELERY_APP = "bpm.jobs.checks.NUMBERS"
    assert "is no Celery app, but frozenset" in str(checks.check_settings())


@pytest.mark.parametrize(
    ("database", "warnings"),
    [
        ({}, ["bpm.W002"]),
        ({"CONN_MAX_AGE": 0}, ["bpm.W002"]),
        ({"CONN_MAX_AGE": 600}, []),
        ({"CONN_MAX_AGE": None}, []),
        ({"OPTIONS": {"pool": True}}, []),
    ],
)
def test_connections_that_are_not_kept_are_said(monkeypatch, database, warnings):
    monkeypatch.setitem(django_settings.DATABASES, "default", database)
    assert found() == warnings


@pytest.mark.parametrize(
    ("apps", "id"),
    [
        (["cockpit", "django.contrib.admin", "django.contrib.messages"], "cockpit.E001"),
        (["django.contrib.admin", "django.contrib.messages", "unfold", "unfold.contrib.filters"], "cockpit.E002"),
    ],
)
def test_a_cockpit_without_what_it_stands_on_is_said(monkeypatch, apps, id):
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    monkeypatch.setattr(of_the_cockpit.apps, "get_app_configs", lambda: [Named(name) for name in apps])
    (message,) = of_the_cockpit.check_apps()
    assert message.id == id


def test_without_the_app_of_the_rules_nothing_starts_and_the_error_names_it():
    code = (
        "import django; from django.conf import settings; "
        "settings.configure(INSTALLED_APPS=['django.contrib.contenttypes', 'django.contrib.auth', 'bpm']); "
        "django.setup()"
    )
    program = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert program.returncode == 1
    assert "ImproperlyConfigured: bpm needs the app pgtrigger" in program.stderr


def test_every_setting_of_the_documents_is_known_and_every_known_one_is_documented():
    documented = set(re.findall(r"^\| `(BPM_\w+)`", (ROOT / "docs/operations.md").read_text(), re.M))
    assert documented == checks.NUMBERS | checks.OTHERS
