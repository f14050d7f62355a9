"""The demo accounts of script/up: made once with random passwords, and a worker's token; each is shown once.

.venv/bin/python -m config.accounts operator     a new password for one of them, printed
.venv/bin/python manage.py bpm token demo        a new token for a worker of that name, printed
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence

# Each account is named after its role.
ACCOUNTS: Sequence[str] = ("operator", "auditor")
WORKER = "demo"


def make_missing_accounts() -> dict[str, str]:
    """Fill the roles' groups, and make the accounts and the worker's token that are not there yet.

    Out: the password of each account made now, and the token by the name "worker token".
    """
    from django.contrib.auth import get_user_model

    from bpm.store import access

    access.fill_groups()
    users = get_user_model().objects
    made = {name: new_password(name) for name in ACCOUNTS if not users.filter(username=name).exists()}
    if WORKER not in {token.name for token in access.list_tokens()}:
        made["worker token"] = access.issue_token(WORKER, "worker")
    return made


def new_password(name: str) -> str:
    """Give the account, made when it is missing, a new random password. Out: the password."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group

    from bpm.store.access import ROLES

    password = secrets.token_urlsafe(12)
    user, _ = get_user_model().objects.get_or_create(username=name)
    user.set_password(password)
    user.save()
    group, _ = ROLES[name]
    user.groups.add(Group.objects.get(name=group))
    return password


def told(made: dict[str, str]) -> list[str]:
    """What the person at the terminal is told of them."""
    lines = [f"    {name:14}{secret}" for name, secret in made.items()]
    if made:
        lines.append("    These are shown only now.")
    else:
        lines.append(f"    Accounts, with the passwords shown before: {', '.join(ACCOUNTS)}.")
    lines.append("    A new password: .venv/bin/python -m config.accounts operator")
    lines.append(f"    A new token:    .venv/bin/python manage.py bpm token {WORKER}")
    return lines


def main() -> int:
    """Print a new password for the account named on the command line. Out: the exit code."""
    import django

    if len(sys.argv) != 2 or sys.argv[1] not in ACCOUNTS:
        print(f"usage: python -m config.accounts {'|'.join(ACCOUNTS)}", file=sys.stderr)
        return 2
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from bpm.store.access import fill_groups

    fill_groups()
    print(new_password(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
