"""What is archived, and reading it: the lines of a table for the seals, the rows of one instance for all else."""

from __future__ import annotations

import bisect
import heapq
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from bpm.audit import canonical
from bpm.audit.archive import blocks
from bpm.audit.archive.blocks import TableFile
from bpm.audit.archive.index import blocks_of
from bpm.audit.archive.rows import commit_row, event_row
from bpm.audit.canonical import Table
from bpm.audit.places import Place, place
from bpm.audit.statements import ask
from bpm.store.channel import Channel
from bpm.store.ids import NIL


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One archived part of a month, with its manifest; `kept`: the rows that stayed in the database, by table."""

    number: int
    month: date
    part: int
    address: str
    manifest: dict[str, Any]
    kept: dict[str, int]

    @property
    def place(self) -> Place:
        """Where its files lie."""
        return place(self.address)

    @property
    def format(self) -> str:
        """jsonl or parquet."""
        return str(self.manifest["format"])

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in the form that it was written in."""
        return canonical.FORMS[self.manifest["form"]]

    def file(self, table: Table) -> TableFile:
        """The file of a table."""
        return TableFile.from_json(self.manifest["tables"][table.name])

    def lines(
        self, table: Table, wanted: Sequence[int] | None = None, *, start: int = 0, only: blocks.Only | None = None
    ) -> Iterator[bytes]:
        """The lines of a table; of these blocks, or from one on. OSError where the file cannot be read."""
        return blocks.read(self.place, self.file(table), table, self.format, wanted, start=start, only=only)

    def lines_between(self, table: Table, xid_from: int, xid_until: int) -> Iterator[bytes]:
        """The lines of a table whose transaction lies in [xid_from, xid_until)."""
        firsts = [xid for *_, xid in self.file(table).blocks]
        for line in self.lines(table, start=max(0, bisect.bisect_left(firsts, xid_from) - 1)):
            xid = canonical.key(table, line)[0]
            if xid >= xid_until:
                return
            if xid >= xid_from:
                yield line


def parts(*, channel: Channel | None = None) -> list[Part]:
    """All archived parts, by month and part."""
    return [_part(row) for row in ask("archives", channel=channel)]


def parts_with(instance: UUID, *, channel: Channel | None = None) -> list[Part]:
    """The archived parts that have rows of the instance, the oldest month first."""
    return [_part(row) for row in ask("archives_with", {"instance": instance}, channel=channel)]


def merged(table: Table, *sources: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of several sources in their order, each row once. Rows that differ are all there."""
    last = b""
    for line in heapq.merge(*sources, key=lambda line: canonical.key(table, line)):
        if line != last:
            yield line
        last = line


def rows_of(instance: UUID, found: Sequence[Part]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(commits, events) of an instance in these parts, as the log and the view of all events have them (JSON values,
    numbers exact). Commits of the nil thread that its events name (locks) are among them.
    """
    commits: dict[int, dict[str, Any]] = {}
    events: dict[tuple[str, int], dict[str, Any]] = {}
    foreign: dict[int, int] = {}  # commit -> its transaction
    for part in found:
        where = blocks_of(part.place, part.manifest["index"]["file"], part.manifest["index"]["records"], instance)
        for number, table in enumerate(part.tables):
            for line in part.lines(table, where.get(number, ()), only=(table.owner, {str(instance)})):
                row = canonical.fields(table, line)
                if row[table.owner] != str(instance):
                    continue
                if table.name == "runtime_commit":
                    commits[int(row["sequence"] or 0)] = commit_row(row)
                else:
                    events[table.name, int(row["id"] or 0)] = event = event_row(table.name, row)
                    foreign[event["commit_sequence"]] = int(row["xid"] or 0)
    for sequence in commits:
        foreign.pop(sequence, None)
    for part in found:
        commits |= _foreign(part, foreign)
    return list(commits.values()), list(events.values())


def _foreign(part: Part, wanted: dict[int, int]) -> dict[int, dict[str, Any]]:
    """The commits of these numbers; the block of each is found by its transaction."""
    table = part.tables[0]
    firsts = [xid for *_, xid in part.file(table).blocks]
    found: dict[int, dict[str, Any]] = {}
    numbers = set()
    for xid in wanted.values():
        # The rows of one transaction may begin in the block before the first that begins with it.
        numbers |= set(range(bisect.bisect_left(firsts, xid) - 1, bisect.bisect_right(firsts, xid)))
    there = sorted(number for number in numbers if 0 <= number < len(firsts))
    for line in part.lines(table, there, only=("sequence", set(wanted))):
        row = canonical.fields(table, line)
        sequence = int(row["sequence"] or 0)
        if sequence in wanted and row["thread_id"] == str(NIL):
            found[sequence] = commit_row(row)
    return found


def _part(row: tuple[Any, ...]) -> Part:
    number, month, part, address, manifest, kept = row
    return Part(
        number=number,
        month=month,
        part=part,
        address=address,
        manifest=json.loads(manifest),
        kept=json.loads(kept),
    )
