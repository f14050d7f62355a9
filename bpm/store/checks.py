"""What `manage.py check` says of a project's settings where the engine works, yet not as well as it could."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning


def connections_are_kept(**_: Any) -> list[CheckMessage]:
    """A warning where Django closes the database connection after each request: a session plans and prepares for
    itself, so that a step on a new one costs the server many times what it costs on one that is kept.
    """
    database = settings.DATABASES.get("default", {})
    if database.get("CONN_MAX_AGE", 0) != 0 or database.get("OPTIONS", {}).get("pool"):
        return []
    return [
        Warning(
            "each request and each job opens a database connection of its own, on which a step costs the server many"
            " times what it costs on one that is kept.",
            hint="Set CONN_MAX_AGE (with CONN_HEALTH_CHECKS) or OPTIONS['pool'] of DATABASES['default'].",
            id="bpm.W001",
        )
    ]
