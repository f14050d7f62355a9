"""The rows that a seal speaks of, wherever they lie: in the database and in archives, each once, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bpm.audit import canonical
from bpm.audit.archive.catalog import Part, merged
from bpm.audit.canonical import Table
from bpm.audit.chain import LAST_TRANSACTION, Seal, Share
from bpm.audit.lines import stored_lines
from bpm.store.channel import Channel


def sealed_lines(
    channel: Channel, table: Table, share: Share, seals: Sequence[Seal], archives: Sequence[Part]
) -> Iterator[bytes]:
    """The lines of a table that neighbouring seals of one epoch and kind speak of. OSError: an archive is not there."""
    opening = seals[0].kind == "OPENING"
    start, until = (None, LAST_TRANSACTION) if opening else (seals[0].xid_from, seals[-1].xid_until)
    where = share.opening(table) if start is None else share.between(table, start, until)
    stored = stored_lines(channel, table, where)
    meant = [part for part in archives if part.file(table).overlaps(start or 0, until)]
    if not meant:
        return stored
    return merged(table, stored, *(_archived(part, table, share, start, until) for part in meant))


def _archived(part: Part, table: Table, share: Share, start: int | None, until: int) -> Iterator[bytes]:
    for line in part.lines_between(table, start or 0, until):
        if share.has(table, canonical.key(table, line), start, until):
            yield line
