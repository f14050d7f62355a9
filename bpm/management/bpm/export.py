"""Export history for auditors and for process mining.

    manage.py bpm export --format csv --to events.csv                            all events, a row each
    manage.py bpm export --format jsonl --definition order --to orders.jsonl.zst   for bpm replay, without a database
    manage.py bpm export --format xes --definition order --since 2026-11-01 --to november.xes
    manage.py bpm export --format parquet --state FAILED --to s3://audit/failed.parquet
    manage.py bpm export --format csv --worker w1 --mask card --mask iban --to w1.csv
    manage.py bpm export --format parquet --later              a worker does it, to the place of BPM_EXPORT_TO

Formats: csv and parquet have a row an event and only the events that were asked for; jsonl, xes and ocel have every
chosen instance whole. Conditions hold together; one that may be repeated is met by any of its values. Instances are
chosen that did something in the time, that one of the workers worked for, that one of the users acted on. A name that
ends in .gz or .zst is packed. The file is streamed; beside it lies NAME.manifest.json with what was asked for, counts,
SHA-256 and the seals that hold it. Only an ordinary file is replaced. What is never masked: docs/audit.md.
Exit status: 0 done, 1 the export could not be made, 2 a condition names nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.audit.export import FORMATS, Selection, export
from bpm.audit.export.masking import Masking
from bpm.audit.export.requests import NoPlace, ask_export
from bpm.audit.export.selection import STATES, NothingSuch
from bpm.audit.export.writing import MissingLibrary
from bpm.audit.places import PlaceError, file_at
from bpm.management.actor import add_actor, add_reason
from bpm.management.choosing import uuid
from bpm.management.progress import Progress


def arguments(parser: argparse.ArgumentParser) -> None:
    """--format FORMAT --to FILE and the conditions."""
    parser.add_argument("--format", choices=sorted(FORMATS), required=True, help="the format of the file")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--to", metavar="FILE", help="a path or a URL (s3://..., with fsspec)")
    where.add_argument("--later", action="store_true", help="let a worker do it, to the place of BPM_EXPORT_TO")
    add_conditions(parser)
    parser.add_argument(
        "--instance", action="append", default=[], type=uuid, metavar="ID", help="this one (repeatable)"
    )
    parser.add_argument("--state", action="append", default=[], choices=STATES, help="instances in this state now")
    parser.add_argument("--worker", action="append", default=[], metavar="NAME", help="what this worker did")
    parser.add_argument("--mask", action="append", default=[], metavar="NAME", help="hide the values of this variable")
    parser.add_argument("--no-variables", action="store_true", help="leave the values of all variables out")
    add_actor(parser)
    add_reason(parser)


def add_conditions(parser: argparse.ArgumentParser) -> None:
    """--definition, --since, --until, --user."""
    parser.add_argument("--definition", action="append", default=[], metavar="KEY", help="of this one (repeatable)")
    parser.add_argument(
        "--since", type=moment, metavar="TIME", help="from this time on (ISO 8601; UTC without an offset)"
    )
    parser.add_argument("--until", type=moment, metavar="TIME", help="before this time")
    parser.add_argument("--user", action="append", default=[], metavar="NAME", help="what this person or program did")


def moment(text: str) -> datetime:
    """A time in ISO 8601."""
    try:
        found = datetime.fromisoformat(text)
        # Of zones PostgreSQL knows fewer than Python.
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no time in ISO 8601") from None


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Export; the exit status."""
    try:
        return _later(command, options) if options["later"] else _now(command, options)
    except NothingSuch as problem:
        raise CommandError(str(problem), returncode=2) from None
    except (MissingLibrary, NoPlace, PlaceError, OSError) as problem:
        raise CommandError(f"nothing was exported: {problem}") from None


def _selection(options: Mapping[str, Any]) -> Selection:
    return Selection(
        definitions=tuple(options["definition"]),
        instances=tuple(options["instance"]),
        states=tuple(options["state"]),
        since=options["since"],
        until=options["until"],
        workers=tuple(options["worker"]),
        users=tuple(options["user"]),
    )


def _masking(options: Mapping[str, Any]) -> Masking:
    return Masking(names=frozenset(options["mask"]), everything=options["no_variables"])


def _later(command: BaseCommand, options: Mapping[str, Any]) -> int:
    asked = ask_export(
        _selection(options),
        options["format"],
        masking=_masking(options),
        actor=options["actor"],
        reason=options["reason"],
    )
    command.stdout.write(f"{asked.id} {asked.name}")
    return 0


def _now(command: BaseCommand, options: Mapping[str, Any]) -> int:
    if options["to"] == "-":
        raise CommandError("--to names a file: its manifest lies beside it, which standard output has no place for")
    folder, name = file_at(options["to"])
    with Progress(command.stderr, "events") as bar:
        done = export(
            _selection(options),
            options["format"],
            folder,
            name,
            masking=_masking(options),
            actor=options["actor"],
            reason=options["reason"],
            advance=bar.advance,
        )
        seconds = bar.seconds
    said = done.manifest
    command.stdout.write(
        f"{said['instances']} instances, {said['commits']} commits, {said['events']} events"
        f" in {seconds:.1f} s ({said['events'] / max(seconds, 0.001):,.0f} events/s);"
        f" {said['file']['bytes']} bytes, SHA-256 {said['file']['sha256']}"
    )
    return 0
