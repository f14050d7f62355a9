"""Variables as people give them to a command: a JSON object, or a file that holds one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from bpm.engine.variables import loads


def add_variables(parser: argparse.ArgumentParser) -> None:
    """--variables JSON | @FILE | @-."""
    parser.add_argument("--variables", metavar="JSON", default="{}", help="a JSON object, or @FILE")


def variables_of(text: str) -> Any:
    """The value of --variables. Raises CommandError for a file that cannot be read, InvalidVariables for no JSON."""
    if text.startswith("@"):
        try:
            text = sys.stdin.read() if text == "@-" else Path(text[1:]).read_text()
        except OSError as problem:
            raise CommandError(f"cannot read {text[1:]}: {problem.strerror}", returncode=2) from None
    return loads(text)
