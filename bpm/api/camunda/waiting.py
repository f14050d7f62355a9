"""Long polling: a request that found nothing asks again until there is something, its time is over, or nobody waits.

While it waits it holds a thread and no connection to the database. All that wait in a process ask together no more
than ASKED times a second, however many they are: the more, the longer the pauses. A pause is slept by the server's
event loop where there is one: that ends it when the client hangs up, so that nothing is locked for who is gone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from asgiref.sync import async_to_sync
from django.db import connections

# Longer no request waits: its client gets an empty answer and asks again.
LONGEST = 30.0
# The first pause and the longest one, in seconds; each is twice as long as the one before.
PAUSES = (0.1, 1.0)
ASKED = 50

_waiting: set[object] = set()


def until_found[Found](look: Callable[[], list[Found]], seconds: float) -> list[Found]:
    """What `look` finds, now or within the seconds; an empty list when it was in vain."""
    until = time.monotonic() + min(seconds, LONGEST)
    found = look()
    if found or _in_a_transaction():
        return found
    me = object()
    _waiting.add(me)
    try:
        pause, longest = PAUSES
        while not found and (left := until - time.monotonic()) > 0:
            connections.close_all()
            if not _paused(min(left, max(pause, len(_waiting) / ASKED))):
                return []
            found, pause = look(), min(2 * pause, longest)
    finally:
        _waiting.discard(me)
    return found


def _paused(seconds: float) -> bool:
    """False where the client has hung up."""
    try:
        async_to_sync(asyncio.sleep)(seconds)
    except asyncio.CancelledError:
        return False
    return True


def _in_a_transaction() -> bool:
    """Then the connection cannot be let go of, and nothing new would be seen."""
    return any(connection.in_atomic_block for connection in connections.all(initialized_only=True))
