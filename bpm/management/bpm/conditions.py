"""Start what waits for a condition: every conditional start event whose condition holds with the variables given.

    manage.py bpm conditions --variables '{"temperature": 41}'                    of all processes
    manage.py bpm conditions --process cooling --variables '{"temperature": 41}'  of one

Prints the id of each instance. Exit status: 0 (also where no condition holds), 1 refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.management.actor import add_actor, add_reason
from bpm.management.given import add_variables, variables_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--process PROCESS] [--variables JSON] [--business-key KEY] [--key KEY], --actor and --reason."""
    parser.add_argument("--process", metavar="PROCESS", default=None, help="only of this process (its key)")
    add_variables(parser)
    parser.add_argument("--business-key", metavar="KEY", default=None, help="what people call the instances")
    parser.add_argument("--key", metavar="KEY", default=None, help="idempotency key: the same one starts them once")
    add_actor(parser)
    add_reason(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Evaluate, and print the ids; the exit status."""
    try:
        records = engine.evaluate_conditions(
            variables_of(options["variables"]),
            process=options["process"],
            business_key=options["business_key"],
            actor=options["actor"],
            reason=options["reason"],
            key=options["key"],
        )
    except engine.EngineError as refused:
        raise CommandError(f"{refused.code}: {refused.message}", returncode=1) from None
    for record in records:
        command.stdout.write(str(record.thread_id))
    return 0
