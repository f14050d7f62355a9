"""Tell what happened in an instance, from its history.

    manage.py bpm trace 0197...               one line an event: when, what, where, why, who
    manage.py bpm trace 0197... --json        one JSON array, as GET /api/instances/ID/trace gives it
    manage.py bpm trace 0197... --ndjson      one JSON object a line, for large instances
    manage.py bpm trace 0197... --node Pay --type TASK_FAILED --type TASK_RETRIED
    manage.py bpm trace 0197... --worker w1 --since 2026-11-01 --until 2026-12-01

Reads history alone, so it answers for instances that ended long ago, too. Exit status: 0, or 1 for an unknown id.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from bpm.audit.trace import TraceEvent, Wanted, find_thread, stream
from bpm.engine.variables import dumps
from bpm.management.bpm.export import moment
from bpm.management.lines import shown
from bpm.semantics.events import EVENT_TYPES


def arguments(parser: argparse.ArgumentParser) -> None:
    """INSTANCE [--json | --ndjson] [--newest-first] and the conditions: --node, --type, --worker, --since, --until."""
    parser.add_argument("instance", metavar="INSTANCE", help="the id of the instance")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON array")
    how.add_argument("--ndjson", action="store_true", help="one JSON object a line")
    parser.add_argument("--node", metavar="ID", help="only events at this element of the model")
    parser.add_argument(
        "--type",
        metavar="TYPE",
        action="append",
        default=[],
        choices=sorted(EVENT_TYPES),
        help="only events of this type",
    )
    parser.add_argument("--worker", metavar="NAME", help="only what this worker did")
    parser.add_argument("--since", type=moment, metavar="TIME", help="from this time on (ISO 8601)")
    parser.add_argument("--until", type=moment, metavar="TIME", help="before this time")
    parser.add_argument("--newest-first", action="store_true", help="the last event first")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Print the trace; the exit status."""
    try:
        instance = UUID(options["instance"])
    except ValueError:
        raise CommandError(f"{options['instance']!r} is no id of an instance", returncode=1) from None
    if find_thread(instance) is None:
        raise CommandError(f"history knows no instance {instance}", returncode=1)
    chosen = {name: options[name] for name in ("node", "worker", "since", "until")}
    wanted = Wanted(types=tuple(options["type"]), **chosen)
    events = stream(instance, wanted, newest_first=options["newest_first"])
    if not options["json"]:
        for event in events:
            command.stdout.write(dumps(event.as_json()) if options["ndjson"] else shown(line(event)))
        return 0
    separator = "[\n  "
    for event in events:
        command.stdout.write(separator + dumps(event.as_json()), ending="")
        separator = ",\n  "
    command.stdout.write("[]" if separator == "[\n  " else "\n]")
    return 0


def line(event: TraceEvent) -> str:
    """An event as a line for people."""
    where = event.node_name or event.node or ""
    change = (
        f"{event.from_state or ''} > {event.to_state}" if event.to_state and event.from_state != event.to_state else ""
    )
    set_to = ", ".join(f"{name} = {dumps(value)[:60]}" for name, value in event.variables.items())
    about = [event.topic and f"topic {event.topic}", event.worker and f"worker {event.worker}", event.error, set_to]
    why = f"({event.reason})" if event.reason not in (None, "none") else ""
    parts = [
        event.at.isoformat(sep=" ", timespec="milliseconds")[:23],
        f"{event.type:<20}",
        where,
        change.strip(" >"),
        why,
    ]
    said = event.stated_reason and f"because: {event.stated_reason}"
    return "  ".join(part for part in (*parts, *about, event.actor and f"by {event.actor}", said) if part)
