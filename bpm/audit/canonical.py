"""The canonical form of a row of history: what seals hash and archives keep.

A row is the line that `COPY (SELECT columns ...) TO STDOUT` gives for it, in UTF-8, with times in UTC and ISO style:
the database's own text of each column in a fixed order, tabs between them, `\\N` for NULL, backslashes escaped. It is
unambiguous, the same on every supported version of PostgreSQL, and can be made by anybody with psql. A form is never
changed: where the tables get more columns, a new form is added, and old seals are verified with theirs.

The leaf of a row is SHA-256 over the name of its table, a line feed, and the line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import sql

NULL = b"\\N"
# A session says these before it copies.
SETTINGS = "SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, MDY'; SET LOCAL bytea_output = 'hex'"

_COMMIT = (
    "xid", "sequence", "at", "thread_id", "run_id", "version", "process_def_id", "command", "arguments", "actor",
    "stated_reason", "key", "caused_by", "events", "counters", "engine_version", "format",
)  # fmt: skip
_SOURCED = ("thread_version", "row_version", "caused_by", "actor", "stated_reason", "engine_version", "format")


def _event(*own: str, type: str = "event_type", states: bool = True) -> tuple[str, ...]:
    moved = ("from_state", "to_state") if states else ()
    return (
        "xid", "commit_sequence", "ordinal", "id", "at", "instance_id", *([type] if type else []), *own, "token_id",
        "node_id", *moved, "reason", "payload", *_SOURCED,
    )  # fmt: skip


# Columns that are whole numbers; `at` is a time; all others are text to an archive, JSON as PostgreSQL writes it.
NUMBERS = frozenset(
    {"xid", "sequence", "version", "caused_by", "events", "format", "commit_sequence", "ordinal", "id",
     "thread_version", "row_version", "scope"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """A table of history. The first `keys` columns are whole numbers and put its rows into their order."""

    name: str
    keys: int
    columns: tuple[str, ...]

    @property
    def sequence(self) -> str:
        """The column that names the commit."""
        return self.columns[1]

    @property
    def owner(self) -> str:
        """The column that names the instance."""
        return "thread_id" if self.name == "runtime_commit" else "instance_id"


# form -> the tables, in the order in which a seal has them. Commits come first: events are judged by them.
FORMS: Mapping[int, tuple[Table, ...]] = {
    1: (
        Table("runtime_commit", 2, _COMMIT),
        Table("token_events", 4, _event()),
        Table("external_task_events", 4, _event("task_id", "worker_id", "error")),
        Table("timer_events", 4, _event("timer_id")),
        Table("work_events", 4, _event("entity", "entity_id")),
        Table("engine_events", 4, _event("entity")),
        Table(
            "runtime_state_command",
            4,
            _event("variable_id", "op", "scope", "name", "value", type="", states=False),
        ),
    )
}
FORM = 1


def leaf(table: Table, line: bytes) -> bytes:
    """The digest of a row."""
    return hashlib.sha256(b"%s\n%s" % (table.name.encode(), line)).digest()


def key(table: Table, line: bytes) -> tuple[int, ...]:
    """What puts the row into its order: transaction, commit, ordinal, id. NULL comes first."""
    return tuple(-1 if part == NULL else int(part) for part in line.split(b"\t", table.keys)[: table.keys])


_ESCAPED = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def fields(table: Table, line: bytes) -> dict[str, str | None]:
    """The row as text by column; None for NULL."""
    return {
        column: None if part == NULL else _plain(part).decode()
        for column, part in zip(table.columns, line.split(b"\t"), strict=True)
    }


def line_of(table: Table, row: Mapping[str, str | None]) -> bytes:
    """The line that `fields` read."""
    return b"\t".join(NULL if row[column] is None else _escaped(row[column] or "") for column in table.columns)


def _plain(part: bytes) -> bytes:
    if b"\\" not in part:
        return part
    found, rest = [], iter(part.split(b"\\"))
    found.append(next(rest))
    for piece in rest:
        if not piece:  # an escaped backslash: the next piece is plain
            found.append(b"\\" + next(rest, b""))
        else:
            found.append(_ESCAPED.get(piece[:1], piece[:1]) + piece[1:])
    return b"".join(found)


def _escaped(text: str) -> bytes:
    found = text.encode().replace(b"\\", b"\\\\")
    for letter, plain in _ESCAPED.items():
        found = found.replace(plain, b"\\" + letter)
    return found


def copy_statement(table: Table, where: sql.Composable, *, source: str | None = None) -> sql.Composed:
    """COPY of the rows that `where` names, in their order."""
    columns = sql.SQL(", ").join(sql.Identifier(column) for column in table.columns)
    order = sql.SQL(", ").join(
        sql.SQL("{} NULLS FIRST").format(sql.Identifier(column)) if number else sql.Identifier(column)
        for number, column in enumerate(table.columns[: table.keys])
    )
    return sql.SQL("COPY (SELECT {} FROM {} WHERE {} ORDER BY {}) TO STDOUT").format(
        columns, sql.Identifier(source or table.name), where, order
    )
