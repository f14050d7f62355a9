"""Seal what is committed, now: what the schedule does every few seconds.

    manage.py bpm seal

Prints how many seals and commits there were, and how far seals are behind: a transaction that is held open holds them
back. Exit status: 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand

from bpm.audit import sealing


def arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Seal until nothing is left that is over."""
    seals = commits = 0
    while (done := sealing.seal())["seals"]:
        seals += done["seals"]
        commits += done["sealed_commits"]
    behind = sealing.delay()
    command.stdout.write(f"{seals} seals of {commits} commits; {behind.seconds:.0f} s behind the present")
    return 0
