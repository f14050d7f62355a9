"""Who asks, and whether their role may: `Authorization: Bearer TOKEN`, or the cockpit's session with its CSRF token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from bpm.api.problems import Problem
from bpm.store import access

# Right -> permission that a person needs for it.
PERMISSIONS = {
    "view": "bpm.view_processinstance",
    "audit": "bpm.audit",
    "work": "bpm.work",
    "operate": "bpm.operate",
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the name that history keeps (a program's is "token:" and the token's, which no account can have), and
    whether it is a person with a session. `rights` are what its role may do.
    """

    name: str
    person: bool
    groups: tuple[str, ...] = ()
    rights: frozenset[str] = frozenset()


class TokenAuth(HttpBearer):
    """A program with a token."""

    def __init__(self, *rights: str) -> None:
        self.rights = rights
        super().__init__()

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """None for an unknown token; Problem where its role may not do this."""
        bearer = access.find_bearer(token)
        if bearer is None:
            raise Problem("not_authenticated", "the token is unknown or was revoked")
        if not any(bearer.may(right) for right in self.rights):
            able = " or ".join(
                sorted(f"the role {role}" for role, (_, can) in access.ROLES.items() if can & set(self.rights))
            )
            raise Problem("not_allowed", f"a token with the role {bearer.role} may not do this: it needs {able}")
        return Caller(f"token:{bearer.name}", person=False, rights=access.ROLES[bearer.role][1])


class SessionAuth(APIKeyCookie):
    """A person who is logged in to the cockpit. Whoever changes something shows the CSRF token, too."""

    param_name = settings.SESSION_COOKIE_NAME

    def __init__(self, *rights: str) -> None:
        self.rights = rights
        super().__init__(csrf=False)

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        """None without a session; Problem where the person may not do this."""
        user = request.user
        if not user.is_authenticated:
            return None
        if check_csrf(request) is not None:
            raise Problem("csrf_failed", "a request with a session needs the header X-CSRFToken")
        if not any(user.has_perm(PERMISSIONS[right]) for right in self.rights):
            needed = " or ".join(PERMISSIONS[right] for right in self.rights)
            raise Problem("not_allowed", f"{user.get_username()} may not do this: it needs {needed}")
        groups = tuple(user.groups.order_by("name").values_list("name", flat=True))
        rights = frozenset(right for right, permission in PERMISSIONS.items() if user.has_perm(permission))
        return Caller(user.get_username(), person=True, groups=groups, rights=rights)


def may(*rights: str) -> list[Callable[[HttpRequest], Any]]:
    """For `auth=`: a token or a session whose role has one of the rights ("view", "audit", "work", "operate")."""
    return [TokenAuth(*rights), SessionAuth(*rights)]
