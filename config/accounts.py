"""The demo accounts of script/up: made once with random passwords, which are shown once.

.venv/bin/python -m config.accounts operator     a new password for one of them, printed
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping

# Account: the group it is in. Group: the beginnings of the names of bpm's permissions that it has.
ACCOUNTS: Mapping[str, str] = {"operator": "operators", "auditor": "auditors"}
GROUPS: Mapping[str, tuple[str, ...]] = {"operators": ("view_", "operate"), "auditors": ("view_", "audit")}


def make_missing_accounts() -> dict[str, str]:
    """Make the groups and those accounts that are not there yet. Out: the password of each account made now."""
    from django.contrib.auth import get_user_model

    fill_groups()
    users = get_user_model().objects
    return {name: new_password(name) for name in ACCOUNTS if not users.filter(username=name).exists()}


def fill_groups() -> None:
    """Make the groups and give each its permissions, also those that a later version added."""
    from django.contrib.auth.models import Group, Permission
    from django.db.models import Q

    for name, beginnings in GROUPS.items():
        group, _ = Group.objects.get_or_create(name=name)
        wanted = Q()
        for beginning in beginnings:
            wanted |= Q(codename__startswith=beginning)
        group.permissions.add(*Permission.objects.filter(wanted, content_type__app_label="bpm"))


def new_password(name: str) -> str:
    """Give the account, made when it is missing, a new random password. Out: the password."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group

    password = secrets.token_urlsafe(12)
    user, _ = get_user_model().objects.get_or_create(username=name, defaults={"is_staff": True})
    user.set_password(password)
    user.save()
    user.groups.add(Group.objects.get(name=ACCOUNTS[name]))
    return password


def main() -> int:
    """Print a new password for the account named on the command line. Out: the exit code."""
    import django

    if len(sys.argv) != 2 or sys.argv[1] not in ACCOUNTS:
        print(f"usage: python -m config.accounts {'|'.join(ACCOUNTS)}", file=sys.stderr)
        return 2
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    fill_groups()
    print(new_password(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
