"""Run scenarios: tests of process models, in memory, with a virtual clock.

A scenario is a YAML document that says which models are deployed, how an instance starts, what happens to it and what
must then hold. Nothing is needed to run it: no server, no settings, no worker. With --engine the same files run through
the real engine, on a PostgreSQL that is started for it, or in a database of its own on the server of DATABASE_URL; then
every instance's state is read back and compared with what history replays to.

    manage.py bpm test examples/                     every scenario file in the folder and below it
    manage.py bpm test order.yaml                    one file
    manage.py bpm test order.yaml --only "is paid"   only scenarios with these words in their name
    manage.py bpm test order.yaml --verbose          passed ones are listed, too
    manage.py bpm test order.yaml --json             one JSON object a scenario, for programs
    manage.py bpm test --engine examples/            through the engine on PostgreSQL

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

What fails is reported with the step, what was expected, what was there, the path so far and the open incidents. A name
that no model has (of a mock, say) fails nothing, but is noted. The last line always reads "N passed, N failed". Exit
status: 0 all passed, 1 one failed, 2 a file could not be read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.scenarios import (
    CoreDriver,
    Document,
    Result,
    UnreadableFile,
    as_json,
    as_text,
    read_scenarios,
    run_document,
    scenario_files,
    strangers,
    summary,
)

# A document and the folder of its file, to its result.
type Perform = Callable[[Document, Path], Result]


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
    if options["engine"]:
        return _through_engine(command, options)
    return _report(command, options, on_core)


def on_core(document: Document, folder: Path) -> Result:
    """Perform a scenario in memory."""
    return run_document(document, partial(CoreDriver, folder))


def _through_engine(command: BaseCommand, options: Mapping[str, Any]) -> int:
    # The core needs no database, and so does not wait for what one needs to be loaded.
    from bpm import engine
    from bpm.management.driving import NoGround, ground, perform

    if options["jobs"] > 1:
        raise CommandError("the engine takes one scenario after the other: --jobs goes without --engine", returncode=2)
    # Nobody but the scenario does the work.
    engine.unregister("celery")
    instances = 0
    try:
        with ground() as database:

            def through_engine(document: Document, folder: Path) -> Result:
                nonlocal instances
                performance = perform(document, folder, database)
                instances += performance.instances
                return performance.result

            def say() -> None:
                made = f"{instances} instances, {database.all_commits()} rows in runtime_commit"
                (command.stderr if options["json"] else command.stdout).write(made)

            return _report(command, options, through_engine, say)
    except NoGround as problem:
        raise CommandError(str(problem), returncode=2) from None


def _report(
    command: BaseCommand, options: Mapping[str, Any], perform: Perform, say: Callable[[], None] = lambda: None
) -> int:
    """Perform, say what came of it, and `say` what there is to say of all before the last line."""
    results: list[Result] = []
    unreadable = False
    for outcome in _outcomes(options["paths"], perform, options["only"], options["jobs"]):
        if isinstance(outcome, UnreadableFile):
            unreadable = True
            command.stderr.write(f"cannot read {outcome.file}: {outcome.message}")
            continue
        results.append(outcome)
        if options["json"]:
            command.stdout.write(as_json(outcome))
        elif options["verbose"] or not outcome.passed or outcome.notes:
            command.stdout.write(as_text(outcome))
    say()
    command.stdout.write(summary(results))
    return 2 if unreadable else int(not all(result.passed for result in results))


def _outcomes(paths: Sequence[str], perform: Perform, only: str, jobs: int) -> Iterator[Result | UnreadableFile]:
    """The results in the order of the files, and what could not be read."""
    files: dict[Path, None] = {}
    for path in paths:
        try:
            files.update(dict.fromkeys(scenario_files([path])))
        except UnreadableFile as problem:
            yield problem
    run_file = partial(_run_file, perform, only)
    if jobs == 1 or len(files) < 2:
        for found in map(run_file, files):
            yield from found
        return
    with ProcessPoolExecutor(min(jobs, len(files))) as pool:
        for found in pool.map(run_file, files):
            yield from found


def _run_file(perform: Perform, only: str, file: Path) -> list[Result | UnreadableFile]:
    try:
        documents = read_scenarios(file)
    except UnreadableFile as problem:
        return [problem]
    return [_noted(perform(one, file.parent), one, file.parent) for one in documents if only in one.name]


def _noted(result: Result, document: Document, folder: Path) -> Result:
    """With what the scenario names that its models do not have."""
    if document.scenario is None:
        return result
    return replace(result, notes=tuple(strangers(document.scenario, folder)))


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)
