"""Store the base states of open instances, so that a program hydrates from them and not from all their history.

    manage.py bpm snapshot                              of every open instance that has gone on since its last one
    manage.py bpm snapshot --least 100                  only where 100 commits or more have come since
    manage.py bpm snapshot --output bases.jsonl         and write all base states to a file, a JSON object a line

A program on the coordinator that starts with hydrate="eager" reads what came after the base states, and refuses when
that is more than a million rows: then run this first. A base state is a cache; history has everything without it. It is
taken while everything goes on. Exit status: 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from bpm.store import bases
from bpm.store.values import dumps


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--least N] [--output FILE]."""
    parser.add_argument("--least", type=int, default=1, metavar="N", help="commits since the last base state (1)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write all base states there")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Take them, and write them."""
    done = bases.take(least=max(1, options["least"]))
    command.stdout.write(f"{done.taken} of {done.open} open instances, {done.dropped} of ended ones dropped")
    if options["output"]:
        written = 0
        with options["output"].open("w") as file:
            for base in bases.stored():
                head = dumps(
                    {
                        "thread_id": base.thread_id,
                        "version": base.version,
                        "last_at": base.at,
                        "sequence": base.sequence,
                        "taken_at": base.taken_at,
                    }
                )
                # The state is JSON text as the database wrote it: exact.
                file.write(f'{head[:-1]},"state":{base.state}}}\n')
                written += 1
        command.stderr.write(f"{written} base states in {options['output']}")
    return 0
