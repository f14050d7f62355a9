"""Rows of events as CSV (RFC 4180, UTF-8) and as Parquet."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator
from typing import IO, Any

from bpm.audit.export.records import COLUMNS, Shaping
from bpm.audit.export.selection import Selection
from bpm.audit.export.writing import AddInstance, MissingLibrary, Writer
from bpm.audit.histories import LiveHistory

# Rows that are held before they become a piece of the file.
AT_ONCE = 20_000
# A cell that begins so is a formula to a spreadsheet; a quote before it makes it text.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@contextlib.contextmanager
def csv_rows(file: IO[bytes], selection: Selection) -> Iterator[Writer]:
    """A head line, and a line an event."""
    lines = csv.writer(_Encoded(file), lineterminator="\r\n")
    lines.writerow(COLUMNS)

    def add(row: dict[str, Any]) -> None:
        lines.writerow([_cell(name, row[name]) for name in COLUMNS])

    yield Writer(_each(selection, add))


class _Encoded:
    """Takes text and writes UTF-8."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write it at once."""
        return self._file.write(text.encode())


def _cell(name: str, value: Any) -> Any:
    if COLUMNS[name] == "time":
        return value.isoformat()
    if isinstance(value, str) and name not in ("value", "payload") and value.startswith(_FORMULAS):
        return f"'{value}"
    return value


@contextlib.contextmanager
def parquet_rows(file: IO[bytes], selection: Selection) -> Iterator[Writer]:
    """Typed columns, compressed with zstd; `value` and `payload` are JSON texts."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingLibrary("Parquet needs pyarrow: install tokentrail[archive]") from None
    types = {"text": pyarrow.string(), "number": pyarrow.int64(), "time": pyarrow.timestamp("us", tz="UTC")}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    rows: list[dict[str, Any]] = []
    with parquet.ParquetWriter(file, schema, compression="zstd") as pieces:

        def flush() -> None:
            if rows:
                pieces.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows.clear()

        def add(row: dict[str, Any]) -> None:
            rows.append(row)
            if len(rows) >= AT_ONCE:
                flush()

        yield Writer(_each(selection, add))
        flush()


def _each(selection: Selection, add: Any) -> AddInstance:
    """Of each instance the rows that were asked for."""

    def instance(history: LiveHistory) -> Iterator[int]:
        shaping = Shaping(history)
        for commit in history.commits:
            number = 0
            for row in shaping.rows(commit):
                if selection.has(row["at"], row["worker"], row["actor"]):
                    add(row)
                    number += 1
            yield number

    return instance
