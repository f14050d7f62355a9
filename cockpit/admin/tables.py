"""The tables: for each model which columns a list shows and what it may be narrowed by. Nothing can be changed here."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import JSONField, Model

from bpm import models
from cockpit.admin.read_only import ReadOnlyAdmin


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """How a model's list looks. `search` are columns with an index: a search must not read the whole table."""

    columns: tuple[str, ...]
    filters: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    order: tuple[str, ...] = ("-id",)
    hidden: tuple[str, ...] = ()
    icon: str = "table"


EVENT = ("at", "event_type", "node_id", "to_state", "reason", "actor", "commit_sequence", "instance_id")
TASK_EVENT = ("at", "event_type", "node_id", "to_state", "error", "actor", "commit_sequence", "instance_id")
# The key of history begins with the id: the newest rows are found without sorting.
BY_TIME = ("-id",)

TABLES: dict[type[Model], Table] = {
    models.ProcessDefinition: Table(
        columns=("key", "version", "name", "version_tag", "resource", "created_at", "created_by"),
        search=("key",),
        order=("key", "-version"),
        hidden=("graph", "source"),
        icon="account_tree",
    ),
    models.ProcessInstance: Table(
        columns=("id", "definition_key", "business_key", "state", "started_at", "ended_at", "started_by"),
        filters=("state",),
        search=("=id", "=business_key"),
        order=("-started_at", "id"),
        icon="route",
    ),
    models.Token: Table(
        columns=("node_id", "state", "instance_id", "ordinal", "step", "updated_at"),
        filters=("state",),
        search=("=instance__id",),
        order=("-id",),
        icon="trip_origin",
    ),
    models.TokenLink: Table(
        columns=("link_type", "instance_id", "parent_token_id", "child_token_id", "created_at"),
        filters=("link_type",),
        search=("=instance__id",),
        icon="link",
    ),
    models.ExternalTask: Table(
        columns=("topic", "node_id", "state", "retries", "lock_owner", "lock_expire_at", "created_at", "instance_id"),
        filters=("state",),
        search=("=topic", "=instance__id"),
        icon="deployed_code",
    ),
    models.UserTask: Table(
        columns=("node_id", "state", "assignee", "candidate_groups", "created_at", "instance_id"),
        filters=("state",),
        search=("=assignee", "=instance__id"),
        icon="person_check",
    ),
    models.Timer: Table(
        columns=("node_id", "state", "fire_at", "created_at", "instance_id"),
        filters=("state",),
        search=("=instance__id",),
        order=("fire_at", "id"),
        icon="schedule",
    ),
    models.Variable: Table(
        columns=("name", "value", "scope", "present", "commit_at", "instance_id"),
        search=("=instance__id",),
        icon="data_object",
    ),
    models.Incident: Table(
        columns=("kind", "node_id", "state", "message", "created_at", "instance_id"),
        filters=("state", "kind"),
        search=("=instance__id",),
        icon="error",
    ),
    models.WaitTicket: Table(
        columns=("kind", "name", "correlation", "state", "created_at", "instance_id"),
        filters=("state", "kind"),
        search=("=name", "=instance__id"),
        icon="confirmation_number",
    ),
    models.Message: Table(
        columns=("box", "kind", "name", "correlation", "state", "created_at", "sender", "instance_id"),
        filters=("state", "box", "kind"),
        search=("=name", "=instance__id"),
        icon="mail",
    ),
    models.StartSubscription: Table(
        columns=("definition_key", "kind", "name", "node_id", "fire_at", "state"),
        filters=("state", "kind"),
        search=("=definition_key",),
        icon="notifications",
    ),
    models.ApiToken: Table(
        columns=("name", "role", "user", "created_at", "last_used_at", "revoked_at"),
        filters=("role",),
        order=("name",),
        hidden=("digest",),
        icon="key",
    ),
    models.Commit: Table(
        columns=("sequence", "at", "command", "actor", "thread_id", "version", "events", "stated_reason"),
        search=("=thread_id", "=sequence"),
        order=("-sequence",),
        icon="commit",
    ),
    models.StateCommand: Table(
        columns=("at", "op", "name", "value", "actor", "commit_sequence", "instance_id"),
        filters=("op",),
        search=("=instance_id",),
        order=BY_TIME,
        icon="history",
    ),
    models.ThreadVersion: Table(
        columns=("thread_id", "version", "last_at"),
        search=("=thread_id",),
        order=("-last_at", "thread_id"),
        icon="numbers",
    ),
    models.OperationReceipt: Table(
        columns=("key", "actor", "created_at", "instance_id"),
        search=("=key",),
        order=("-created_at", "id"),
        icon="receipt",
    ),
    models.RunRecord: Table(
        columns=("run_id", "number", "state", "last_command", "started_at", "ended_at", "thread_id"),
        search=("=thread_id",),
        order=("-started_at", "run_id"),
        icon="replay",
    ),
    models.TokenEvent: Table(columns=EVENT, search=("=instance_id",), order=BY_TIME, icon="history"),
    models.ExternalTaskEvent: Table(columns=TASK_EVENT, search=("=instance_id",), order=BY_TIME, icon="history"),
    models.TimerEvent: Table(columns=EVENT, search=("=instance_id",), order=BY_TIME, icon="history"),
    models.WorkEvent: Table(columns=(*EVENT, "entity"), search=("=instance_id",), order=BY_TIME, icon="history"),
    models.EngineEvent: Table(columns=(*EVENT, "entity"), search=("=instance_id",), order=BY_TIME, icon="history"),
}

# Not shown: the view of all history, what only test databases hold, and contents, which variables lead to.
LEFT_OUT = (models.RuntimeEvent, models.ClockOffset, models.VariableFile)
RUNTIME = (
    models.ProcessDefinition, models.ProcessInstance, models.Token, models.TokenLink, models.ExternalTask,
    models.UserTask, models.Timer, models.Variable, models.Incident, models.WaitTicket, models.Message,
    models.StartSubscription, models.ThreadVersion, models.OperationReceipt, models.RunRecord, models.ApiToken,
)  # fmt: skip
# Columns that are shown by a method of the admin: as a link, as a badge.
SHOWN_AS = {"instance_id": "instance_link", "thread_id": "thread_link", "state": "state_badge", "at": "moment_at"}
COLUMNS_OF_OTHERS = 8


def shown_models() -> tuple[tuple[type[Model], ...], tuple[type[Model], ...]]:
    """All models that have a table here: of runtime, and of history and whatever else there is."""
    there = [m for m in apps.get_app_config("bpm").get_models() if m not in RUNTIME and m not in LEFT_OUT]
    described = [model for model in TABLES if model in there]
    return RUNTIME, (*described, *(model for model in there if model not in TABLES))


def table_of(model: type[Model]) -> Table:
    """How the model's list looks; one that the table above does not know shows its first columns."""
    if model in TABLES:
        return TABLES[model]
    # A document is for the row's own page: it is too large for a list, and a base state's `state` is no word.
    columns = tuple(field.attname for field in model._meta.concrete_fields if not isinstance(field, JSONField))
    return Table(columns=columns[:COLUMNS_OF_OTHERS], order=(f"-{model._meta.pk.name}",))


def register(site: Any) -> None:
    """Put every table into the site."""
    for model in itertools.chain(*shown_models()):
        table = table_of(model)
        look = {
            "list_display": tuple(SHOWN_AS.get(column, column) for column in table.columns),
            "list_filter": table.filters,
            "search_fields": table.search,
            "ordering": table.order,
            "exclude": table.hidden,
        }
        site.register(model, ReadOnlyAdmin, **look)
