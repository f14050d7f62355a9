"""What a router sends to a replica, and that nothing which decides could be sent there."""

from __future__ import annotations

import re
from unittest.mock import MagicMock
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connections, router
from django.test.utils import CaptureQueriesContext

from bpm.models import ApiToken, ProcessInstance, VariableFile
from bpm.queries import incidents, instances, overview
from config.local import ROOT

DECIDING = ("engine", "store", "audit", "jobs", "semantics", "replay")
# Of what is not read from a replica: who may come in, and contents of files.
BY_MODELS = {"bpm/store/access.py"}


@pytest.fixture
def routed(settings):
    settings.DATABASE_ROUTERS = ["bpm.queries.replica.ReadReplica"]


def test_models_of_the_engine_are_read_there_and_nothing_else(routed):
    assert router.db_for_read(ProcessInstance) == "replica"
    assert router.db_for_write(ProcessInstance) == "default"
    assert router.db_for_read(ApiToken) == router.db_for_read(User) == "default"
    assert not router.allow_migrate("replica", "bpm")
    assert router.allow_migrate("default", "bpm")
    stay = {model for model in apps.get_app_config("bpm").get_models() if router.db_for_read(model) == "default"}
    assert stay == {ApiToken, VariableFile}


def test_a_list_asks_the_replica(routed, db, monkeypatch):
    asked = []
    monkeypatch.setattr("bpm.queries.replica.ReadReplica.db_for_read", lambda self, model, **_: asked.append(model))
    with CaptureQueriesContext(connections["default"]) as queries:
        instances.list_instances()
    assert ProcessInstance in asked
    assert len(queries) == 1


def test_what_something_is_done_to_is_not_looked_for_on_the_replica(routed, db, monkeypatch):
    asked = []
    monkeypatch.setattr("bpm.queries.replica.ReadReplica.db_for_read", lambda self, model, **_: asked.append(model))
    assert instances.open_ids(uuid4()) == incidents.open_ids(5, definition_key="order") == []
    assert asked == []


def test_what_is_late_is_not_asked_of_the_replica(routed, db, monkeypatch):
    """A replica that lags would have timers late, tasks waiting and schedulers asleep that are not."""
    assert overview.ready_by_topic() == []
    assert overview.last_tick() is None
    replica = MagicMock()
    replica.__enter__.return_value.fetchone.return_value = (*range(len(overview.COUNTS)), None)
    monkeypatch.setattr(overview, "reading", lambda: replica)
    with CaptureQueriesContext(connections["default"]) as queries:
        assert overview.figures().late_timers is None
    (late,) = queries
    assert "fire_at <= clock_timestamp()" in late["sql"]


def test_nothing_that_decides_asks_by_models():
    """A router moves what is asked by models, and only that."""
    modules = [file for part in DECIDING for file in (ROOT / "bpm" / part).rglob("*.py")]
    by_models = {str(file.relative_to(ROOT)) for file in modules if re.search(r"\.objects\b", file.read_text())}
    assert by_models == BY_MODELS
