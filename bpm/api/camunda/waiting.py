"""Long polling: a request that found nothing asks again until there is something, its time is over, or nobody waits.

While it waits it holds a thread and no connection to the database. All that wait in a process ask together no more
than ASKED times a second, however many they are: the more, the longer the pauses. The waiting is a task of the event
loop, where the server has one, and the asking goes back to the request's thread: so the loop ends it when the client
hangs up, and nothing is locked for who is gone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections

# Longer no request waits: its client gets an empty answer and asks again.
LONGEST = 30.0
# The first pause and the longest one, in seconds; each is twice as long as the one before.
PAUSES = (0.1, 1.0)
ASKED = 50

_waiting: set[object] = set()


def until_found[Found](look: Callable[[], list[Found]], seconds: float) -> list[Found]:
    """What `look` finds, now or within the seconds; an empty list when it was in vain."""
    found = look()
    if found or seconds <= 0 or _in_a_transaction():
        return found
    connections.close_all()
    me = object()
    _waiting.add(me)
    try:
        return async_to_sync(_asking)(look, min(seconds, LONGEST))
    except asyncio.CancelledError:
        return []
    finally:
        _waiting.discard(me)


async def _asking[Found](look: Callable[[], list[Found]], seconds: float) -> list[Found]:
    def again() -> list[Found]:
        found = look()
        if not found:
            connections.close_all()
        return found

    until = time.monotonic() + seconds
    pause, longest = PAUSES
    while (left := until - time.monotonic()) > 0:
        await _pause(min(left, max(pause, len(_waiting) / ASKED)))
        if found := await sync_to_async(again)():
            return found
        pause = min(2 * pause, longest)
    return []


async def _pause(seconds: float) -> None:
    await asyncio.sleep(seconds)


def _in_a_transaction() -> bool:
    """Then the connection cannot be let go of, and nothing new would be seen."""
    return any(connection.in_atomic_block for connection in connections.all(initialized_only=True))
