"""A limit of time for what somebody waits for: a search that reads much is given up, and says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connections, router, transaction
from psycopg.errors import QueryCanceled

from bpm.models import ProcessInstance


class TookTooLong(Exception):
    """A statement was given up at its limit."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """No statement that is read in the block takes longer than this. Raises TookTooLong."""
    alias = router.db_for_read(ProcessInstance)
    try:
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{int(1000 * seconds)}ms"])
            yield
            # Within a transaction of somebody else's, which goes on.
            cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong(f"given up after {seconds:g} seconds") from error
        raise
