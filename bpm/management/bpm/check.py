"""Check processes before they run: every way that an instance can go is explored, and what can go wrong is shown.

The checker sends a process everything that the world may send it (tasks done in any order, errors, timers, messages)
with every outcome of its conditions, and follows it with the very rules that run it live. Nothing is needed: no server,
no settings.

    manage.py bpm check order.bpmn                      one file
    manage.py bpm check models/                         every .bpmn file in the folder and below it
    manage.py bpm check order.bpmn --process order      one process of it
    manage.py bpm check order.bpmn --verbose            notes, and what was taken for granted, too
    manage.py bpm check order.bpmn --json               one JSON object a process, for programs
    manage.py bpm check order.bpmn --scenarios ways.yaml    the ways as scenarios, which `bpm test ways.yaml` runs
    manage.py bpm check models/ --strict --jobs 4       warnings, and what was not looked at, fail as well

What is found:

    deadlock            error    tokens wait for what can never come (a join after an exclusive split)
    never-ends          error    from there on no end can be reached any more
    grows               error    each round of a loop leaves one more token behind
    no-way-out          error    a token stops with an incident there, whatever the data is
    no-flow             warning  there is data with which no flow can be taken, and there is no default
    error-uncaught      warning  an error that the model throws is caught nowhere
    several-at-once     warning  tokens of a fork meet before an activity without a join: each does it
    never-reached       warning  no token ever comes there
    escalation-uncaught note     nothing catches the escalation

Each names its elements and the shortest way there. A way that data decides on is run as a scenario on the real process;
what no run has shown is a warning, since the data of the process may exclude it. docs/checking.md says what is taken
for granted, and what it proves that nothing was found.

Exit status: 0 no error, 1 an error (with --strict: or a warning, or not everything could be looked at), 2 a file could
not be read.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from bpm.checker import Bounds, Finding, Report, as_text, check, shown_by
from bpm.compiler import Diagnostic, compile_bpmn
from bpm.management.lines import shown
from bpm.management.progress import Progress
from bpm.management.spread import add_jobs, positive
from bpm.scenarios import CoreDriver
from bpm.scenarios import run as run_scenario
from bpm.scenarios.parse import parse

SUFFIXES = (".bpmn", ".bpmn20.xml")


def arguments(parser: argparse.ArgumentParser) -> None:
    """PATH... [--process ID] [--states N] [--tokens N] [--rounds N] [--strict] [--verbose] [--json] [...]."""
    usual = Bounds()
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a BPMN file, or a folder of such files")
    parser.add_argument("--process", metavar="ID", help="only this process")
    parser.add_argument(
        "--states", type=positive, default=usual.states, metavar="N",
        help=f"look at N situations at most (default: {usual.states:,})",
    )  # fmt: skip
    parser.add_argument(
        "--tokens", type=positive, default=usual.tokens, metavar="N",
        help=f"more than N tokens at one place are not followed (default: {usual.tokens})",
    )  # fmt: skip
    parser.add_argument(
        "--rounds", type=positive, default=usual.rounds, metavar="N",
        help=f"a parallel multi-instance has N rounds at most (default: {usual.rounds})",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="warnings fail, and so does what is not complete")
    parser.add_argument("--verbose", action="store_true", help="say notes, and what is taken for granted")
    parser.add_argument("--json", action="store_true", help="print one JSON object a process")
    parser.add_argument("--scenarios", metavar="FILE", type=Path, help="write the ways as scenarios to this file")
    add_jobs(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Check and report; the exit status."""
    bounds = Bounds(states=options["states"], tokens=options["tokens"], rounds=options["rounds"])
    reports: list[Report] = []
    refused, failed, scenarios = 0, 0, []
    for file, checked in _checked(
        _files(options["paths"]), bounds, options["process"], options["jobs"], command.stderr
    ):
        for diagnostic in checked.refusals:
            command.stderr.write(shown(str(diagnostic)))
        refused += bool(checked.refusals)
        for report in checked.reports:
            reports.append(report)
            failed += _fails(report, strict=options["strict"])
            told = json.dumps(report.to_json(), ensure_ascii=False, default=_plain) if options["json"] else None
            command.stdout.write(told or shown(as_text(report, verbose=options["verbose"])))
            scenarios += [(file, finding) for finding in report.findings if finding.scenarios]
    if options["process"] and not reports:
        raise CommandError(f"there is no process {options['process']} in these files", returncode=2)
    if options["scenarios"] is not None:
        _write(options["scenarios"], scenarios)
    partly = sum(not report.complete for report in reports)
    states = sum(report.states for report in reports)
    command.stdout.write(
        f"{len(reports)} checked, {failed} failed, {refused} refused, {partly} not complete, {states:,} situations"
    )
    return int(failed > 0 or refused > 0)


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a file: reports of its processes, or why it is refused."""

    reports: tuple[Report, ...] = ()
    refusals: tuple[Diagnostic, ...] = ()


def _files(paths: list[str]) -> list[Path]:
    files: dict[Path, None] = {}
    for path in map(Path, paths):
        inside = sorted(p for p in path.rglob("*") if p.name.endswith(SUFFIXES)) if path.is_dir() else [path]
        if not inside:
            raise CommandError(f"there is no {' or '.join(SUFFIXES)} file in {path}", returncode=2)
        files.update(dict.fromkeys(inside))
    for file in files:
        try:
            file.open("rb").close()
        except OSError as problem:
            raise CommandError(f"cannot read {file}: {problem.strerror}", returncode=2) from None
    return list(files)


def _checked(
    files: list[Path], bounds: Bounds, only: str | None, jobs: int, stream: Any
) -> Iterator[tuple[Path, Checked]]:
    """What came of each file, in order; on a terminal a bar says how far the one at hand is."""
    if jobs == 1 or len(files) < 2:
        for file in files:
            with Progress(stream, f"situations of {file.name}") as bar:
                checked = check_file(file, bounds, only, bar)
            yield file, checked
        return
    with ProcessPoolExecutor(min(jobs, len(files))) as pool:
        yield from zip(files, pool.map(partial(check_file, bounds=bounds, only=only), files), strict=True)


def check_file(file: Path, bounds: Bounds, only: str | None = None, bar: Progress | None = None) -> Checked:
    """Check the processes of a file, and run the scenario of each finding."""
    compiled = compile_bpmn(file.read_bytes(), file=str(file))
    if compiled.errors:
        return Checked(refusals=compiled.errors)
    models = [file.name, *sorted(table.name for table in file.parent.glob("*.dmn"))]
    reports = []
    for process in compiled.processes:
        if only in (None, process.id):
            told = 0

            def tell(states: int, waiting: int) -> None:
                nonlocal told
                if bar is not None:
                    bar.advance(states - told)
                told = states

            decides = any(node.decision is not None for node in process.nodes.values())
            report = check(process, bounds, file=str(file), models=models if decides else models[:1], told=tell)
            shows = partial(_shows, folder=file.parent)
            reports.append(replace(report, findings=_sorted(shown_by(one, shows) for one in report.findings)))
    return Checked(tuple(reports))


def _sorted(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    order = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(findings, key=lambda one: order[one.severity]))


def _shows(document: dict[str, Any], folder: Path) -> bool:
    """Whether the scenario, run on the real process in memory, ends as it says."""
    scenario = parse(document, file="", number=1).scenario
    return scenario is not None and run_scenario(scenario, lambda: CoreDriver(folder)).passed


def _fails(report: Report, *, strict: bool) -> bool:
    failing = ("error", "warning") if strict else ("error",)
    return any(finding.severity in failing for finding in report.findings) or (strict and not report.complete)


def _write(target: Path, found: list[tuple[Path, Finding]]) -> None:
    """One document a finding, with paths of models as seen from the file that is written."""
    documents: list[str] = []
    names: dict[str, int] = {}
    for file, finding in found:
        scenario = dict(finding.scenarios[0])
        names[scenario["name"]] = names.get(scenario["name"], 0) + 1
        if names[scenario["name"]] > 1:
            scenario["name"] += f" ({names[scenario['name']]})"
        folder = os.path.relpath(file.parent, target.parent)
        scenario["models"] = [(Path(folder) / model).as_posix() for model in scenario["models"]]
        about = "\n".join(f"# {line}" for line in str(finding).splitlines())
        documents.append(about + "\n" + yaml.dump(scenario, Dumper=_Dumper, sort_keys=False, allow_unicode=True))
    try:
        target.write_text("---\n".join(documents), encoding="utf-8")
    except OSError as problem:
        raise CommandError(f"cannot write {target}: {problem.strerror}", returncode=2) from None


class _Dumper(yaml.SafeDumper):
    """Writes exact numbers as they are, and every mention of a value in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(Decimal, lambda dumper, data: dumper.represent_scalar("tag:yaml.org,2002:float", str(data)))


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{value!r} has no form in JSON")
