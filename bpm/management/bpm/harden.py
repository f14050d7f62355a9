"""Give the role that the programs work as its rights, and take all others from it.

    manage.py bpm harden --role tokentrail_app              as the owner of the tables, after each migration
    manage.py bpm harden --role tokentrail_app --print      only print the statements, for who administers the database

The role may then read everything, add to history and change what changes, as the program needs it. It cannot switch a
trigger off or make one, set session_replication_role, TRUNCATE, create anything, or reach a month of history but
through its table (docs/security.md lists what was tried). A role that is a superuser, owns the tables or is a member of
a powerful role is refused: no grant could take that away. Where there is no such role it is made; give it a password.

Exit status: 0, or 1 when nothing was changed, with why.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError

from bpm.store import django_channel, hardening


def arguments(parser: argparse.ArgumentParser) -> None:
    """--role NAME [--print]."""
    parser.add_argument("--role", required=True, metavar="NAME", help="the role that web server, workers and beat use")
    parser.add_argument("--print", action="store_true", help="print the statements and change nothing")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Grant, or print."""
    channel, role = django_channel(), options["role"]
    if options["print"]:
        for statement in hardening.grants(role, channel=channel).statements:
            command.stdout.write(f"{statement.as_string(channel.raw)};")
        return 0
    try:
        given = hardening.harden(role, channel=channel)
    except hardening.CannotHarden as refusal:
        raise CommandError(str(refusal)) from None
    except psycopg.errors.InsufficientPrivilege as refusal:
        raise CommandError(f"this takes the owner of the tables, or a superuser: {refusal}") from None
    command.stderr.write(f"{role} has what it needs on {len(given.tables)} tables, and nothing else")
    return 0
