"""Run scenarios: tests of process models, in memory, with a virtual clock.

A scenario is a YAML document that says which models are deployed, how an instance starts, what happens to it and what
must then hold. Nothing is needed to run it: no server, no settings, no worker.

    manage.py bpm test examples/                     every scenario file in the folder and below it
    manage.py bpm test order.yaml                    one file
    manage.py bpm test order.yaml --only "is paid"   only scenarios with these words in their name
    manage.py bpm test order.yaml --verbose          passed ones are listed, too
    manage.py bpm test order.yaml --json             one JSON object a scenario, for programs

A short scenario:

    name: an order that is paid is shipped
    models: [order.bpmn]
    start: {process: order, variables: {amount: 12}}
    steps:
      - complete: {activity: ChargeCard, variables: {paid: true}}
      - expect: {waiting: [ApproveTask]}
      - complete: {activity: ApproveTask}
    expect: {passed: [ChargeCard, Ship], ended: true}

All that a scenario can say:

    models       BPMN and DMN files, deployed together; paths are relative to the scenario's file
    start        process, message or signal; business_key, variables
    mocks        what an activity (or topic:NAME) answers: variables, error {code, message, variables} or
                 fail {message, retries}; a list answers visit by visit, its last entry repeats
    called       process id: {variables} or {error}: calls of it are answered without its model
    auto         [user_task, external_task]: what no step and no mock names is completed at once
    steps        complete, error, fail {activity, topic}; message {name, business_key, correlation};
                 signal {name}; advance PT1H (the clock); fire_timer {activity}; set_variables;
                 expect (below); expect_error {step}: the step in it must be refused
    expect       waiting, passed (in this order), passed_once, passed_times, not_passed, ended, state,
                 end_events, variables, trace (topics done), trace_multiset, incidents
    deploy_error true: the models must be refused, false: accepted; strict: by the standard's rules, too

What fails is reported with the step, what was expected, what was there and the path so far. The last line always reads
"N passed, N failed". Exit status: 0 all passed, 1 one failed, 2 a file could not be read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.scenarios import (
    CoreDriver,
    Driver,
    Result,
    UnreadableFile,
    as_json,
    as_text,
    read_scenarios,
    run_document,
    scenario_files,
    summary,
)

# What drives the scenarios: name -> function of the scenario file's folder.
DRIVERS: dict[str, Callable[[Path], Driver]] = {"core": CoreDriver}


def arguments(parser: argparse.ArgumentParser) -> None:
    """PATH... [--only WORDS] [--json] [--verbose] [--engine] [--jobs N]."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a scenario file, or a folder of such files")
    parser.add_argument("--only", metavar="WORDS", default="", help="run only scenarios whose name has these words")
    parser.add_argument("--json", action="store_true", help="print one JSON object a scenario")
    parser.add_argument("--verbose", action="store_true", help="list scenarios that passed, too")
    parser.add_argument("--engine", action="store_true", help="run through the engine on PostgreSQL, not in memory")
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="run N files at once (default: 1)")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Run the scenarios and report; the exit status."""
    driver = "engine" if options["engine"] else "core"
    if driver not in DRIVERS:
        raise CommandError(f"there is no {driver} to run scenarios with", returncode=2)
    results: list[Result] = []
    unreadable = False
    for outcome in _outcomes(options["paths"], driver, options["only"], options["jobs"]):
        if isinstance(outcome, UnreadableFile):
            unreadable = True
            command.stderr.write(f"cannot read {outcome.file}: {outcome.message}")
            continue
        results.append(outcome)
        if options["json"]:
            command.stdout.write(as_json(outcome))
        elif options["verbose"] or not outcome.passed:
            command.stdout.write(as_text(outcome))
    command.stdout.write(summary(results))
    return 2 if unreadable else int(not all(result.passed for result in results))


def _outcomes(paths: Sequence[str], driver: str, only: str, jobs: int) -> Iterator[Result | UnreadableFile]:
    """The results in the order of the files, and what could not be read."""
    files: dict[Path, None] = {}
    for path in paths:
        try:
            files.update(dict.fromkeys(scenario_files([path])))
        except UnreadableFile as problem:
            yield problem
    perform = partial(_run_file, driver, only)
    if jobs == 1 or len(files) < 2:
        for found in map(perform, files):
            yield from found
        return
    with ProcessPoolExecutor(min(jobs, len(files))) as pool:
        for found in pool.map(perform, files):
            yield from found


def _run_file(driver: str, only: str, file: Path) -> list[Result | UnreadableFile]:
    try:
        documents = read_scenarios(file)
    except UnreadableFile as problem:
        return [problem]
    return [run_document(one, partial(DRIVERS[driver], file.parent)) for one in documents if only in one.name]


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)
