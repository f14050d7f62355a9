"""What `bpm suspend` and `bpm resume` share: instances by id, or one definition by its process."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.management.actor import add_actor, add_reason
from bpm.management.one_by_one import one_by_one

type Verb = Callable[..., Any]


def add_held(parser: argparse.ArgumentParser) -> None:
    """ID... | --process KEY [--version N], --reason and --actor."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="instances")
    parser.add_argument("--process", metavar="KEY", default=None, help="a definition instead, by its process")
    parser.add_argument("--version", metavar="N", type=int, default=None, help="a version of it (default: the newest)")
    add_reason(parser)
    add_actor(parser)


def each(command: BaseCommand, options: Mapping[str, Any], done: str, of_instance: Verb, of_definition: Verb) -> int:
    """Carry the verb out on each, and say so; the exit status: 0 all done, 1 something was refused."""
    if bool(options["ids"]) == bool(options["process"]):
        raise CommandError("give ids of instances, or --process KEY", returncode=2)
    by = {"actor": options["actor"], "reason": options["reason"]}
    process = options["process"]

    def hold(what: str) -> str:
        if process:
            of_definition(what, version=options["version"], **by)
        else:
            of_instance(what, **by)
        return done

    return one_by_one(command, [process] if process else options["ids"], hold)
