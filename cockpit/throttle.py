"""Guessing passwords takes time: after some wrong ones whoever tries has to wait a few minutes.

Wrong tries are counted for a name from an address, and for an address alone, in Django's default cache. Without a cache
that processes share each process counts by itself. Behind a proxy all come from one address: the proxy should limit the
login, too (docs/security.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from django.core.cache import cache
from django.http import HttpRequest

SECONDS = 300
# Wrong tries within that time after which one waits: of a name from an address, of an address.
OF_NAME = 10
OF_ADDRESS = 200


def must_wait(request: HttpRequest, name: str) -> bool:
    """Whether there were too many wrong tries of late."""
    return any(cache.get(key, 0) >= most for key, most in _keys(request, name))


def note_failure(request: HttpRequest, name: str) -> None:
    """One more wrong try."""
    for key, _most in _keys(request, name):
        cache.add(key, 0, SECONDS)
        try:
            cache.incr(key)
        except ValueError:  # it ran out in between
            cache.set(key, 1, SECONDS)


def forget(request: HttpRequest, name: str) -> None:
    """The right password was given."""
    cache.delete(next(_keys(request, name))[0])


def _keys(request: HttpRequest, name: str) -> Iterator[tuple[str, int]]:
    address = request.META.get("REMOTE_ADDR", "")
    yield _key(address, name.casefold()), OF_NAME
    yield _key(address), OF_ADDRESS


def _key(*parts: str) -> str:
    return "cockpit-login-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
