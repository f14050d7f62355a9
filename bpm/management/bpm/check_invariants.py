"""Check the invariants of the engine over the live database.

Each instance is replayed from history and compared with its rows, in one snapshot: the engine may run meanwhile. One
instance at a time is held in memory.

    manage.py bpm check-invariants --all                  every instance that history knows
    manage.py bpm check-invariants --all --seconds 60     as many as a minute allows
    manage.py bpm check-invariants --sample 500           500 at random
    manage.py bpm check-invariants --definition order --jobs 2
    manage.py bpm check-invariants --list                 the invariants, in words

What does not hold is printed and noted in history (ENGINE_VIOLATION), where the cockpit and the metrics show it; with
--no-note it is only printed. Exit status: 0 everything holds, 1 something does not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from bpm.audit import checking
from bpm.audit.histories import pages
from bpm.audit.replaying import CODES, Outcome, replay_stored
from bpm.management.bpm.replay import report
from bpm.management.choosing import add_choice, chosen_number, chosen_pages
from bpm.management.spread import add_jobs, positive, spread
from bpm.replay import INVARIANTS


def arguments(parser: argparse.ArgumentParser) -> None:
    """Which instances, or --list; [--seconds S] [--verify] [--no-note] [--jobs N]."""
    which = add_choice(parser, files=False)
    which.add_argument("--sample", type=positive, metavar="N", help="so many at random")
    which.add_argument("--list", action="store_true", help="say which invariants there are")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so many seconds")
    parser.add_argument("--verify", action="store_true", help="decide each command again, too")
    parser.add_argument("--no-note", action="store_true", help="write nothing into history")
    add_jobs(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Check and report; the exit status."""
    if options["list"]:
        for code, sentence in {**INVARIANTS, **CODES}.items():
            command.stdout.write(f"{code:26} {sentence}")
        return 0
    if options["seconds"] is not None and options["seconds"] <= 0:
        raise CommandError("--seconds must be more than 0", returncode=2)
    chosen: Iterable[list[UUID]]
    expected: int | None
    if options["sample"] is not None:
        chosen, expected = pages(sample=options["sample"], size=10), options["sample"]
    else:
        chosen, expected = chosen_pages(options), chosen_number(options)
    work = partial(replay_stored, again=options["verify"])
    outcomes = spread(work, checking.within(chosen, options["seconds"]), options["jobs"])
    return report(command, outcomes if options["no_note"] else _noted(outcomes), expected, "checked")


def _noted(found: Iterable[list[Outcome]]) -> Iterator[list[Outcome]]:
    for outcomes in found:
        for outcome in outcomes:
            checking.note(outcome)
        yield outcomes
