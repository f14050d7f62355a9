"""Let suspended instances go on, or a suspended definition begin again.

    manage.py bpm resume ID ID --reason "why"           instances: they go on
    manage.py bpm resume --process order [--version 3]  a definition: it may be started again

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
    return each(command, options, "resumed", engine.resume_instance, engine.resume_definition)
