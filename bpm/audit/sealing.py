"""Sealing: committed history becomes links of the chain, a few seconds behind the present.

A snapshot says which transactions are over (those before its xmin). Whatever they wrote is there and nothing can be
added to it, so [end of the last seal, xmin) is sealed, in pieces of a bounded number of commits. A transaction that is
held open holds xmin, and with it the seals, back: `delay` says by how much.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import psycopg
import structlog
from psycopg import sql

from bpm.audit import canonical, chain
from bpm.audit.chain import Head, Share
from bpm.audit.lines import prepare, stored_lines
from bpm.audit.statements import ask
from bpm.store.channel import Channel, django_channel
from bpm.store.errors import StoreError
from bpm.store.values import dumps

log = structlog.get_logger(__name__)

# Commits of one seal, and seals of one turn of the job.
COMMITS = 5_000
SEALS = 50


class NotSealed(StoreError):
    """Sealing cannot be done here; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """How far seals are behind: seconds since the oldest commit that none holds, and the age of the oldest transaction
    that could hold them back.
    """

    seconds: float
    oldest_transaction: float


def seal(*, most: int = SEALS, commits: int = COMMITS, channel: Channel | None = None) -> dict[str, int]:
    """Seal what is over, in at most so many seals; how many seals and commits there were. For the schedule.

    Raises NotSealed inside a transaction of the caller's: a seal must be committed before the next one is made.
    """
    channel = channel or django_channel()
    if channel.joined:
        raise NotSealed("history is sealed outside of transactions")
    if not ask("sealing_alone", channel=channel)[0][0]:
        return {"seals": 0, "sealed_commits": 0}
    try:
        made = sealed = 0
        while made < most:
            found = _seal_next(channel, commits)
            if found is None:
                break
            made, sealed = made + 1, sealed + found
        return {"seals": made, "sealed_commits": sealed}
    finally:
        ask("sealing_over", channel=channel)


def delay(*, channel: Channel | None = None) -> Delay:
    """How far seals are behind the present."""
    behind, oldest = ask("unsealed", {"until": str(chain.head(channel=channel).xid_until)}, channel=channel)[0]
    return Delay(seconds=max(0.0, behind or 0.0), oldest_transaction=max(0.0, oldest or 0.0))


def _seal_next(channel: Channel, commits: int) -> int | None:
    """Make one seal, in one transaction; its number of commits, or None where there is nothing to seal."""
    head = chain.head(channel=channel)
    known = chain.epochs(channel=channel)
    epoch = max(known, default=0)
    server = ask("server_identifier", channel=channel)[0][0]
    if not epoch or known[epoch].server != server:
        epoch = ask("open_epoch", {"server": server}, channel=channel)[0][0]
        known = chain.epochs(channel=channel)
        log.info("epoch of seals opened", epoch=epoch)
    share = chain.share(known, epoch, head.xid_until)
    opening = epoch > 1 and head.epoch < epoch
    channel.send(("BEGIN ISOLATION LEVEL REPEATABLE READ", None))
    try:
        prepare(channel)
        found = _opening(channel, head, share) if opening else _by_transaction(channel, head, share, commits)
        channel.send(("COMMIT", None))
    except BaseException as error:
        if channel.raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            channel.send(("ROLLBACK", None))
        if isinstance(error, psycopg.errors.UniqueViolation):
            return None  # somebody else has sealed it
        raise
    return found


def _opening(channel: Channel, head: Head, share: Share) -> int | None:
    """Seal what the epoch began with. It is made even where that is nothing: it says that the epoch is open."""
    where = {table.name: share.opening(table) for table in canonical.FORMS[canonical.FORM]}
    return _write(channel, head, share, where, kind="OPENING", xid_from=0, xid_until=0)


def _by_transaction(channel: Channel, head: Head, share: Share, commits: int) -> int | None:
    xmin, _ = ask("horizon", channel=channel)[0]
    start = head.xid_until if head.epoch == share.epoch.number else 0
    if start >= xmin:
        return None
    cut = ask("cut", {"from": str(start), "until": str(xmin), "commits": commits}, channel=channel)
    until = cut[0][0] if cut else xmin
    where = {table.name: share.between(table, start, until) for table in canonical.FORMS[canonical.FORM]}
    return _write(channel, head, share, where, kind="XIDS", xid_from=start, xid_until=until)


def _write(
    channel: Channel,
    head: Head,
    share: Share,
    where: dict[str, sql.Composed],
    *,
    kind: str,
    xid_from: int,
    xid_until: int,
) -> int | None:
    """Read and digest the rows, and add the link. None, and no link, where there are no rows."""
    tables: list[tuple[str, int, str]] = []
    leaves = bytearray()
    last = {"sequence": head.last_sequence, "event": head.last_event}
    for table in canonical.FORMS[canonical.FORM]:
        digest, rows = hashlib.sha256(), 0
        for line in stored_lines(channel, table, where[table.name]):
            leaf = canonical.leaf(table, line)
            digest.update(leaf)
            keys = canonical.key(table, line)
            leaves += chain.packed_leaf(keys[-1], leaf)
            last["sequence"] = max(last["sequence"], keys[1])
            if table.name == "engine_events":
                last["event"] = max(last["event"], keys[-1])
            rows += 1
        tables.append((table.name, rows, digest.hexdigest()))
    counts = {name: rows for name, rows, _ in tables}
    if kind == "XIDS" and not any(counts.values()):
        return None
    states = counts["runtime_state_command"]
    said: dict[str, Any] = {
        "number": head.number + 1,
        "epoch": share.epoch.number,
        "kind": kind,
        "form": canonical.FORM,
        "xid_from": str(xid_from),
        "xid_until": str(xid_until),
        "commits": counts["runtime_commit"],
        "events": sum(counts.values()) - counts["runtime_commit"] - states,
        "state_commands": states,
        "last_sequence": last["sequence"],
        "last_event": last["event"],
        "sealed_at": channel.raw.execute("SELECT clock_timestamp()").fetchone()[0].isoformat(),  # type: ignore[index]
    }
    text = chain.body(said | {"previous": head.hash, "tables": tables, "server": share.epoch.server})
    row = said | {"tables": dumps(tables), "leaves": bytes(leaves), "body": text, "hash": chain.hash_of(text)}
    ask("add_seal", row, channel=channel)
    return counts["runtime_commit"]
