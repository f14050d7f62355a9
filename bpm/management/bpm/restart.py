"""Begin a new run of instances that have ended.

    manage.py bpm restart ID                           where it was started, with the variables of its end
    manage.py bpm restart ID --keep start              with the variables that it was started with
    manage.py bpm restart ID --before Ship             at Ship instead
    manage.py bpm restart ID --to 3 --keep none --variables '{"paid": true}'
                                                       of version 3, with these variables alone

The instance stays the same: its history goes on, and seals hold. Several ids are restarted one after the other, each in
a transaction of its own. Exit status: 0 all restarted, 1 something was refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.engine.versions import KEEPS
from bpm.management.actor import add_actor, add_reason
from bpm.management.given import add_variables, variables_of
from bpm.management.one_by_one import one_by_one


def arguments(parser: argparse.ArgumentParser) -> None:
    """ID... [--node NODE | --before NODE...] [--to N] [--keep end|start|none] [--variables JSON] [--reason TEXT]."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="instances that have ended")
    parser.add_argument("--node", metavar="NODE", help="the start event (default: where it was started)")
    parser.add_argument("--before", action="append", default=[], metavar="NODE", help="start a token before the node")
    parser.add_argument("--to", type=int, metavar="N", help="the version to run (default: the one it ran last)")
    parser.add_argument("--keep", choices=KEEPS, default="end", help="the variables to begin with (default: end)")
    add_variables(parser)
    add_reason(parser)
    add_actor(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Restart each; the exit status."""
    try:
        variables = variables_of(options["variables"])
    except engine.InvalidVariables as problem:
        raise CommandError(f"{problem.code}: {problem.message}", returncode=2) from None

    def restart(id: str) -> str:
        record = engine.restart_instance(
            id,
            keep=options["keep"],
            variables=variables,
            node=options["node"],
            start_before=options["before"],
            version=options["to"],
            actor=options["actor"],
            reason=options["reason"],
        )
        return f"restarted, commit {record.sequence}"

    return one_by_one(command, options["ids"], restart)
