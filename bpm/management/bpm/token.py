"""Make, list or revoke tokens of programs that use the API.

    manage.py bpm token charge-worker                       a worker: it may fetch and complete external tasks
    manage.py bpm token deployer --role operator            may deploy, start, retry, cancel as well
    manage.py bpm token reports --role auditor --user ada   may read; ada answers for it
    manage.py bpm token charge-worker --revoke              it is of no use from now on
    manage.py bpm token                                     which there are, and when they were last used

The token is printed once, alone on standard output, and only its hash is kept. A second one of the same name takes the
place of the first. Programs send it as `Authorization: Bearer TOKEN`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from bpm.store import access


def arguments(parser: argparse.ArgumentParser) -> None:
    """[NAME] [--role ROLE] [--user USER] [--revoke]."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="what the token is called; without it, list all")
    parser.add_argument("--role", choices=sorted(access.ROLES), default="worker", help="what it may do (worker)")
    parser.add_argument("--user", metavar="USER", help="the account that answers for it: it ends with the account")
    parser.add_argument("--revoke", action="store_true", help="let the token be of no use from now on")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Print the token, or the list."""
    name = options["name"]
    if name is None:
        for token in access.list_tokens():
            used = "never used" if token.last_used_at is None else f"last used {token.last_used_at:%Y-%m-%d %H:%M} UTC"
            revoked = ", revoked" if token.revoked_at else ""
            command.stdout.write(f"{token.name}  {token.role}, {used}{revoked}")
        return 0
    if options["revoke"]:
        if not access.revoke_token(name):
            raise CommandError(f"there is no token {name}")
        command.stderr.write(f"{name} is revoked")
        return 0
    user = None
    if options["user"]:
        user = get_user_model().objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"there is no account {options['user']}")
    try:
        command.stdout.write(access.issue_token(name, options["role"], user))
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    command.stderr.write(f"{name} may act as {options['role']}. The token is shown only now.")
    return 0
