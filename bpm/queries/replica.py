"""Lists and pages from a replica: what people look at need not be asked of the database that the engine commits to.

    DATABASES = {"default": ..., "replica": ...}
    DATABASE_ROUTERS = ["bpm.queries.replica.ReadReplica"]

What comes of `bpm.queries` (the cockpit's lists, most of the API's GET) is then as old as the replica is behind.
Nothing that decides is read there: the engine, the store, the audit and the jobs ask in SQL of their own, on the
default connection; instances and incidents that something is to be done to are looked for there, too, and what is late
or waits for a worker (of a replica that lags nobody would know what is behind: it or the engine). Nor are tokens
of the API read there (one that was revoked must not be taken for another second) and contents of files (one that a
variable names must be there).
"""

from __future__ import annotations

from typing import Any

from django.db import connections, router
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from bpm.models import ProcessInstance

ALIAS = "replica"
# What must not be stale.
NEVER = frozenset({"apitoken", "variablefile"})


def reading() -> CursorWrapper:
    """A cursor for a statement of our own, where a router would send what is asked by models."""
    return connections[router.db_for_read(ProcessInstance)].cursor()


class ReadReplica:
    """A router of Django: models of the engine are read from the replica, and written nowhere by it."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        """The replica for what people look at; None leaves it to the next router."""
        about = model._meta
        return ALIAS if about.app_label == "bpm" and about.model_name not in NEVER else None

    def allow_relation(self, one: Model, other: Model, **hints: Any) -> bool | None:
        """Rows of both are of one database."""
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """A replica gets its tables by replication."""
        return False if db == ALIAS else None
