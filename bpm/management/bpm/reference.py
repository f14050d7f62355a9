"""Write the reference of what of BPMN runs: elements, positions, vendors' words, static rules.

    manage.py bpm reference                          print it
    manage.py bpm reference --write docs/bpmn.md     write it into a file

It is made from the compiler's own tables. Nothing is needed to run it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from bpm.compiler.reference import markdown


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--write FILE]."""
    parser.add_argument("--write", metavar="FILE", type=Path, help="write it into this file instead of printing it")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Print or write the page; the exit status."""
    if options["write"] is None:
        command.stdout.write(markdown())
    else:
        options["write"].write_text(markdown(), encoding="utf-8")
    return 0
