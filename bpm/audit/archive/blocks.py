"""One table's rows as a file of blocks, each readable by itself: zstd frames of JSON Lines, or row groups of Parquet.

Rows are in the order of seals. Every column is kept exactly: numbers as numbers, the time as a time in Parquet, all
else as PostgreSQL's own text, so that the canonical line of a row, and with it its seal, comes out again to the byte.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any, cast

from bpm.audit import canonical
from bpm.audit.canonical import NUMBERS, Table
from bpm.audit.places import Digesting, Place

# Rows of a block: what reading one instance costs at least.
ROWS = 4_000
SUFFIX = {"jsonl": ".jsonl.zst", "parquet": ".parquet"}

type Note = Callable[[int, bytes], None]
# A column, and the values that are looked for; others may come along.
type Only = tuple[str, Collection[str] | Collection[int]]
type ReadBlock = Callable[[tuple[int, int, int], Only | None], Iterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A file, and where its blocks are: (offset or row group, rows, transaction of the first row)."""

    name: str
    rows: int
    digest: str
    bytes: int
    sha256: str
    blocks: tuple[tuple[int, int, int], ...]
    last_xid: int

    def overlaps(self, xid_from: int, xid_until: int) -> bool:
        """Whether it may have rows of transactions in [xid_from, xid_until)."""
        return bool(self.blocks) and self.blocks[0][2] < xid_until and self.last_xid >= xid_from

    def to_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "file": self.name,
            "rows": self.rows,
            "digest": self.digest,
            "bytes": self.bytes,
            "sha256": self.sha256,
            "blocks": [list(block) for block in self.blocks],
            "last_xid": self.last_xid,
        }

    @staticmethod
    def from_json(said: dict[str, Any]) -> TableFile:
        """What `to_json` wrote."""
        return TableFile(
            name=said["file"],
            rows=said["rows"],
            digest=said["digest"],
            bytes=said["bytes"],
            sha256=said["sha256"],
            blocks=tuple((offset, rows, xid) for offset, rows, xid in said["blocks"]),
            last_xid=said["last_xid"],
        )


def write(to: Place, name: str, table: Table, lines: Iterator[bytes], format: str, note: Note) -> TableFile:
    """Write the lines; `note` is told the block and the line of each row. ImportError without the format's library."""
    digest, rows, last = hashlib.sha256(), 0, -1
    blocks: list[tuple[int, int, int]] = []
    with to.writing(name) as raw:
        file = Digesting(raw)
        with contextlib.closing(WRITERS[format](file, table)) as writer:
            for block in _blocks(lines):
                for line in block:
                    digest.update(canonical.leaf(table, line))
                    note(len(blocks), line)
                place = writer.add(block)
                blocks.append((place, len(block), canonical.key(table, block[0])[0]))
                rows += len(block)
                last = canonical.key(table, block[-1])[0]
    return TableFile(
        name=name,
        rows=rows,
        digest=digest.hexdigest(),
        bytes=file.size,
        sha256=file.hash,
        blocks=tuple(blocks),
        last_xid=last,
    )


def read(
    at: Place,
    file: TableFile,
    table: Table,
    format: str,
    wanted: Sequence[int] | None = None,
    *,
    start: int = 0,
    only: Only | None = None,
) -> Iterator[bytes]:
    """The lines of these blocks, or of all from the start-th on, in their order; of the rows that `only` names."""
    numbers = range(start, len(file.blocks)) if wanted is None else wanted
    if not numbers:
        return
    with at.reading(file.name) as raw:
        reader = READERS[format](raw, table)
        for number in numbers:
            yield from reader(file.blocks[number], only)


def digest_of(table: Table, lines: Iterator[bytes]) -> tuple[int, str]:
    """(rows, digest) of lines."""
    digest, rows = hashlib.sha256(), 0
    for line in lines:
        digest.update(canonical.leaf(table, line))
        rows += 1
    return rows, digest.hexdigest()


