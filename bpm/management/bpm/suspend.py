"""Hold instances, or let nothing begin of a definition, until they are resumed.

    manage.py bpm suspend ID ID --reason "why"           instances: nothing moves in them
    manage.py bpm suspend --process order [--version 3]  a definition: nothing begins of its newest version

Exit status: 0 all done, 1 something was refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand

from bpm import engine
from bpm.management.holding import add_held, each


def arguments(parser: argparse.ArgumentParser) -> None:
    """ID... | --process KEY [--version N], --reason and --actor."""
    add_held(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Do it and say so; the exit status."""
    return each(command, options, "suspended", engine.suspend_instance, engine.suspend_definition)
