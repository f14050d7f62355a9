"""Say for how long history stays in the database after an instance has ended, before `bpm archive` moves it.

    manage.py bpm retention                             what is said
    manage.py bpm retention order --days 90             instances of order: 90 days
    manage.py bpm retention order --for-ever
    manage.py bpm retention --everything --days 365     all definitions of which nothing else is said

Nothing is moved of which nobody has said so, and nothing is ever deleted: what leaves the database is in the archive.
Exit status: 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.audit.archive import retention
from bpm.management.actor import add_actor, add_reason
from bpm.queries import definitions


def arguments(parser: argparse.ArgumentParser) -> None:
    """[KEY | --everything] [--days N | --for-ever]."""
    parser.add_argument("key", nargs="?", metavar="KEY", help="the definition")
    parser.add_argument("--everything", action="store_true", help="all definitions of which nothing else is said")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--days", type=int, metavar="N", help="so many days after the end of an instance")
    length.add_argument("--for-ever", action="store_true", help="never moved")
    add_actor(parser)
    add_reason(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Say it, or print what is said."""
    said = options["days"] is not None or options["for_ever"]
    if options["key"] is None and not options["everything"]:
        if said:
            raise CommandError("say of which: KEY or --everything", returncode=2)
        for one in retention.retentions():
            days = "for ever" if one.keep_days is None else f"{one.keep_days} days"
            command.stdout.write(f"{one.key or 'everything else'}: {days}")
        return 0
    if not said:
        raise CommandError("say --days N or --for-ever", returncode=2)
    key = retention.ALL if options["everything"] else options["key"]
    try:
        retention.set_retention(key, options["days"], actor=options["actor"], reason=options["reason"])
    except ValueError as problem:
        raise CommandError(str(problem), returncode=2) from None
    if key != retention.ALL and definitions.find_definition(key) is None:
        command.stderr.write(f"note: no process of the key {key} has been deployed yet")
    return 0
