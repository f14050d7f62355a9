"""Who is told, after a commit, that something is ready. The engine knows no Celery: announcers register from above.

An announcement is a wake-up and nothing more. It may be lost, doubled or late: what it says stands in the tables, and
the schedulers find it. So an announcer must return at once and must not raise; if it does, that is logged and
forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import structlog

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What has become ready: tasks of these topics (one name a task), instances with more to do than was done here, and
    messages that wait for their delivery.
    """

    topics: tuple[str, ...] = ()
    instances: tuple[UUID, ...] = ()
    messages: bool = False

    def __bool__(self) -> bool:
        return bool(self.topics or self.instances or self.messages)


type Announcer = Callable[[Announcement], None]

_ANNOUNCERS: dict[str, Announcer] = {}


def register(name: str, announcer: Announcer) -> None:
    """From now on this one is told; a second one of the same name takes its place."""
    _ANNOUNCERS[name] = announcer


def unregister(name: str) -> None:
    """It is told no more."""
    _ANNOUNCERS.pop(name, None)


def announce(announcement: Announcement) -> None:
    """Tell everybody."""
    if not announcement:
        return
    for name, announcer in list(_ANNOUNCERS.items()):
        try:
            announcer(announcement)
        except Exception:
            log.exception("announcer failed", announcer=name)
