"""Let stopped work be tried again.

    manage.py bpm retry ID                              an incident's id; an instance's id means all of its incidents
    manage.py bpm retry ID --retries 5                  with more than one try for a failed task
    manage.py bpm retry ID --reason "gateway is back"   history keeps who and why

Find incidents with `manage.py bpm instances --incidents`. Exit status: 0 retried, 1 refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from bpm import engine
from bpm.management.actor import add_actor, add_reason
from bpm.queries import incidents


def arguments(parser: argparse.ArgumentParser) -> None:
    """ID [--retries N] [--reason TEXT] [--actor NAME]."""
    parser.add_argument("id", metavar="ID", help="an incident, or an instance with incidents")
    parser.add_argument("--retries", metavar="N", type=int, default=1, help="tries for a failed task (default: 1)")
    add_reason(parser)
    add_actor(parser)


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Retry and say what was; the exit status."""
    try:
        id = UUID(options["id"])
    except ValueError:
        raise CommandError(f"{options['id']!r} is no id", returncode=1) from None
    found = [row.id for row in incidents.list_incidents(instance_id=id).items] or [id]
    for incident in found:
        try:
            engine.retry_incident(
                incident, retries=options["retries"], actor=options["actor"], reason=options["reason"]
            )
        except engine.EngineError as refused:
            raise CommandError(f"{refused.code}: {refused.message}", returncode=1) from None
        command.stdout.write(f"{incident}: retried")
    return 0
