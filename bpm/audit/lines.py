"""Rows of history as their canonical lines, streamed from the database in their order."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from psycopg import sql

from bpm.audit.canonical import SETTINGS, Table, copy_statement
from bpm.store.channel import Channel
from bpm.store.errors import understood


def prepare(channel: Channel) -> None:
    """Once in a transaction that copies: how values are written, and that the index by transaction is used."""
    for setting in SETTINGS.split("; "):
        channel.raw.execute(setting.encode())
    channel.raw.execute(b"SET LOCAL enable_seqscan = off")


def stored_lines(
    channel: Channel, table: Table, where: sql.Composable, *, source: str | None = None
) -> Iterator[bytes]:
    """The lines of the rows that `where` names; `source`: of one partition alone. Raises StoreError."""
    try:
        with channel.raw.cursor() as cursor, cursor.copy(copy_statement(table, where, source=source)) as copy:
            for line in copy:
                yield bytes(line).removesuffix(b"\n")
    except psycopg.Error as error:
        raise channel.translate(understood(error)) from error
