"""One round trip in libpq's own words: what a step says costs the client a fraction of what cursors take.

The statements travel together (pipeline mode), arguments and results are text. Nothing is asked for but the one Sync at
the end: psycopg's own pipeline adds a Flush, at which PostgreSQL forgets that the session idles in a transaction
(`idle_in_transaction_session_timeout` would never end it).

A statement is prepared when a connection says it first, under a name made of its text, so that whatever else has
prepared that name has prepared the same. Where the session turns out to forget (behind some poolers, or where others
deallocate), the connection prepares nothing from then on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, LiteralString, NamedTuple
from weakref import WeakKeyDictionary

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Ready, Wait

type Row = tuple[str | None, ...]
type Connection = psycopg.Connection[Any]

GOOD = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
# There is no statement of that name (any more), or there is one already.
FORGETFUL = frozenset({"26000", "42P05"})

# What each connection has prepared; None where it must not.
_PREPARED: WeakKeyDictionary[Connection, set[bytes] | None] = WeakKeyDictionary()


class Said(NamedTuple):
    """A statement with its arguments ($1, $2, ...)."""

    sql: LiteralString
    arguments: Sequence[str | None] = ()


_BEGIN = Said("BEGIN")


def exchange(raw: Connection, statements: Sequence[Said]) -> list[list[Row]]:
    """Run the statements in one round trip; the rows of each. Raises psycopg.Error of the first that failed."""
    begins = not raw.autocommit and raw.pgconn.transaction_status == TransactionStatus.IDLE
    if raw.pgconn.pipeline_status != PipelineStatus.OFF or (begins and _in_words_of_its_own(raw)):
        return _by_cursors(raw, statements)
    said = (_BEGIN, *statements) if begins else statements
    prepared = _PREPARED.setdefault(raw, set())
    results: list[PGresult] = []
    exchanging = _exchange(raw.pgconn, said, prepared, results)
    try:
        with raw.lock:
            raw.wait(exchanging)
    except psycopg.OperationalError:
        # The server's last words say more than that it has gone.
        _require_good(raw, results)
        raise
    finally:
        # Where a signal has interrupted the waiting: at once, not when the last who holds the error lets it go.
        exchanging.close()
    _require_good(raw, results)
    return [_rows(result) for result in results[begins:]]


def _in_words_of_its_own(raw: Connection) -> bool:
    """Whether psycopg would begin the caller's transaction with more than BEGIN."""
    return (raw.isolation_level, raw.read_only, raw.deferrable) != (None, None, None)


def _by_cursors(raw: Connection, statements: Sequence[Said]) -> list[list[Row]]:
    with raw.pipeline():
        cursors = [psycopg.RawCursor(raw).execute(said.sql, said.arguments or None) for said in statements]
    return [cursor.fetchall() if cursor.description else [] for cursor in cursors]


def _exchange(
    connection: PGconn, statements: Sequence[Said], prepared: set[bytes] | None, results: list[PGresult]
) -> PQGen[None]:
    """Say it and collect what comes back, as a generator that yields what it waits for."""
    connection.enter_pipeline_mode()
    try:
        names = [name for said in statements for name in _send(connection, said, prepared)]
        connection.pipeline_sync()
        while connection.flush():
            if (yield Wait.RW) & Ready.R:
                connection.consume_input()
        for name in names:
            result = yield from _next(connection)
            assert result is not None  # noqa: S101
            yield from _next(connection)  # nothing: the end of what that statement gives
            if name is None or result.status not in GOOD:
                results.append(result)
            elif prepared is not None:
                prepared.add(name)
        # The Sync, which ends a transaction that is one statement: what hinders its commit is told before.
        ended = False
        while (result := (yield from _next(connection))) is None or result.status != ExecStatus.PIPELINE_SYNC:
            if result is not None:
                results.append(result)
            elif ended or connection.status != ConnStatus.OK:
                raise psycopg.OperationalError("the connection is lost: the end of what was said is not answered")
            ended = result is None
    finally:
        try:
            connection.exit_pipeline_mode()
        except psycopg.OperationalError:
            # It was left in the middle of something: nobody can go on with it.
            connection.finish()


def _next(connection: PGconn) -> PQGen[PGresult | None]:
    """The next result, when it is there; None behind the last one of a statement."""
    while connection.is_busy():
        yield Wait.R
        connection.consume_input()
    return connection.get_result()


def _send(connection: PGconn, said: Said, prepared: set[bytes] | None) -> list[bytes | None]:
    """Send one statement; for each result that will come, the name that it prepares (None: it is the statement's)."""
    arguments = [None if argument is None else argument.encode() for argument in said.arguments]
    text, name = _named(said.sql)
    if prepared is None or not arguments:
        # BEGIN and ROLLBACK above all: they must work in a session that has forgotten the rest.
        connection.send_query_params(text, arguments)
        return [None]
    if name in prepared:
        connection.send_query_prepared(name, arguments)
        return [None]
    connection.send_prepare(name, text)
    connection.send_query_prepared(name, arguments)
    return [name, None]


@cache
def _named(sql: str) -> tuple[bytes, bytes]:
    text = sql.encode()
    return text, b"tokentrail_" + hashlib.sha256(text).hexdigest()[:16].encode()


def _require_good(raw: Connection, results: Sequence[PGresult]) -> None:
    for result in results:
        if result.status not in GOOD:
            error = error_from_result(result, encoding=raw.info.encoding)
            if error.sqlstate in FORGETFUL:
                _PREPARED[raw] = None
            raise error


def _rows(result: PGresult) -> list[Row]:
    columns = range(result.nfields)
    return [
        tuple(None if (value := result.get_value(row, column)) is None else value.decode() for column in columns)
        for row in range(result.ntuples)
    ]
