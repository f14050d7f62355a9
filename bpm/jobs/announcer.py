"""Wake-ups for Celery, sent by a thread of their own: no request, no commit and no handler ever waits for Redis.

What is announced goes into a bounded queue; one daemon thread a process sends it. Is the queue full or the broker dead,
wake-ups are dropped: the sweeps find the work in the database a few seconds later. After a failure nothing is sent for
a moment, so that a dead broker costs one attempt a second, not one a commit.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
from collections.abc import Iterable
from typing import Any

import structlog
from celery import current_app

from bpm.engine.announcing import Announcement
from bpm.jobs.handlers import handler
from bpm.jobs.queues import CONTINUE, JOB, WORK, queue_of

log = structlog.get_logger(__name__)

# Announcements that may wait to be sent.
WAITING = 1_000
# Seconds without an attempt after the broker could not be reached.
REST = 1.0
# A wake-up older than this is of no use any more: the sweeps have been there.
EXPIRES = 60.0
# Of a program's queues Redis gives what has the smaller number first: an instance that never comes to rest, and wakes
# its worker again and again, lets the jobs of the schedule (0) go before it.
AFTER_THE_SCHEDULE = 6
# Seconds that a program which ends waits for its wake-ups to be sent.
LAST_WORDS = 1.0


class Sender:
    """Holds the queue and the thread of this process. A forked process gets its own at its first wake-up."""

    def __init__(self) -> None:
        self._queue: queue.Queue[Announcement] = queue.Queue(WAITING)
        self._lock = threading.Lock()
        self._owner = 0
        self._resting_until = 0.0

    def tell(self, announcement: Announcement) -> None:
        """Take it and return at once. A full queue drops it."""
        if not (announcement.instances or announcement.messages or any(map(handler, announcement.topics))):
            return  # tasks of other programs' workers alone: nothing would be sent
        self._ensure_thread()
        try:
            self._queue.put_nowait(announcement)
        except queue.Full:
            log.debug("wake-up dropped: too many wait")

    def flush(self, seconds: float) -> bool:
        """Wait until all has been sent, so many seconds at most; whether it has. For programs that end soon
        (commands).
        """
        deadline = time.monotonic() + seconds
        while self._owner == os.getpid() and self._queue.unfinished_tasks:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _ensure_thread(self) -> None:
        if self._owner == os.getpid():
            return
        with self._lock:
            if self._owner != os.getpid():
                self._queue = queue.Queue(WAITING)
                threading.Thread(target=self._run, name="wake-ups", daemon=True).start()
                # A program that ends at once (a command) still sends what it said; a dead broker costs it this second.
                atexit.register(self.flush, LAST_WORDS)
                self._owner = os.getpid()

    def _run(self) -> None:
        while True:
            announcement = self._queue.get()
            if time.monotonic() >= self._resting_until:
                try:
                    send(announcement)
                except Exception as trouble:
                    self._resting_until = time.monotonic() + REST
                    log.warning("wake-up not sent; the sweeps will find the work", trouble=str(trouble))
            self._queue.task_done()


def send(announcement: Announcement) -> None:
    """Put the wake-ups on the broker. Raises what the broker raises."""
    wake(topic for topic in announcement.topics if handler(topic) is not None)
    for instance in announcement.instances:
        _send(CONTINUE, str(instance), priority=AFTER_THE_SCHEDULE)
    if announcement.messages:
        _send(JOB, "messages", priority=AFTER_THE_SCHEDULE)


def wake(topics: Iterable[str]) -> int:
    """One wake-up a name, in the topic's own queue; how many."""
    sent = 0
    for topic in topics:
        _send(WORK, topic, queue=queue_of(topic))
        sent += 1
    return sent


def _send(task: str, argument: str, **options: Any) -> None:
    # By name: the tasks themselves need the schedule, which sends wake-ups.
    current_app.send_task(task, (argument,), expires=EXPIRES, retry=False, ignore_result=True, **options)


SENDER = Sender()
