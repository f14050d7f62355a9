"""The chain of seals: what a seal says, what of it is hashed, and the rows that are its own.

    body  = canonical JSON of (number, epoch, kind, form, transactions, counts, digests by table, time, previous hash)
    hash  = SHA-256 of the body
    digest of a table = SHA-256 over the leaves of its rows, in the order (transaction, commit, ordinal, id)

Numbers have no gap, each body names the hash before it, and within an epoch each seal begins with the transaction at
which the last one ended. So nothing can be changed, removed, inserted or put elsewhere without breaking the chain from
there on; and who rewrites all of it cannot rewrite the heads that were kept elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import sql

from bpm.audit.canonical import FORMS, Table
from bpm.audit.statements import ask
from bpm.store.channel import Channel

# What the first seal follows.
ORIGIN = "0" * 64
ID_BYTES = 8
LEAF_BYTES = 16
# Later than any.
LAST_TRANSACTION = (1 << 64) - 1
PAGE = 500
# Columns beside the body that say again what it says.
COLUMNS = (
    "number", "epoch", "kind", "form", "commits", "events", "state_commands", "last_sequence", "last_event",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """See `bpm.models.seals.SealEpoch`."""

    number: int
    server: str
    before_sequence: int
    before_event: int
    after_sequence: int
    after_event: int
    opened_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """One link. `tables`: [name, number of rows, digest]."""

    number: int
    epoch: int
    kind: str
    form: int
    xid_from: int
    xid_until: int
    commits: int
    events: int
    state_commands: int
    last_sequence: int
    last_event: int
    tables: list[list[Any]]
    body: str
    hash: str
    sealed_at: datetime

    @property
    def said(self) -> dict[str, Any]:
        """What was hashed; nothing where somebody has made it unreadable."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def previous(self) -> str:
        """The hash before it."""
        return str(self.said.get("previous"))

    def different(self) -> list[str]:
        """Columns that are not what was hashed."""
        said = self.said
        shown = {name: getattr(self, name) for name in COLUMNS}
        shown |= {"xid_from": str(self.xid_from), "xid_until": str(self.xid_until)}
        shown |= {"sealed_at": self.sealed_at.isoformat(), "tables": self.tables}
        return [name for name, value in shown.items() if said.get(name) != value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where the chain ends; `number` 0 is the origin."""

    number: int = 0
    epoch: int = 0
    xid_until: int = 0
    last_sequence: int = 0
    last_event: int = 0
    hash: str = ORIGIN
    sealed_at: datetime | None = None


def body(said: dict[str, Any]) -> str:
    """What is hashed: JSON with sorted keys and no spaces."""
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_of(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def head(*, channel: Channel | None = None) -> Head:
    """The last seal."""
    rows = ask("last_seal", channel=channel)
    if not rows:
        return Head()
    number, epoch, until, sequence, event, found, at = rows[0]
    return Head(
        number=number,
        epoch=epoch,
        xid_until=until,
        last_sequence=sequence,
        last_event=event,
        hash=found,
        sealed_at=at,
    )


def seals(after: int = 0, *, channel: Channel | None = None) -> Iterator[list[Seal]]:
    """The chain, page by page."""
    while True:
        rows = ask("seals_after", {"after": after, "limit": PAGE}, channel=channel)
        if rows:
            yield [_seal(row) for row in rows]
        if len(rows) < PAGE:
            return
        after = rows[-1][0]


def _seal(row: tuple[Any, ...]) -> Seal:
    number, epoch, kind, form, xid_from, until, commits, events, states, sequence, event, tables, text, found, at = row
    return Seal(
        number=number,
        epoch=epoch,
        kind=kind,
        form=form,
        xid_from=xid_from,
        xid_until=until,
        commits=commits,
        events=events,
        state_commands=states,
        last_sequence=sequence,
        last_event=event,
        tables=json.loads(tables),
        body=text,
        hash=found,
        sealed_at=at,
    )


def leaves(seal: Seal, *, channel: Channel | None = None) -> dict[str, list[tuple[int, bytes]]]:
    """The rows that the seal names: (id, half of the leaf) by table. Cut short where somebody cut the names."""
    packed = bytes(ask("seal_leaves", {"number": seal.number}, channel=channel)[0][0])
    size, start = ID_BYTES + LEAF_BYTES, 0
    found = {}
    for name, rows, _ in seal.said["tables"]:
        part = [packed[at : at + size] for at in range(start, start + rows * size, size)]
        found[name] = [(int.from_bytes(one[:ID_BYTES], "big", signed=True), one[ID_BYTES:]) for one in part]
        start += rows * size
    return found


def packed_leaf(id: int, leaf: bytes) -> bytes:
    """A row's name as a seal keeps it."""
    return id.to_bytes(ID_BYTES, "big", signed=True) + leaf[:LEAF_BYTES]


def epochs(*, channel: Channel | None = None) -> dict[int, Epoch]:
    """All epochs by number."""
    return {
        row[0]: Epoch(
            number=row[0],
            server=row[1],
            before_sequence=row[2],
            before_event=row[3],
            after_sequence=row[4],
            after_event=row[5],
            opened_at=row[6],
        )
        for row in ask("epochs", channel=channel)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Which rows are an epoch's: by transaction, and by what the epochs before and after it have left to it.

    `left_at`: the transaction at which the epoch before it ended.
    """

    epoch: Epoch
    preceding: Epoch | None
    following: Epoch | None
    left_at: int

    def opening(self, table: Table) -> sql.Composed:
        """The condition for the rows of the table that the epoch began with and no older one had sealed."""
        number = _number(table)
        oldest = _bound(table, self.preceding.after_sequence, self.preceding.after_event) if self.preceding else 0
        before = _bound(table, self.epoch.before_sequence, self.epoch.before_event)
        after = _bound(table, self.epoch.after_sequence, self.epoch.after_event)
        return sql.SQL("({0} > {1} AND {0} <= {2} AND xid >= {3}::text::xid8 OR {0} > {2} AND {0} <= {4})").format(
            number, oldest, before, str(self.left_at), after
        )

    def between(self, table: Table, xid_from: int, xid_until: int) -> sql.Composed:
        """The condition for the rows of the table of transactions in [xid_from, xid_until)."""
        found = sql.SQL("xid >= {}::text::xid8 AND xid < {}::text::xid8").format(str(xid_from), str(xid_until))
        after = _bound(table, self.epoch.after_sequence, self.epoch.after_event)
        if after:
            found += sql.SQL(" AND {} > {}").format(_number(table), after)
        if self.following is not None:
            last = _bound(table, self.following.before_sequence, self.following.before_event)
            found += sql.SQL(" AND {} <= {}").format(_number(table), last)
        return found

    def has(self, table: Table, keys: tuple[int, ...], xid_from: int | None, xid_until: int) -> bool:
        """The same for the keys of a row that is read elsewhere; `xid_from` None: as `opening`."""
        xid, number = keys[0], keys[-1] if table.name == "engine_events" else keys[1]
        after = _bound(table, self.epoch.after_sequence, self.epoch.after_event)
        if xid_from is None:
            oldest = _bound(table, self.preceding.after_sequence, self.preceding.after_event) if self.preceding else 0
            before = _bound(table, self.epoch.before_sequence, self.epoch.before_event)
            return (oldest < number <= before and xid >= self.left_at) or before < number <= after
        last = None
        if self.following is not None:
            last = _bound(table, self.following.before_sequence, self.following.before_event)
        return xid_from <= xid < xid_until and (not after or number > after) and (last is None or number <= last)


def share(known: dict[int, Epoch], number: int, left_at: int) -> Share:
    """The share of an epoch."""
    return Share(epoch=known[number], preceding=known.get(number - 1), following=known.get(number + 1), left_at=left_at)


def _number(table: Table) -> sql.Composable:
    """What rows are counted by across epochs: their commit; engine events, which need not have one, by their id."""
    return sql.Identifier("id" if table.name == "engine_events" else table.sequence)


def _bound(table: Table, sequence: int, event: int) -> int:
    return event if table.name == "engine_events" else sequence


def tables_of(form: int) -> tuple[Table, ...]:
    """The tables of a canonical form. KeyError for a form of a later version."""
    return FORMS[form]
