"""Which instance has rows in which block: a sorted file of fixed records, found in by halving.

A record is the instance's id (16 bytes), the table's number in its form (1) and the block's number (4, big-endian). The
file is made by sorting pieces that fit into memory and merging them.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO
from uuid import UUID

from bpm.audit.places import Digesting, Place

SIZE = 21
# Records sorted in memory at a time: some 100 MB.
PIECE = 1_000_000


class Indexing:
    """Collects records while blocks are written. A context manager: its pieces are temporary files."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._pieces: list[IO[bytes]] = []
        self._records: set[bytes] = set()

    def __enter__(self) -> Indexing:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def note(self, owner: str | None, table: int, block: int) -> None:
        """That instance has rows in that block."""
        if owner is None:
            return
        self._records.add(UUID(owner).bytes + bytes((table,)) + block.to_bytes(4, "big"))
        if len(self._records) >= PIECE:
            self._spill()

    def write(self, to: Place, name: str) -> dict[str, object]:
        """Write the file; what the manifest says of it."""
        records, last = 0, b""
        with to.writing(name) as raw:
            file = Digesting(raw)
            for record in self._merged():
                if record != last:
                    file.write(record)
                    records, last = records + 1, record
        return {"file": name, "records": records, "bytes": file.size, "sha256": file.hash}

    def _merged(self) -> Iterator[bytes]:
        for piece in self._pieces:
            piece.seek(0)
        return heapq.merge(*(_records(piece) for piece in self._pieces), iter(sorted(self._records)))

    def _spill(self) -> None:
        piece = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # closed with the stack
        piece.write(b"".join(sorted(self._records)))
        self._pieces.append(piece)
        self._records.clear()


def _records(piece: IO[bytes]) -> Iterator[bytes]:
    while record := piece.read(SIZE):
        yield record


def blocks_of(at: Place, name: str, records: int, instance: UUID) -> dict[int, list[int]]:
    """The blocks that have rows of the instance, by the table's number."""
    found: dict[int, list[int]] = {}
    with at.reading(name) as file:

        def record(number: int) -> bytes:
            file.seek(number * SIZE)
            return file.read(SIZE)

        low, high = 0, records
        while low < high:
            middle = (low + high) // 2
            if record(middle)[:16] < instance.bytes:
                low = middle + 1
            else:
                high = middle
        while low < records and (one := record(low))[:16] == instance.bytes:
            found.setdefault(one[16], []).append(int.from_bytes(one[17:], "big"))
            low += 1
    return found
