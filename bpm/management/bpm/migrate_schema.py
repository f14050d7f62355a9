"""Bring the database to the schema of this program: the first job of a deployment.

    manage.py bpm migrate-schema            all migrations of all apps
    manage.py bpm migrate-schema --before   those that older programs still running can bear; the others (named
                                            NNNN_after_...) when they have ended, by the first form

Like `manage.py migrate`, but two such jobs at once wait for each other. Run it as the owner of the tables; what the
application's role may do is given by `manage.py bpm harden` afterwards.

Exit status: 0, or 1 when a migration failed: each is one transaction, so it may be tried again.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand

from bpm.store import migrating


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--before]."""
    parser.add_argument("--before", action="store_true", help="only what older programs can bear")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Run the migrations."""
    migrating.run(before_only=options["before"], verbosity=options["verbosity"])
    return 0
