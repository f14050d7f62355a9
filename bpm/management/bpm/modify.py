"""Put the tokens of a running instance elsewhere.

    manage.py bpm modify ID --before Ship --cancel-at Pay      go on at Ship, and no more at Pay
    manage.py bpm modify ID --after Pay --cancel-at Pay        as if Pay were done
    manage.py bpm modify ID --cancel-token TOKEN               one token alone
    manage.py bpm modify ID --variables '{"paid": true}'       set variables in the same step

All of it is one step: what starts appears first, then what is cancelled ends. Exit status: 0 done, 1 refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.management.actor import add_actor, add_reason


def arguments(parser: argparse.ArgumentParser) -> None:
    """ID [--before NODE]... [--after NODE]... [--cancel-at NODE]... [--cancel-token ID]... [--variables JSON]."""
    parser.add_argument("id", metavar="ID", help="a running instance")
    parser.add_argument("--before", action="append", default=[], metavar="NODE", help="start a token before the node")
    parser.add_argument(
        "--after", action="append", default=[], metavar="NODE", help="start a token on its only flow out"
    )
    parser.add_argument("--cancel-at", action="append", default=[], metavar="NODE", help="end all tokens at the node")
    parser.add_argument("--cancel-token", action="append", default=[], metavar="ID", help="end this token")
    parser.add_argument("--variables", metavar="JSON", default="{}", help="variables of the process to set")
    add_reason(parser)
    add_actor(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Modify and say what was; the exit status."""
    try:
        record = engine.modify_instance(
            options["id"],
            start_before=options["before"],
            start_after=options["after"],
            cancel_at=options["cancel_at"],
            cancel_tokens=options["cancel_token"],
            variables=engine.loads(options["variables"]),
            actor=options["actor"],
            reason=options["reason"],
        )
    except engine.EngineError as refused:
        raise CommandError(f"{refused.code}: {refused.message}", returncode=1) from None
    command.stdout.write(f"{options['id']}: modified, commit {record.sequence}")
    return 0
