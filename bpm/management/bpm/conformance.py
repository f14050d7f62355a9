"""Count what the engine does with public models and tests, and write docs/conformance.md.

PATH is a folder with one folder a source: scenarios in this project's format (`bpm test --help` says what they hold),
models of other engines, the DMN compatibility kit. Every scenario runs on the core and through the engine; a PostgreSQL
is started for it where DATABASE_URL names none.

    manage.py bpm conformance ../shared/corpus                                  print the page
    manage.py bpm conformance ../shared/corpus --output docs/conformance.md     write it
    manage.py bpm conformance ../shared/corpus --check docs/conformance.md      compare, and say whether it is current

Exit status: 0, 1 where --check finds another page, 2 where the sources cannot be read.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

# Lines of difference that --check shows.
SHOWN = 40


def arguments(parser: argparse.ArgumentParser) -> None:
    """PATH [--output FILE | --check FILE]."""
    parser.add_argument("path", metavar="PATH", type=Path, help="the folder of the sources")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", metavar="FILE", type=Path, help="write the page there instead of printing it")
    where.add_argument("--check", metavar="FILE", type=Path, help="compare the page with that file")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Count, and write, compare or print the page; the exit status."""
    # What needs the engine is loaded for this command alone.
    from bpm import engine
    from bpm.management.conformance import judge, page, survey
    from bpm.management.driving import NoGround, ground, perform

    engine.unregister("celery")
    try:
        with ground() as database:
            judged = list(judge(options["path"], partial(perform, ground=database)))
        written = page(survey(options["path"], judged))
    except (NoGround, OSError) as problem:
        raise CommandError(str(problem), returncode=2) from None
    if options["check"]:
        return _compare(command, options["check"], written)
    if options["output"]:
        options["output"].write_text(written)
    else:
        command.stdout.write(written, ending="")
    return 0


def _compare(command: BaseCommand, file: Path, written: str) -> int:
    there = file.read_text() if file.exists() else ""
    different = list(difflib.unified_diff(there.splitlines(), written.splitlines(), str(file), "now", lineterm=""))
    for line in different[:SHOWN]:
        command.stdout.write(line)
    return int(bool(different))
