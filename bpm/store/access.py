"""Who may do what: roles as groups of rights, and the tokens of programs.

A role is a Django group; a token has a role directly. A token is 32 bytes of chance, shown once when it is issued; the
table keeps its SHA-256. It needs no slow hash: nobody can guess 256 bits.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.db import DatabaseError, transaction
from django.db.models import Q
from django.utils import timezone

from bpm.models import ApiToken
from bpm.store.outside import query

PREFIX = "tt_"
# A token's last use is written at most so often: a busy worker does not update a row at each request.
NOTED_EVERY = timedelta(minutes=5)

# Role -> (its group, what it may do; "view" stands for reading every table).
ROLES: Mapping[str, tuple[str, frozenset[str]]] = {
    "worker": ("workers", frozenset({"work"})),
    "operator": ("operators", frozenset({"view", "work", "operate", "audit"})),
    "auditor": ("auditors", frozenset({"view", "audit"})),
}


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who a token stands for."""

    id: UUID
    name: str
    role: str

    def may(self, right: str) -> bool:
        """Whether the token's role has the right."""
        return right in ROLES[self.role][1]


def issue_token(name: str, role: str, user: Any = None) -> str:
    """Make a token, or a new one in place of the one of that name. Out: the token, shown here and never again.

    Raises ValueError for a role that there is none of, or a name that is none.
    """
    if role not in ROLES:
        raise ValueError(f"{role} is no role; there are {', '.join(ROLES)}")
    if not name or len(name) > 200:
        raise ValueError("a token's name has 1 to 200 characters")
    token = PREFIX + secrets.token_urlsafe(32)
    values = {"digest": _digest(token), "role": role, "user": user, "created_at": timezone.now(), "revoked_at": None}
    ApiToken.objects.update_or_create(name=name, defaults=values, create_defaults={"id": uuid4(), **values})
    return token


def revoke_token(name: str) -> bool:
    """Let a token be of no use from now on. Out: whether there was one."""
    return ApiToken.objects.filter(name=name, revoked_at=None).update(revoked_at=timezone.now()) > 0


def list_tokens() -> list[ApiToken]:
    """All tokens by name."""
    return list(ApiToken.objects.order_by("name"))


def find_bearer(token: str) -> Bearer | None:
    """Who the token stands for; None for one that is unknown, revoked, or of a person who may not log in any more."""
    if not token.startswith(PREFIX):
        return None
    found = query(None, "bearer", {"digest": _digest(token)})
    if not found:
        return None
    id, name, role, user, last_used_at = found[0]
    if user is not None and not get_user_model().objects.filter(pk=user, is_active=True).exists():
        return None
    now = timezone.now()
    if last_used_at is None or now - last_used_at > NOTED_EVERY:
        # A note, and no more: also where the database takes no changes at the moment, the token is what it is.
        with contextlib.suppress(DatabaseError), transaction.atomic():
            ApiToken.objects.filter(id=id).update(last_used_at=now)
    return Bearer(id, name, role)


def fill_groups() -> None:
    """Make the groups of the roles and give each its rights, also those that a later version added."""
    from django.contrib.auth.models import Group, Permission

    for group_name, rights in ROLES.values():
        wanted = Q(codename__in=rights - {"view"})
        if "view" in rights:
            wanted |= Q(codename__startswith="view_")
        group, _made = Group.objects.get_or_create(name=group_name)
        group.permissions.add(*Permission.objects.filter(wanted, content_type__app_label="bpm"))


def keep_groups_current(sender: Any, **_: Any) -> None:
    """post_migrate: after our own permissions were made, which is with the app of permissions at the latest."""
    if sender.label in ("bpm", "auth"):
        fill_groups()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
