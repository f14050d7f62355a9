"""A limit of time for what somebody waits for: a search that reads much is given up, and says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connections, router, transaction
from psycopg.errors import QueryCanceled

from bpm.models import ProcessInstance

# Seconds that a search by variables may take: some of them read every value of a name.
SEARCHED = 3.0


class TookTooLong(Exception):
    """What was to be read was given up at its limit."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """What is read in the block takes no longer than this, all its statements together. Raises TookTooLong."""
    alias = router.db_for_read(ProcessInstance)
    connection = connections[alias]
    until = time.monotonic() + seconds
    why = f"given up after {seconds:g} seconds"

    def within(execute: Callable[..., Any], *statement: Any) -> Any:
        """Each statement has what the ones before it have left."""
        left = int(1000 * (until - time.monotonic()))
        if left <= 0:
            raise TookTooLong(why)
        # Not by Django's cursor, which would come here again.
        with connection.connection.cursor() as plain:
            plain.execute("SELECT set_config('statement_timeout', %s, true)", [f"{left}ms"])
        return execute(*statement)

    try:
        with transaction.atomic(using=alias):
            with connection.execute_wrapper(within):
                yield
            # Within a transaction of somebody else's, which goes on.
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong(why) from error
        raise
