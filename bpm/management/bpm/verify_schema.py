"""Check that the database is what this program was written for.

    manage.py bpm verify-schema             compare what is installed with what the migrations make
    manage.py bpm verify-schema --record    after a new migration: write bpm/store/schema.json anew, from a database
                                            of its own that is migrated for it

Compared are the migrations applied, every table, column, constraint, index, trigger, function body, view and sequence,
that pgtrigger's off-switch is gone, and that each table of history has its months ahead. Web server, worker and beat
make the same check when they start, and do not start where it fails.

Exit status: 0 when nothing differs, 1 with a list of what does.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError

from bpm.management.driving.ground import NoGround, ground
from bpm.store import schema


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--record]."""
    parser.add_argument("--record", action="store_true", help="write the record anew, after a new migration")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Print the verdict, or write the record."""
    if options["record"]:
        return _record(command)
    verdict = schema.verify()
    for note in verdict.notes:
        command.stdout.write(f"note: {note}")
    for difference in verdict.differences:
        command.stdout.write(difference)
    if verdict.fit:
        command.stdout.write("the schema is as it should be")
        return 0
    return 1


def relations() -> list[str]:
    """The tables and views of the app."""
    return sorted(model._meta.db_table for model in apps.get_app_config("bpm").get_models())


def _record(command: BaseCommand) -> int:
    try:
        with ground():
            text = schema.record_of(None, relations())
    except NoGround as problem:
        raise CommandError(str(problem)) from None
    path = Path(schema.__file__).with_name("schema.json")
    path.write_text(text)
    command.stderr.write(f"wrote {path.name}: {text.count(chr(10))} lines")
    return 0
