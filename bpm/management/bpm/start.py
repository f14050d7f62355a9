"""Start an instance of a process.

    manage.py bpm start order                                            by the process's key, its newest version
    manage.py bpm start order --variables '{"amount": 12.50}'            with variables, as JSON
    manage.py bpm start order --variables @order.json                    ... from a file (@- reads standard input)
    manage.py bpm start order --business-key A-17 --key request-4711     idempotent: the same key starts it once
    manage.py bpm start order --version 3                                an older version

Prints the id of the instance. Exit status: 0 started, 1 refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.engine.variables import dumps
from bpm.management.actor import add_actor, add_reason
from bpm.management.given import add_variables, variables_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """PROCESS [--variables JSON] [--business-key KEY] [--key KEY] [--version N] [--json], --actor and --reason."""
    parser.add_argument("process", metavar="PROCESS", help="the key of the process (its id in the model)")
    add_variables(parser)
    parser.add_argument("--business-key", metavar="KEY", default=None, help="what people call this instance")
    parser.add_argument("--key", metavar="KEY", default=None, help="idempotency key: the same one starts once")
    parser.add_argument("--version", metavar="N", type=int, default=None, help="a version of it (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print the commit as one JSON object")
    add_actor(parser)
    add_reason(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Start it and print its id; the exit status."""
    try:
        record = engine.start(
            options["process"],
            variables=variables_of(options["variables"]),
            business_key=options["business_key"],
            version=options["version"],
            actor=options["actor"],
            reason=options["reason"],
            key=options["key"],
        )
    except engine.EngineError as refused:
        raise CommandError(f"{refused.code}: {refused.message}", returncode=1) from None
    if options["json"]:
        said = {"instance": record.thread_id, "sequence": record.sequence, "version": record.version}
        command.stdout.write(dumps(said))
    else:
        command.stdout.write(str(record.thread_id))
    return 0
