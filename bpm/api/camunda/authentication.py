"""Who asks: a program with a token, as `Authorization: Bearer TOKEN` or as the password of HTTP Basic.

There is no session here: browsers send it of their own accord, and Camunda's clients send no CSRF token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from ninja.security import HttpBasicAuth

from bpm.api.authentication import Caller, TokenAuth


class BasicAuth(HttpBasicAuth):
    """A program whose client sends a user and a password: the password is the token, the user may be any."""

    def __init__(self, *rights: str) -> None:
        self.token = TokenAuth(*rights)
        super().__init__()

    def __call__(self, request: HttpRequest) -> Any:
        """None for another scheme."""
        scheme, _, _ = request.headers.get("Authorization", "").partition(" ")
        return super().__call__(request) if scheme.lower() == "basic" else None

    def authenticate(self, request: HttpRequest, username: str, password: str) -> Caller | None:
        """As a Bearer token is taken."""
        return self.token.authenticate(request, password)


def may(*rights: str) -> list[Callable[[HttpRequest], Any]]:
    """For `auth=`: a token whose role has one of the rights ("view", "work", "operate")."""
    return [TokenAuth(*rights), BasicAuth(*rights)]
