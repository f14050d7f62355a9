"""What stops a command and is no fault of it, in words: the database is away, is another kind, or was not migrated."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from django.db import connection
from django.db.utils import Error, InterfaceError, OperationalError
from psycopg import errors

from bpm.store import schema
from bpm.store.errors import NOT_NOW


def in_words(trouble: Exception) -> str | None:
    """What is wrong and what helps; None where nobody foresaw it, and its traceback says more."""
    if connection.vendor != "postgresql":
        return f"the engine works in PostgreSQL alone, and DATABASES['default'] is {connection.vendor}"
    for error in _chain(trouble):
        state = getattr(error, "sqlstate", None)
        if isinstance(error, errors.InsufficientPrivilege):
            return f"the database refuses it to this role: {_line(error)}"
        if state in NOT_NOW:
            return f"{NOT_NOW[state]}: {_line(error)}"
        if state is None and isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError):
            return f"the database cannot be reached: {_line(error)}"
    try:
        verdict = schema.verify()
    except (Error, psycopg.Error, LookupError):
        return None
    return None if verdict.fit else str(schema.SchemaDiffers(verdict.differences))


def _chain(trouble: BaseException | None) -> Iterator[BaseException]:
    while trouble is not None:
        yield trouble
        trouble = trouble.__cause__ or trouble.__context__


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
