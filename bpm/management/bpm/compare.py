"""Decide recorded instances again with this engine, or with another version of their definition: where would they part?

The check before an upgrade (run it with the new version installed, on the old one's histories) and before a migration
of running instances to another version of a model.

    manage.py bpm compare --all --jobs 4                         with the engine that is installed here
    manage.py bpm compare histories.jsonl                        the instances of an exported file, without a database
    manage.py bpm compare --definition order --with-version 7    with version 7 of the definition
    manage.py bpm compare --definition order --with-model new/order.bpmn

An instance that would have decided anything otherwise is printed with the first commit that parts.
Exit status: 0 none would part, 1 some would, 2 nothing could be read.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.audit.replaying import compare_lines, compare_stored
from bpm.compiler import compile_bpmn
from bpm.graph import Process
from bpm.management.bpm.replay import report
from bpm.management.choosing import add_choice, chosen_number, chosen_pages, opened
from bpm.management.spread import add_jobs, positive, spread
from bpm.replay import UnreadableHistory


def arguments(parser: argparse.ArgumentParser) -> None:
    """--instance ID | --definition KEY | --all | FILE, [--with-version N | --with-model FILE [--process ID]]."""
    add_choice(parser)
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--with-version", type=positive, metavar="N", help="this version of --definition")
    other.add_argument("--with-model", metavar="FILE", help="a BPMN file")
    parser.add_argument("--process", metavar="ID", help="which process of --with-model (default: that of --definition)")
    add_jobs(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Decide again and report; the exit status."""
    process = _other(options)
    if options["file"] is None:
        work = partial(compare_stored, process=process)
        outcomes = spread(work, chosen_pages(options), options["jobs"])
        return report(command, outcomes, chosen_number(options), "decided again")
    try:
        with opened(options["file"]) as lines:
            return report(command, ([one] for one in compare_lines(lines, process=process)), None, "decided again")
    except UnreadableHistory as problem:
        raise CommandError(f"cannot read {options['file']}: {problem}", returncode=2) from None


def _other(options: Mapping[str, Any]) -> Process | None:
    """The graph to decide with; None: each instance's own. CommandError where there is no such one."""
    key, version = options["definition"], options["with_version"]
    if version is not None:
        if key is None:
            raise CommandError("--with-version says which version of --definition", returncode=2)
        from bpm.store import definitions

        id = definitions.find(key, version=version)
        if id is None:
            raise CommandError(f"there is no version {version} of {key}", returncode=2)
        return definitions.load(id).graph
    if options["with_model"] is None:
        return None
    return _compiled(Path(options["with_model"]), options["process"] or key)


def _compiled(file: Path, wanted: str | None) -> Process:
    try:
        compiled = compile_bpmn(file.read_bytes(), file=file.name)
    except OSError as problem:
        raise CommandError(f"cannot read {file}: {problem}", returncode=2) from None
    errors = [str(one) for one in compiled.diagnostics if one.severity == "error"]
    if errors:
        raise CommandError("\n".join(errors), returncode=2)
    found = {process.id: process for process in compiled.processes}
    if wanted is None and len(found) == 1:
        return next(iter(found.values()))
    if wanted not in found:
        raise CommandError(f"{file.name} has the processes {', '.join(found)}; --process says which", returncode=2)
    return found[wanted]