def _blocks(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    for line in lines:
        block.append(line)
        if len(block) == ROWS:
            yield block
            block = []
    if block:
        yield block


class _JsonLines:
    """Each block is a zstd frame."""

    def __init__(self, file: Digesting, table: Table) -> None:
        import zstandard

        self._file, self._table = file, table
        self._pack = zstandard.ZstdCompressor(level=9).compress

    def add(self, block: list[bytes]) -> int:
        """Write a block; where it begins."""
        place = self._file.size
        rows = (json.dumps(_typed(self._table, line), ensure_ascii=False) for line in block)
        self._file.write(self._pack("".join(f"{row}\n" for row in rows).encode()))
        return place

    def close(self) -> None:
        """Nothing follows."""


def _read_json_lines(raw: IO[bytes], table: Table) -> ReadBlock:
    import zstandard

    def block(said: tuple[int, int, int], only: Only | None) -> Iterator[bytes]:
        raw.seek(said[0])
        # As it was written: a row is read only where it may be one of those.
        marks = [f'"{only[0]}": {json.dumps(value)}' for value in only[1]] if only else []
        with zstandard.ZstdDecompressor().stream_reader(raw, closefd=False) as stream:
            for line in io.TextIOWrapper(cast(Any, stream), "utf-8", newline="\n"):
                if only is None or any(mark in line for mark in marks):
                    yield _line(table, json.loads(line))

    return block


class _Parquet:
    """Each block is a row group."""

    def __init__(self, file: Digesting, table: Table) -> None:
        import pyarrow
        from pyarrow import parquet

        self._arrow, self._table, self._groups = pyarrow, table, 0
        types = {True: pyarrow.int64(), False: pyarrow.string()}
        columns = [(column, types[column in NUMBERS]) for column in table.columns if column != "at"]
        columns.insert(table.columns.index("at"), ("at", pyarrow.timestamp("us", tz="UTC")))
        self._schema = pyarrow.schema(columns)
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")

    def add(self, block: list[bytes]) -> int:
        """Write a block; its number."""
        rows = [_typed(self._table, line) for line in block]
        for row in rows:
            row["at"] = datetime.fromisoformat(row["at"])
        self._writer.write_table(self._arrow.Table.from_pylist(rows, self._schema), row_group_size=len(rows))
        self._groups += 1
        return self._groups - 1

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()


def _read_parquet(raw: IO[bytes], table: Table) -> ReadBlock:
    import pyarrow
    from pyarrow import compute, parquet

    file = parquet.ParquetFile(raw)

    def block(said: tuple[int, int, int], only: Only | None) -> Iterator[bytes]:
        rows = file.read_row_group(said[0])
        if only is not None:
            column = rows.column(only[0])
            rows = rows.filter(compute.is_in(column, pyarrow.array(list(only[1]), column.type)))
        for row in rows.to_pylist():
            row["at"] = _time(row["at"])
            yield _line(table, row)

    return block


WRITERS: dict[str, Callable[[Digesting, Table], Any]] = {"jsonl": _JsonLines, "parquet": _Parquet}
READERS: dict[str, Callable[[IO[bytes], Table], ReadBlock]] = {
    "jsonl": _read_json_lines,
    "parquet": _read_parquet,
}


def _typed(table: Table, line: bytes) -> dict[str, Any]:
    """The row with its numbers as numbers."""
    row: dict[str, Any] = dict(canonical.fields(table, line))
    for column in table.columns:
        if column in NUMBERS and row[column] is not None:
            row[column] = int(row[column])
    return row


def _line(table: Table, row: dict[str, Any]) -> bytes:
    return canonical.line_of(table, {name: None if value is None else str(value) for name, value in row.items()})


def _time(at: datetime) -> str:
    """As PostgreSQL writes it in UTC: no zeros at the end of the fraction."""
    at = at.astimezone(UTC)
    fraction = f".{at.microsecond:06}".rstrip("0") if at.microsecond else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{fraction}+00"
