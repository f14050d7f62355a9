"""List instances, the newest first.

    manage.py bpm instances                                   what runs
    manage.py bpm instances --process order --state FAILED    of one process, in one state
    manage.py bpm instances --business-key A-17               by what people call it
    manage.py bpm instances --incidents                       those that wait for an operator
    manage.py bpm instances --variable customer=Ada --variable amount:gt:100
                                                              by the values of variables (docs/variables.md)
    manage.py bpm instances --json                            one JSON object a line

Each line: id, state, process and version, business key, since when, where it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.engine.variables import dumps
from bpm.management.lines import shown
from bpm.queries import instances, rows
from bpm.queries.paging import LARGEST_SIZE
from bpm.queries.variables import BadFilter, condition

OPEN = ("RUNNING", "SUSPENDED")
STATES = (*OPEN, "COMPLETED", "FAILED", "CANCELLED")


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--process KEY] [--state STATE]... [--all] [--business-key KEY] [--variable NAME=VALUE]... [--incidents]
    [--limit N] [--json].
    """
    parser.add_argument("--process", metavar="KEY", help="only of this process")
    parser.add_argument("--state", choices=STATES, action="append", help="only in this state; may be said again")
    parser.add_argument("--all", action="store_true", help="ended ones, too")
    parser.add_argument("--business-key", metavar="KEY", help="only with this business key")
    parser.add_argument(
        "--variable", metavar="NAME=VALUE", action="append", default=[],
        help="only where this variable has this value, or NAME:OPERATOR:VALUE holds; may be said again",
    )  # fmt: skip
    parser.add_argument("--incidents", action="store_true", help="only those with an open incident")
    parser.add_argument(
        "--limit", metavar="N", type=_number, default=50, help="at most so many, 1 to 200 (default: 50)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Print the list; the exit status. Raises CommandError: a condition that makes no sense."""
    try:
        conditions = [condition(text) for text in options["variable"]]
    except BadFilter as unfit:
        raise CommandError(str(unfit)) from None
    states = options["state"] or (() if options["all"] or options["business_key"] else OPEN)
    found = instances.list_instances(
        definition_key=options["process"],
        states=states,
        business_key=options["business_key"],
        with_incident=True if options["incidents"] else None,
        variables=conditions,
        size=options["limit"],
    )
    for row in found.items:
        command.stdout.write(_json(row) if options["json"] else shown(_line(row)))
    if found.after is not None:
        command.stderr.write("... and more" + (f": --limit {LARGEST_SIZE}" if options["limit"] < LARGEST_SIZE else ""))
    return 0


def _number(text: str) -> int:
    number = int(text)
    if not 1 <= number <= LARGEST_SIZE:
        raise argparse.ArgumentTypeError(f"1 to {LARGEST_SIZE}, not {text}")
    return number


def _line(row: rows.Instance) -> str:
    where = ", ".join(f"{place.name}" + (f" x{place.tokens}" if place.tokens > 1 else "") for place in row.places)
    stopped = f" [{row.incidents} incident{'s' if row.incidents > 1 else ''}]" if row.incidents else ""
    named = f" {row.business_key}" if row.business_key else ""
    since = row.started_at.isoformat(sep=" ", timespec="seconds")
    what = f"{row.definition_key} v{row.definition_version}{named}"
    return f"{row.id} {row.state:<9} {what} {since} {where}{stopped}".rstrip()


def _json(row: rows.Instance) -> str:
    said = {
        "id": row.id,
        "state": row.state,
        "process": row.definition_key,
        "process_version": row.definition_version,
        "business_key": row.business_key,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "at": [place.node_id for place in row.places],
        "incidents": row.incidents,
    }
    return dumps(said)
