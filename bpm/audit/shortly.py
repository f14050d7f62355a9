"""Reading much history while somebody waits for a page: within a time, or nothing is claimed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from bpm.audit.verifying import Verification, verify_seals


class _TooLong(Exception):
    pass


def verify_within(seconds: float) -> Verification | None:
    """What `verify_seals` finds; None where reading all takes longer than that (`bpm verify-seals` takes its time)."""
    until = time.monotonic() + seconds

    def advance(rows: int) -> None:
        if time.monotonic() > until:
            raise _TooLong

    try:
        return verify_seals(advance=advance)
    except _TooLong:
        return None


def newest_within[T](seconds: float, rows: Iterable[T], most: int) -> tuple[list[T], int] | None:
    """The last `most` of the rows of a report, the newest first, and how many there are; None where reading them takes
    longer than that (`bpm report` takes its time).
    """
    until = time.monotonic() + seconds
    newest: deque[T] = deque(maxlen=most)
    number = 0
    try:
        with transaction.atomic():
            _limit(f"{max(1, round(1000 * seconds))}ms")
            for row in rows:
                if time.monotonic() > until:
                    raise _TooLong
                newest.append(row)
                number += 1
            _limit("0")
    except (OperationalError, QueryCanceled, _TooLong) as given_up:
        if not isinstance(given_up, OperationalError) or isinstance(given_up.__cause__, QueryCanceled):
            return None
        raise
    return list(reversed(newest)), number


def _limit(text: str) -> None:
    """How long a statement of this transaction may take."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [text])
