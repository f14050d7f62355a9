"""Ready-made reports about history, as CSV on standard output.

    manage.py bpm report who --since 2026-11-01                 who did what when, with the stated reason
    manage.py bpm report who --user ada --definition order
    manage.py bpm report who --everything                       the engine's own acts and workers' fetches, too
    manage.py bpm report failures --since 2026-11-28            which worker caused which failure
    manage.py bpm report failures --worker w1 --json

With --json a line is a JSON object. Rows come in the order of the log and are streamed. Exit status: 0, or 2 for a
condition that names nothing.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.audit import reports
from bpm.audit.export.selection import NothingSuch, Selection
from bpm.management.bpm.export import add_conditions
from bpm.management.choosing import uuid
from bpm.store.values import dumps


def arguments(parser: argparse.ArgumentParser) -> None:
    """who | failures, and the conditions."""
    parser.add_argument("report", choices=("who", "failures"), help="who did what when; which worker failed")
    add_conditions(parser)
    parser.add_argument("--instance", action="append", default=[], type=uuid, metavar="ID", help="in this instance")
    parser.add_argument("--worker", action="append", default=[], metavar="NAME", help="failures of this worker")
    parser.add_argument("--everything", action="store_true", help="what the engine did, too")
    parser.add_argument("--json", action="store_true", help="print one JSON object a row")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Print the report; the exit status."""
    selection = Selection(
        definitions=tuple(options["definition"]),
        instances=tuple(options["instance"]),
        since=options["since"],
        until=options["until"],
        workers=tuple(options["worker"]),
        users=tuple(options["user"]),
    )
    columns: tuple[str, ...]
    if options["report"] == "who":
        columns, rows = reports.ACTS, reports.who_did_what_when(selection, everything=options["everything"])
    else:
        columns, rows = reports.FAILURES, reports.which_worker_failed(selection)
    lines = csv.DictWriter(command.stdout, columns, lineterminator="\n")
    try:
        if not options["json"]:
            lines.writeheader()
        for row in rows:
            if options["json"]:
                command.stdout.write(dumps({name: value for name, value in row.items() if value is not None}))
            else:
                lines.writerow({name: _cell(value) for name, value in row.items()})
    except NothingSuch as problem:
        raise CommandError(str(problem), returncode=2) from None
    return 0


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
