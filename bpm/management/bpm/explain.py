"""Say why a token is where it is: how it came there, what it waits for, and who can move it.

    manage.py bpm explain 0197...            a token, or a task, timer, ticket or incident: the token it hangs on
    manage.py bpm explain 0197... --json     the same for programs

The id of an instance explains all its open tokens. Exit status: 0, or 1 for an unknown id.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from bpm.audit.explain import Explanation, explain, explain_tokens, open_tokens
from bpm.engine.variables import dumps
from bpm.management.lines import shown


def arguments(parser: argparse.ArgumentParser) -> None:
    """ID [--json]."""
    parser.add_argument(
        "id", metavar="ID", help="the id of a token, a task, a timer, a ticket, an incident, an instance"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Print the explanation; the exit status."""
    try:
        id = UUID(options["id"])
    except ValueError:
        raise CommandError(f"{options['id']!r} is no id", returncode=1) from None
    tokens = open_tokens(id)
    found = explain_tokens(tokens) if tokens else [one for one in (explain(id),) if one is not None]
    if not found:
        raise CommandError(f"there is nothing of the id {id} now; manage.py bpm trace reads history", returncode=1)
    command.stdout.write(_json(found) if options["json"] else shown("\n\n".join(one.as_text() for one in found)))
    return 0


def _json(found: list[Explanation]) -> str:
    return dumps([explanation.as_json() for explanation in found])
