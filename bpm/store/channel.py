"""The connection that a step works on, and whose transaction it is.

A channel wraps one psycopg connection. In autocommit and outside of a transaction, each commit of the store is a
transaction of its own: BEGIN travels in the same pipeline as the load, COMMIT in that of the flush. Otherwise the store
joins the caller's transaction behind a savepoint, and what waits for the commit (announcements) waits for the caller's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import TransactionStatus

from bpm.store import faults
from bpm.store.trip import Row, Said, exchange


@dataclass(frozen=True, slots=True)
class Channel:
    """`joined`: a transaction of the caller's is open and goes on. `alone`: it may change one instance only."""

    raw: psycopg.Connection[Any]
    joined: bool
    alone: bool
    after_commit: Callable[[Callable[[], object]], object]
    translate: Callable[[Exception], Exception] = lambda error: error

    def send(self, *statements: tuple[LiteralString, Any]) -> list[list[tuple[Any, ...]]]:
        """Run the statements in one round trip; the rows of each. Raises psycopg.Error of the first that failed."""
        if faults.POINT is not None:
            faults.POINT(self.raw, "before", statements)
        # One alone needs no pipeline; where psycopg has a BEGIN to say before it, that travels with it in one.
        alone = len(statements) == 1 and self.raw.autocommit
        with contextlib.nullcontext() if alone else self.raw.pipeline():
            cursors = [psycopg.Cursor(self.raw).execute(sql, arguments) for sql, arguments in statements]
        if faults.POINT is not None:
            faults.POINT(self.raw, "after", statements)
        return [cursor.fetchall() if cursor.description else [] for cursor in cursors]

    def say(self, *statements: Said) -> list[list[Row]]:
        """The same in libpq's own words, arguments and results as text: for what every step says."""
        if faults.POINT is not None:
            faults.POINT(self.raw, "before", statements)
        rows = exchange(self.raw, statements)
        if faults.POINT is not None:
            faults.POINT(self.raw, "after", statements)
        return rows


def django_channel(using: str = "default") -> Channel:
    """Django's connection of that alias. Blocks that Django's TestCase opened count as nobody's.

    With autocommit off nobody hears of the caller's commit: what waits for it is left to the schedulers. A connection
    that broke (the server was restarted, say) is replaced by a new one, unless a transaction of the caller's was lost
    with it: that is for the caller to notice.
    """
    # transaction.get_connection() is a proxy of threads; the wrapper behind it holds the psycopg connection.
    wrapper: BaseDatabaseWrapper = transaction.get_connection(using)
    if wrapper.connection is not None and wrapper.connection.closed and wrapper.autocommit:
        wrapper.close()
    # As for a cursor: the first use in a request or a job looks whether the server is still there, if it is to.
    wrapper.close_if_health_check_failed()
    if wrapper.connection is None:
        wrapper.ensure_connection()
    blocks = [block for block in wrapper.atomic_blocks if not getattr(block, "_from_testcase", False)]
    return Channel(
        raw=wrapper.connection,
        joined=wrapper.in_atomic_block or not wrapper.autocommit,
        alone=bool(blocks) or not (wrapper.in_atomic_block or wrapper.autocommit),
        after_commit=wrapper.on_commit if wrapper.in_atomic_block or wrapper.autocommit else _never,
        translate=lambda error: _as_django(wrapper, error),
    )


def _never(act: Callable[[], object]) -> None:
    """The commit after which it would be right to act is not heard of."""


def _as_django(wrapper: BaseDatabaseWrapper, error: Exception) -> Exception:
    """Errors of psycopg as Django's; the wrapper learns that its connection may be unusable."""
    try:
        with wrapper.wrap_database_errors:
            raise error
    except Exception as translated:
        return translated


def plain_channel(raw: psycopg.Connection[Any]) -> Channel:
    """A psycopg connection. What waits for the commit of a joined transaction is for the caller, who commits it."""
    joined = not raw.autocommit or raw.info.transaction_status != TransactionStatus.IDLE
    return Channel(raw=raw, joined=joined, alone=joined, after_commit=_never if joined else lambda act: act())
