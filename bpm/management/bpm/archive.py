"""Move finished months of history out of the database, to a folder or any URL that fsspec understands.

    manage.py bpm archive 2026-10 --to /srv/archive            this month
    manage.py bpm archive --due --to s3://audit/history        every finished month that the retentions let go
    manage.py bpm archive --list                               what is archived, and which months are finished

A month is sealed, written (--format parquet, or jsonl: zstd JSON Lines), read back and compared; only then its
partitions are replaced, in one transaction, by ones with the rows that stay: those of open instances, and of those that
a retention keeps (`bpm retention`). Archived instances stay findable, and seals, trace, replay and export work on them.
Interrupted anywhere, give the same command again. It needs the rights of the tables' owner.

--to is by default the setting BPM_ARCHIVE_TO, with which the schedule archives by itself what is due, where its role
may. On a hardened site it may not: let the owner's cron give the command with --due, say once a day. Exit status: 0
done, also where nothing was due, 1 a month could not be archived (nothing was changed then), 2 no place is said.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.audit.archive import catalog
from bpm.audit.archive.due import archive_place
from bpm.audit.archive.months import FORMATS, NotArchived, archive_month, due_months, finished_months
from bpm.audit.places import PlaceError
from bpm.management.actor import add_actor, add_reason
from bpm.management.progress import Progress


def arguments(parser: argparse.ArgumentParser) -> None:
    """MONTH... | --due, --to PLACE [--format FORMAT] | --list."""
    parser.add_argument("months", nargs="*", type=month, metavar="MONTH", help="YYYY-MM")
    parser.add_argument("--due", action="store_true", help="every finished month that the retentions let go")
    parser.add_argument("--to", metavar="PLACE", help="a folder or a URL (BPM_ARCHIVE_TO)")
    parser.add_argument("--format", choices=FORMATS, default="parquet", help="of the files (parquet)")
    parser.add_argument("--list", action="store_true", help="say what is archived and what could be")
    add_actor(parser)
    add_reason(parser)


def month(text: str) -> date:
    """YYYY-MM."""
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no month: YYYY-MM") from None


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Archive; the exit status."""
    if options["list"]:
        return _list(command)
    to = options["to"] or archive_place()
    if not to:
        raise CommandError("--to says where the archive lies", returncode=2)
    if options["due"] and options["months"]:
        raise CommandError("--due stands for the months: name none", returncode=2)
    explicit = bool(options["months"])
    months = options["months"] or due_months()
    if not months:
        command.stdout.write("nothing to archive: no finished month has history that its retention lets go")
    for one in months:
        try:
            with Progress(command.stderr, "rows") as bar:
                done = archive_month(
                    one,
                    to,
                    format=options["format"],
                    explicit=explicit,
                    actor=options["actor"],
                    reason=options["reason"],
                    advance=bar.advance,
                )
                seconds = bar.seconds
        except (NotArchived, PlaceError, OSError, ImportError) as problem:
            raise CommandError(f"{one:%Y-%m} was not archived: {problem}") from None
        command.stdout.write(
            f"{one:%Y-%m} part {done.part}: {done.rows} rows archived in {seconds:.1f} s,"
            f" {done.stayed} stay in the database"
        )
    return 0


def _list(command: BaseCommand) -> int:
    for part in catalog.parts():
        rows = sum(table["rows"] for table in part.manifest["tables"].values())
        command.stdout.write(
            f"{part.month:%Y-%m} part {part.part}: {rows} rows, {part.format}, {part.address};"
            f" {sum(part.kept.values())} stayed"
        )
    due = set(due_months())
    for one in finished_months():
        command.stdout.write(f"{one:%Y-%m} is finished{'; retentions let history of it go' if one in due else ''}")
    return 0
