"""Let running instances go on with another version of their definition.

    manage.py bpm migrate ID --plan                     what fits between the versions, and what not; nothing changes
    manage.py bpm migrate ID                            to the latest version
    manage.py bpm migrate ID --to 3 --node Pay=Charge   to version 3; what is open at Pay stands at Charge then
    manage.py bpm migrate ID --drop Reminder            a timer of the old version that the new one lacks may end

Several ids migrate one after the other, each in a transaction of its own. What would lose something is refused, with
the nodes named. Exit status: 0 all migrated, 1 something was refused (or does not fit, with --plan).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.management.actor import add_actor, add_reason
from bpm.management.one_by_one import one_by_one


def arguments(parser: argparse.ArgumentParser) -> None:
    """ID... [--to N] [--node OLD=NEW]... [--drop NODE]... [--plan] [--reason TEXT] [--actor NAME]."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="running instances")
    parser.add_argument("--to", type=int, metavar="N", help="the version to go on with (default: the latest)")
    parser.add_argument(
        "--node", action="append", default=[], metavar="OLD=NEW", help="where OLD is in the new version"
    )
    parser.add_argument("--drop", action="append", default=[], metavar="NODE", help="an event that may end")
    parser.add_argument("--plan", action="store_true", help="say what fits, and change nothing")
    add_reason(parser)
    add_actor(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Migrate, or plan, each instance; the exit status."""
    nodes = dict(_pair(text) for text in options["node"])
    if options["plan"]:
        return int(sum(not _planned(command, id, nodes, options) for id in options["ids"]) > 0)

    def migrate(id: str) -> str:
        record = engine.migrate_instance(
            id,
            version=options["to"],
            nodes=nodes,
            drop=options["drop"],
            actor=options["actor"],
            reason=options["reason"],
        )
        return f"migrated, commit {record.sequence}"

    return one_by_one(command, options["ids"], migrate)


def _planned(command: BaseCommand, id: str, nodes: dict[str, str], options: Mapping[str, Any]) -> bool:
    try:
        plan = engine.plan_migration(id, version=options["to"], nodes=nodes)
    except engine.EngineError as refused:
        command.stderr.write(f"{id}: {refused.code}: {refused.message}")
        return False
    for old, new in plan.nodes.items():
        command.stdout.write(f"{old} -> {new}")
    for problem in plan.problems:
        command.stdout.write(f"does not fit: {problem}")
    return not plan.problems


def _pair(text: str) -> tuple[str, str]:
    old, separator, new = text.partition("=")
    if not (old and separator and new):
        raise CommandError(f"--node takes OLD=NEW, not {text!r}", returncode=2)
    return old, new
