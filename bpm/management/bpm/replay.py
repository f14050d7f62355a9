"""Replay recorded instances: rebuild their state from history alone and ask whether every invariant holds.

    manage.py bpm replay --instance ID        one instance, compared with its rows where they are still kept
    manage.py bpm replay --definition order   all instances of a definition
    manage.py bpm replay --all --jobs 4       all that history knows, with four processes
    manage.py bpm replay audit.jsonl.zst      the instances of an exported file: no database is needed
    manage.py bpm replay --all --verify       decide each recorded command again, too: the events must be the same

Replay changes states only: no worker, no message, no other effect. What does not hold is printed with the invariant's
code and the commit; the last line is a summary. Exit status: 0 all is well, 1 something is not, 2 nothing was read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand

from bpm.audit.replaying import Outcome, Summary, replay_stored, replay_text
from bpm.management.choosing import add_choice, chosen_number, chosen_pages, opened, pieces
from bpm.management.progress import Progress
from bpm.management.spread import add_jobs, spread


def arguments(parser: argparse.ArgumentParser) -> None:
    """--instance ID | --definition KEY | --all | FILE, [--verify] [--jobs N]."""
    add_choice(parser)
    parser.add_argument("--verify", action="store_true", help="decide each command again and compare the events")
    add_jobs(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Replay and report; the exit status."""
    if options["file"] is None:
        work = partial(replay_stored, again=options["verify"])
        outcomes = spread(work, chosen_pages(options), options["jobs"])
        return report(command, outcomes, chosen_number(options))
    with opened(options["file"]) as lines:
        reading = partial(replay_text, again=options["verify"])
        return report(command, spread(reading, pieces(lines), options["jobs"]), None)


def report(command: BaseCommand, found: Iterable[list[Outcome]], expected: int | None, done: str = "replayed") -> int:
    """Print what is wrong as it is found, then the summary; the exit status."""
    summary = Summary()
    with Progress(command.stderr, "instances", expected) as bar:
        for outcomes in found:
            for outcome in outcomes:
                summary.add(outcome)
                for problem in outcome.problems:
                    command.stdout.write(f"{outcome.instance} {outcome.definition}  {problem.code}: {problem}")
            bar.advance(len(outcomes))
        seconds = bar.seconds
    rate = summary.events / max(seconds, 0.001)
    command.stdout.write(
        f"{summary.instances} instances {done}, {summary.commits} commits, {summary.events} events"
        f" in {seconds:.1f} s ({rate:,.0f} events/s); {summary.broken} with problems"
        + "".join(f"\n  {code}: {number}" for code, number in sorted(summary.codes.items()))
    )
    return int(summary.broken > 0)
