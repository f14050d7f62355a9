"""Evaluate a deployed decision, and say which rules matched.

    manage.py bpm decide tier --variables '{"amount": 99.50}'        by the decision's key, its newest version
    manage.py bpm decide tier --variables @invoice.json              variables from a file (@- reads standard input)
    manage.py bpm decide tier --version 2                            an older version
    manage.py bpm decide tier --version-tag spring                   the version that people call so
    manage.py bpm decide tier --variables '{"amount": 1}' --json     the result and the way to it as one JSON object

Prints the result; below it, every table that was evaluated, with its inputs and the rules that matched, and why
something is null where that is known. Nothing is recorded and nothing changes.

Exit status: 0 evaluated, 1 there is no such decision or it cannot be evaluated with these variables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.engine.decisions import Evaluated
from bpm.engine.variables import dumps
from bpm.management.given import add_variables, variables_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """DECISION [--variables JSON] [--version N | --version-tag TAG] [--json]."""
    parser.add_argument("decision", metavar="DECISION", help="the key of the decision (its id in the model)")
    add_variables(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--version", metavar="N", type=int, default=None, help="a version of it (default: the newest)")
    which.add_argument("--version-tag", metavar="TAG", default=None, help="the newest version with this tag")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Evaluate it and print the result and the rules; the exit status."""
    try:
        found = engine.evaluate_decision(
            options["decision"],
            variables_of(options["variables"]),
            version=options["version"],
            version_tag=options["version_tag"],
        )
    except engine.EngineError as refused:
        raise CommandError(f"{refused.code}: {refused.message}", returncode=1) from None
    if options["json"]:
        command.stdout.write(dumps(found.as_json()))
        return 0
    for line in _told(found):
        command.stdout.write(line)
    return 0


def _told(found: Evaluated) -> Iterator[str]:
    yield dumps(found.result)
    yield ""
    yield f"{found.definition.key} version {found.definition.version}"
    for table in found.tables:
        yield f"table of {table['decision']}: {_pairs(table['inputs'])}"
        for rule in table["rules"]:
            yield f"  rule {rule['number']}: {_pairs(rule['outputs'].items())}"
        if not table["rules"]:
            yield "  no rule matched"
    for warning in found.warnings:
        yield f"note: {warning}"


def _pairs(pairs: Any) -> str:
    return ", ".join(f"{name or '?'} = {dumps(value)}" for name, value in pairs)
