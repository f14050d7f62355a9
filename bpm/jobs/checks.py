"""What Django's `check` says of a project's settings, before anything fails on them.

| id | means |
|---|---|
| bpm.E001 | the database is not PostgreSQL |
| bpm.E002 | USE_TZ is off: moments of history would lose their zone |
| bpm.E003 | BPM_CELERY_APP names nothing that can be imported, or no Celery app |
| bpm.E004 | a setting is no number |
| bpm.W001 | a setting of a name that nobody reads: misspelt, most likely |
| bpm.W002 | database connections are not kept from request to request |
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import connection
from django.utils.module_loading import import_string

NUMBERS = frozenset({
    "BPM_API_BODY_LIMIT", "BPM_DEEPEST_CALL", "BPM_FILE_LIMIT", "BPM_HEALTH_KEPT", "BPM_KEEP_ENDED_DAYS",
    "BPM_KEEP_RECEIPTS_DAYS", "BPM_MESSAGES_LIVE_DAYS", "BPM_MOST_TIMEOUTS", "BPM_VARIABLES_LIMIT",
    "BPM_VARIABLE_LIMIT",
})  # fmt: skip
OTHERS = frozenset({"BPM_ARCHIVE_TO", "BPM_CELERY_APP", "BPM_EXPORT_TO", "BPM_SCENARIO_SERVER"})


def check_settings(**_: Any) -> list[CheckMessage]:
    """Everything that is wrong, at once."""
    return [*_database(), *_celery(), *_names()]


def _database() -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if connection.vendor != "postgresql":
        found.append(
            Error(
                f"The engine works in PostgreSQL alone; the database 'default' is {connection.vendor}.",
                hint='Let DATABASES["default"] name a PostgreSQL 15 or newer, the one that your own tables are in.',
                id="bpm.E001",
            )
        )
    if not settings.USE_TZ:
        found.append(
            Error("USE_TZ is off: moments of history have a time zone.", hint="Set USE_TZ = True.", id="bpm.E002")
        )
    database = settings.DATABASES.get("default", {})
    if database.get("CONN_MAX_AGE", 0) == 0 and not database.get("OPTIONS", {}).get("pool"):
        found.append(
            Warning(
                "Each request and each job opens a database connection of its own. A session plans and prepares for"
                " itself: a step on a new one costs the server many times what it costs on one that is kept.",
                hint="Set CONN_MAX_AGE and CONN_HEALTH_CHECKS, or OPTIONS['pool'], of DATABASES['default'].",
                id="bpm.W002",
            )
        )
    return found


def _celery() -> list[CheckMessage]:
    named = getattr(settings, "BPM_CELERY_APP", None)
    if not named:
        return []
    try:
        app = import_string(named)
    except ImportError as trouble:
        what = f"BPM_CELERY_APP = {named!r} cannot be imported: {trouble}."
    else:
        if hasattr(app, "send_task"):
            return []
        what = f"BPM_CELERY_APP = {named!r} is no Celery app, but {type(app).__name__}."
    return [Error(what, hint='Name the app by its module and name, such as "shop.celery.app".', id="bpm.E003")]


def _names() -> list[CheckMessage]:
    found: list[CheckMessage] = []
    for name in sorted(dir(settings)):
        if name in NUMBERS:
            value = getattr(settings, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                found.append(Error(f"{name} = {value!r} is no number.", id="bpm.E004"))
        elif name.startswith("BPM_") and name not in OTHERS:
            hint = f"There are {', '.join(sorted(NUMBERS | OTHERS))}."
            found.append(Warning(f"Nobody reads a setting {name}.", hint=hint, id="bpm.W001"))
    return found


def install() -> None:
    """Let `manage.py check`, and what runs it (migrate, runserver), ask."""
    register(check_settings)
