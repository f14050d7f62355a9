"""Run the DMN compatibility kit (https://github.com/dmn-tck/tck) where it lies.

    manage.py bpm tck TestCases                                      a folder with all below it
    manage.py bpm tck TestCases/compliance-level-2                   one level
    manage.py bpm tck TestCases/compliance-level-3/0068-feel-equality/0068-feel-equality-test-01.xml

Prints one JSON object a result: the folder, the case, the decision, whether it passed and, where it did not, what was
expected, what was found and why. The last line is a summary: N passed, N failed. With --failed only failures are
printed. No database is needed.

Exit status: 0 all passed, 1 something failed, 2 there was nothing to run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.compiler.dmn_tck import run_path
from bpm.compiler.xml import XmlFault


def arguments(parser: argparse.ArgumentParser) -> None:
    """PATH [--failed]."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a folder of the kit, or one of its test files")
    parser.add_argument("--failed", action="store_true", help="print failures only")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Run it and print the results as they come; the exit status."""
    path: Path = options["path"]
    if not path.exists():
        raise CommandError(f"there is no {path}", returncode=2)
    counts = {True: 0, False: 0}
    try:
        for result in run_path(path, datetime.now(UTC)):
            counts[result.passed] += 1
            if not (result.passed and options["failed"]):
                command.stdout.write(json.dumps(result.to_json(), ensure_ascii=False))
    except (FileNotFoundError, PermissionError, XmlFault) as problem:
        raise CommandError(f"cannot read the kit: {problem}", returncode=2) from None
    if not any(counts.values()):
        raise CommandError(f"there is no test file (NAME-test-NN.xml) in {path}", returncode=2)
    command.stdout.write(f"{counts[True]} passed, {counts[False]} failed")
    return int(counts[False] > 0)
