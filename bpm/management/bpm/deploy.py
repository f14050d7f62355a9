"""Deploy BPMN and DMN files: from now on their processes can be started and their decisions evaluated.

All files of one call are compiled together, and every problem is said at once; with an error nothing is deployed. A
process or decision whose content is what it was keeps its version, a changed one gets the next; running instances stay
on theirs.

    manage.py bpm deploy order.bpmn                   one file
    manage.py bpm deploy models/ --name "March"       every .bpmn and .dmn file in the folder and below it, with a name
    manage.py bpm deploy order.bpmn --strict          the standard's rules that are warnings otherwise refuse, too
    manage.py bpm deploy order.bpmn --ignore listener-not-run
                                                      though a listener has no place where it could be run
    manage.py bpm deploy order.bpmn --json            what came of it as one JSON object

Exit status: 0 deployed, 1 refused, 2 a file could not be read.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.compiler.diagnostics import IGNORABLE
from bpm.engine.variables import dumps
from bpm.management.actor import add_actor

SUFFIXES = (".bpmn", ".bpmn20.xml", ".dmn")


def arguments(parser: argparse.ArgumentParser) -> None:
    """PATH... [--name NAME] [--strict] [--ignore CODE]... [--json] [--actor NAME]."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a BPMN or DMN file, or a folder of such files")
    parser.add_argument("--name", metavar="NAME", default="", help="what the deployment is called in lists")
    parser.add_argument("--strict", action="store_true", help="refuse also what breaks the standard's rules harmlessly")
    parser.add_argument(
        "--ignore", action="append", default=[], choices=sorted(IGNORABLE), help="accept what refuses a model otherwise"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_actor(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Deploy and say what there is now; the exit status."""
    files = _read(options["paths"])
    try:
        found = engine.deploy(
            files,
            name=options["name"],
            actor=options["actor"],
            strict=options["strict"],
            ignore=options["ignore"],
        )
    except engine.DeployRefused as refused:
        if options["json"]:
            command.stdout.write(dumps({"deployed": [], "diagnostics": [_shown(d) for d in refused.diagnostics]}))
        for diagnostic in refused.diagnostics:
            command.stderr.write(str(diagnostic))
        command.stderr.write("nothing was deployed")
        return 1
    if options["json"]:
        said = {
            "deployed": [_made(one) for one in found.definitions],
            "decisions": [_made(one) for one in found.decisions],
            "diagnostics": [_shown(diagnostic) for diagnostic in found.diagnostics],
        }
        command.stdout.write(dumps(said))
        return 0
    for diagnostic in found.diagnostics:
        if diagnostic.severity == "warning":
            command.stderr.write(str(diagnostic))
    for definition in found.definitions:
        how = "deployed" if definition.new else "unchanged"
        command.stdout.write(f"{definition.key} version {definition.version}: {how}")
    for decision in found.decisions:
        how = "deployed" if decision.new else "unchanged"
        command.stdout.write(f"decision {decision.key} version {decision.version}: {how}")
    return 0


def _read(paths: Sequence[str]) -> dict[str, bytes]:
    """The files by name, relative to the folder that was given."""
    files: dict[str, bytes] = {}
    for path in map(Path, paths):
        inside = sorted(p for p in path.rglob("*") if p.name.endswith(SUFFIXES)) if path.is_dir() else [path]
        for file in inside:
            try:
                files[str(file.relative_to(path)) if path.is_dir() else file.name] = file.read_bytes()
            except OSError as problem:
                raise CommandError(f"cannot read {file}: {problem.strerror}", returncode=2) from None
        if not inside:
            raise CommandError(f"there is no {' or '.join(SUFFIXES)} file in {path}", returncode=2)
    return files


def _made(deployed: engine.Deployed) -> dict[str, Any]:
    return {"key": deployed.key, "version": deployed.version, "id": deployed.id, "new": deployed.new}


def _shown(diagnostic: Any) -> dict[str, Any]:
    return {name: getattr(diagnostic, name) for name in ("code", "severity", "element", "line", "message", "file")}
