"""Archiving a month: seal, write, read back and verify, and only then replace the partitions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import psycopg
from django.db import DatabaseError
from psycopg import sql as compose

from bpm.audit import canonical, chain, sealing
from bpm.audit.archive import blocks, catalog
from bpm.audit.archive.blocks import TableFile
from bpm.audit.archive.index import Indexing
from bpm.audit.archive.retention import Rule, rule
from bpm.audit.canonical import FORM, FORMS, Table
from bpm.audit.lines import prepare, stored_lines
from bpm.audit.places import Place, hash_of_file, place
from bpm.audit.statements import ask, sql
from bpm.store import histories, schedule
from bpm.store.channel import Channel, django_channel
from bpm.store.errors import LostRace
from bpm.store.outside import outside
from bpm.store.values import dumps, loads
from bpm.store.version import ENGINE

FORMATS = tuple(blocks.SUFFIX)
# How often it is tried to lock the tables for the moment in which the partitions are replaced.
TRIES = 5
# With this SQLSTATE `bpm_replace_month` refuses: rows have come, or the month is not over.
REFUSED = "TT107"

type Advance = Callable[[int], None]


class NotArchived(Exception):
    """A month that cannot be archived; the message says why. Nothing was changed in the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of a month: rows that were written to the archive, and that stayed in the database."""

    month: date
    part: int
    rows: int
    stayed: int


def finished_months() -> list[date]:
    """Months that are over and have partitions, the oldest first."""
    now = schedule.now()
    found = sorted({_month_of(name) for (name,) in ask("commit_partitions")})
    return [month for month in found if _end(month) <= now]


def due_months() -> list[date]:
    """Finished months with history that no retention keeps."""
    keep = rule(explicit=False)
    return [month for month in finished_months() if _movable(month, keep)]


def archive_month(
    month: date,
    to: str,
    *,
    format: str = "parquet",
    explicit: bool = True,
    actor: str,
    reason: str | None = None,
    advance: Advance = lambda rows: None,
) -> Done:
    """Archive a month to a folder or URL. `explicit`: somebody has named it (see `retention`).

    Raises NotArchived, PlaceError, OSError, ImportError (the format's library is missing).
    """
    where = place(to)
    where.require()
    channel = django_channel()
    if channel.joined:
        raise NotArchived("a month is archived outside of transactions")
    if month not in finished_months():
        raise NotArchived(f"{month:%Y-%m} is not over, or history has no such month")
    if not ask("archiving_alone", channel=channel)[0][0]:
        raise NotArchived("somebody else is archiving")
    try:
        _seal(month, channel)
        keep = rule(explicit=explicit)
        earlier = [part for part in catalog.parts() if part.month == month]
        part = len(earlier) + 1
        manifest = _written(month, part, where, format, earlier, actor, advance)
        _verify(where, manifest, advance)
        kept = _replace(month, part, to, manifest, earlier, keep, actor, reason)
        rows = sum(table["rows"] for table in manifest["tables"].values())
        return Done(month=month, part=part, rows=rows, stayed=sum(kept.values()))
    finally:
        ask("archiving_over", channel=channel)


def _seal(month: date, channel: Channel) -> None:
    """All of the month must be sealed: the archive is proved by the seals."""
    while sealing.seal(channel=channel)["seals"]:
        pass
    head = chain.head(channel=channel)
    known = chain.epochs(channel=channel)
    if not known:
        return
    with histories.snapshot(channel):
        prepare(channel)
        share = chain.share(known, max(known), head.xid_until)
        for table in FORMS[FORM]:
            where = share.between(table, head.xid_until, chain.LAST_TRANSACTION) + _in(month)
            if next(stored_lines(channel, table, where), None) is not None:
                raise NotArchived(f"{month:%Y-%m} is not sealed yet: a transaction that is open holds the seals back")


def _written(
    month: date, part: int, to: Place, format: str, earlier: list[catalog.Part], actor: str, advance: Advance
) -> dict[str, Any]:
    """The manifest of the part's files: of those that lie there already, where they are what the database has."""
    prefix = f"{month:%Y-%m}/{part}/"
    name = f"{prefix}manifest.json"
    there = _manifest(to, name)
    if there is not None and there["format"] == format and _is_of(there, month, earlier):
        return there
    tables: dict[str, Any] = {}
    with Indexing() as index:
        for number, table in enumerate(FORMS[FORM]):
            owner = table.columns.index(table.owner)

            def note(block: int, line: bytes, number: int = number, owner: int = owner) -> None:
                found = line.split(b"\t", owner + 1)[owner]
                index.note(None if found == canonical.NULL else found.decode(), number, block)

            file = prefix + table.name + blocks.SUFFIX[format]
            lines = _counted(_new_lines(month, table, earlier), advance)
            tables[table.name] = blocks.write(to, file, table, lines, format, note).to_json()
        indexed = index.write(to, f"{prefix}instances.index")
    head = chain.head()
    manifest = {
        "tokentrail_archive": 1,
        "month": f"{month:%Y-%m}",
        "part": part,
        "format": format,
        "form": FORM,
        "engine": ENGINE,
        "made_at": schedule.now().isoformat(),
        "made_by": actor,
        "tables": tables,
        "index": indexed,
        "sealed_to": {"number": head.number, "hash": head.hash},
    }
    with to.writing(name) as file_:
        file_.write(dumps(manifest).encode())
    return manifest


def _manifest(to: Place, name: str) -> dict[str, Any] | None:
    """The manifest that lies there; it was written when all files of its part were whole."""
    if not to.exists(name):
        return None
    with to.reading(name) as file:
        try:
            found = json.load(file)
        except ValueError:
            return None
    return found if isinstance(found, dict) and found.get("tokentrail_archive") == 1 else None


def _is_of(manifest: dict[str, Any], month: date, earlier: list[catalog.Part]) -> bool:
    """Whether the files hold just what the database has now."""
    return all(
        (manifest["tables"][table.name]["rows"], manifest["tables"][table.name]["digest"])
        == blocks.digest_of(table, _new_lines(month, table, earlier))
        for table in FORMS[FORM]
    )


def _new_lines(month: date, table: Table, earlier: list[catalog.Part]) -> Iterator[bytes]:
    """The month's rows in the database that no earlier part has, in the order of seals."""
    with histories.snapshot() as channel:
        prepare(channel)
        # The whole month is read: an index would only be a longer way.
        channel.raw.execute("SET LOCAL enable_seqscan = on")
        stored = stored_lines(channel, table, compose.SQL("true") + _in(month))
        if not earlier:
            yield from stored
            return
        archived = catalog.merged(table, *(part.lines(table) for part in earlier))
        there = next(archived, None)
        for line in stored:
            while there is not None and canonical.key(table, there) < canonical.key(table, line):
                there = next(archived, None)
            if line != there:
                yield line


def _verify(to: Place, manifest: dict[str, Any], advance: Advance) -> None:
    """Read all back: the files are as they were written, and their rows have the digests of the database's."""
    for table in FORMS[manifest["form"]]:
        file = TableFile.from_json(manifest["tables"][table.name])
        if hash_of_file(to, file.name) != file.sha256:
            raise NotArchived(f"{file.name} is not what was written: the place cannot be trusted")
        found = blocks.digest_of(table, _counted(blocks.read(to, file, table, manifest["format"]), advance))
        if found != (file.rows, file.digest):
            raise NotArchived(f"{file.name} does not give back the rows that were written into it")
    index = manifest["index"]
    if hash_of_file(to, index["file"]) != index["sha256"]:
        raise NotArchived(f"{index['file']} is not what was written: the place cannot be trusted")


def _replace(
    month: date,
    part: int,
    to: str,
    manifest: dict[str, Any],
    earlier: list[catalog.Part],
    keep: Rule,
    actor: str,
    reason: str | None,
) -> dict[str, int]:
    """One transaction: the partitions are replaced, the archive and its instances are noted. The rows that stayed."""
    about = {"month": f"{month:%Y-%m}", "part": part, "to": to, "format": manifest["format"]}
    about["rows"] = {name: table["rows"] for name, table in manifest["tables"].items()}
    stood = earlier[-1].kept if earlier else {}
    rows = {name: number + stood.get(name, 0) for name, number in about["rows"].items()}
    for attempt in range(1, TRIES + 1):
        try:
            with outside(None, "Archive", about, actor=actor, reason=reason) as commit:
                number = commit.channel.send((sql("next_archive"), None))[0][0][0]
                asked = {"month": _start(month), "archive": number, "rows": dumps(rows), "said": keep.said}
                found = commit.channel.send((sql("replace_month"), asked | {"unsaid": keep.unsaid}))[0][0][0]
                noted = {"number": number, "month": month, "part": part, "address": to, "kept": found}
                commit.channel.send((sql("add_archive"), noted | {"manifest": dumps(manifest)}))
            kept: dict[str, int] = loads(found)
            return kept
        except LostRace as lost:
            if attempt == TRIES:
                raise NotArchived(f"the tables could not be locked: {lost}") from lost
        except (psycopg.Error, DatabaseError) as problem:
            if REFUSED in (getattr(problem, "sqlstate", None), getattr(problem.__cause__, "sqlstate", None)):
                raise NotArchived(str(problem)) from problem
            raise
    raise AssertionError("each try returns or raises")


def _movable(month: date, keep: Rule) -> bool:
    asked = {"month": _start(month), "said": keep.said, "unsaid": keep.unsaid}
    return bool(ask("month_moves", asked)[0][0])


def _in(month: date) -> compose.Composed:
    return compose.SQL(" AND at >= {} AND at < {}").format(_start(month), _end(month))


def _start(month: date) -> datetime:
    return datetime(month.year, month.month, 1, tzinfo=UTC)


def _end(month: date) -> datetime:
    return datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=UTC)


def _month_of(partition: str) -> date:
    year, month = partition.rsplit("_", 2)[1:]
    return date(int(year), int(month), 1)


def _counted(lines: Iterator[bytes], advance: Advance) -> Iterator[bytes]:
    number = 0
    for line in lines:
        number += 1
        if number % 1000 == 0:
            advance(1000)
        yield line
    advance(number % 1000)
