"""The loop of a worker: fetch, run handlers on threads, answer, and hold the locks of those that take long.

A thread whose task is done quickly goes on with the next one of the same instance, where that has a handler here and is
there at once: the answer to the completion brings it.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .client import ApiError, Client, Refused, Task, Topic, Unreachable

log = logging.getLogger("tokentrail.worker")

# What history keeps of a traceback.
DETAILS_LIMIT = 10_000
# So many tasks of an instance a thread does in a row, and goes on with no other one after so many seconds.
IN_A_ROW = 50
ROW_SECONDS = 1.0
# As many topics the API takes, and locks of so many seconds.
MOST_TOPICS = 100
SHORTEST_LOCK, LONGEST_LOCK = 0.001, 7 * 86_400.0
# So many variables a topic may name, and names of so many characters.
MOST_NAMES, LONGEST_NAME = 100, 255
# With these the API says that an answer makes no sense or is too large, however often it is given.
UNFIT = (400, 413, 422)


class BpmnError(Exception):
    """What a handler raises for an error that the model may catch."""

    def __init__(self, code: str, message: str = "", variables: Mapping[str, Any] | None = None) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.variables = dict(variables or {})


class TaskFailure(Exception):
    """What a handler raises to say how its failure is to be taken. Any other exception counts down by one."""

    def __init__(self, message: str, *, retries: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retries = retries
        self.retry_after = retry_after


type Handler = Callable[[Task], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class _Topic:
    run: Handler
    lock_seconds: float
    variables: tuple[str, ...] | None

    @property
    def taken(self) -> float | Topic:
        """As a call is told: seconds alone where all variables are wanted."""
        return self.lock_seconds if self.variables is None else Topic(self.lock_seconds, self.variables)


def _names(topic: str, variables: Collection[str] | None) -> tuple[str, ...] | None:
    """What a handler says of the variables that it needs. Raises ValueError for what the API does not take."""
    if variables is None:
        return None
    named = () if isinstance(variables, str) else tuple(variables)
    fit = all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and "\x00" not in name for name in named)
    if isinstance(variables, str) or not fit or len(named) > MOST_NAMES:
        bounds = f"a list of at most {MOST_NAMES} names of 1 to {LONGEST_NAME} characters"
        raise ValueError(f"variables of the handler of {topic!r} must be {bounds}, not {variables!r:.100}")
    return named


class Worker:
    """Holds the handlers and the threads that run them. `threads` tasks run at a time."""

    def __init__(self, client: Client, *, threads: int = 4, idle: float = 1.0) -> None:
        """`idle`: the pause in seconds when there was nothing to do; it grows to ten times that while nothing comes."""
        self.client = client
        self._threads = threads
        self._idle = idle
        self._topics: dict[str, _Topic] = {}
        self._stop = threading.Event()
        self._free = threading.Semaphore(threads)

    def task(
        self, topic: str, *, lock_seconds: float = 60.0, variables: Collection[str] | None = None
    ) -> Callable[[Handler], Handler]:
        """Register a handler. While it runs its lock is extended, each time a third of it has passed. `variables`: the
        names of those that it needs, so that no others are sent; None gives it all that there are, an empty list none.

        Raises ValueError for what is no topic, a topic that has another handler, a lock that is no number of seconds up
        to a week and what is no list of names.
        """
        if not isinstance(topic, str) or not 0 < len(topic) <= LONGEST_NAME:
            # Without its parentheses the decorator is given the function, which nobody would ever call.
            raise ValueError(f'{topic!r:.100} is no topic: write @worker.task("TOPIC") before the function')
        number = isinstance(lock_seconds, int | float) and not isinstance(lock_seconds, bool)
        if not number or not SHORTEST_LOCK <= lock_seconds <= LONGEST_LOCK:
            bounds = f"{SHORTEST_LOCK:g} to {LONGEST_LOCK:g} seconds"
            raise ValueError(f"lock_seconds of the handler of {topic!r} must be {bounds}, not {lock_seconds!r}")

        named = _names(topic, variables)

        def register(run: Handler) -> Handler:
            there = self._topics.get(topic)
            if there is not None and there.run is not run:
                raise ValueError(f"{run!r:.100} is a second handler for {topic!r}, beside {there.run!r:.100}")
            self._topics[topic] = _Topic(run, lock_seconds, named)
            return run

        return register

    def stop(self) -> None:
        """Fetch no more; `run` returns when what runs now is done."""
        self._stop.set()

    def run(self, *, signals: bool = True) -> None:
        """Work until `stop`, or with `signals` until SIGTERM or SIGINT (only in the main thread).

        Raises ValueError where there is no handler: it would wait for ever and say nothing.
        """
        if not self._topics:
            raise ValueError('this worker has no handler: write @worker.task("TOPIC") before a function')
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self.stop())
        pause = self._idle
        with ThreadPoolExecutor(self._threads, thread_name_prefix="task") as pool:
            while not self._stop.is_set():
                done = self._round(pool)
                pause = self._idle if done else min(pause * 1.5, self._idle * 10)
                if not done:
                    self._stop.wait(pause)

    def _round(self, pool: ThreadPoolExecutor) -> int:
        """Fetch for the threads that are free and hand out; how many tasks there were."""
        free = self._wait_for_a_thread()
        taken = 0
        for topic, how in self._topics.items():
            if taken < free:
                try:
                    tasks = self._fetch(topic, how, free - taken)
                except (ApiError, Unreachable) as trouble:
                    log.warning("cannot fetch tasks of %s: %s", topic, trouble)
                    continue
                for task in tasks:
                    pool.submit(self._work, task, how)
                taken += len(tasks)
        for _ in range(free - taken):
            self._free.release()
        return taken

    def _fetch(self, topic: str, how: _Topic, most: int) -> list[Task]:
        # Without names in the form that every server takes.
        topics = [topic] if how.variables is None else {topic: how.taken}
        return self.client.fetch_and_lock(topics, max=most, lock_seconds=how.lock_seconds)

    def _wait_for_a_thread(self) -> int:
        """Take all free places; at least one, so that nothing is locked that has to wait here."""
        while not self._free.acquire(timeout=0.5):
            if self._stop.is_set():
                return 0
        free = 1
        while self._free.acquire(blocking=False):
            free += 1
        return free

    def _work(self, task: Task, how: _Topic) -> None:
        """Do the task, and those of the same instance that come with the answers, for a while."""
        until = time.monotonic() + ROW_SECONDS
        following: Task | None = task
        left = IN_A_ROW
        try:
            while following is not None:
                left -= 1
                following = self._do(following, self._topics[following.topic], until if left else 0.0)
        finally:
            self._free.release()

    def _do(self, task: Task, how: _Topic, until: float) -> Task | None:
        """Do one task; the one to go on with, asked for up to that moment (of time.monotonic)."""
        done = threading.Event()
        holder = threading.Thread(target=self._hold, args=(task, how.lock_seconds, done), daemon=True)
        holder.start()
        try:
            return self._answer(task, how, until)
        except (ApiError, Unreachable) as trouble:
            log.warning("the answer to task %s was not taken: %s", task.id, trouble)
            return None
        finally:
            done.set()

    def _answer(self, task: Task, how: _Topic, until: float) -> Task | None:
        try:
            return self._say(task, how, until)
        except (TypeError, ValueError) as unfit:
            self._fail_for_good(task, unfit)
        except Refused as refusal:
            if refusal.status not in UNFIT:
                raise
            self._fail_for_good(task, refusal)
        return None

    def _say(self, task: Task, how: _Topic, until: float) -> Task | None:
        try:
            variables = how.run(task)
        except BpmnError as error:
            self.client.error(task, error.code, error.message, variables=error.variables)
        except TaskFailure as failure:
            self.client.fail(task, failure.message, retries=failure.retries, retry_after=failure.retry_after)
        except Exception as failure:
            log.exception("the handler of %s failed", task.topic)
            message = f"{type(failure).__name__}: {failure}"
            self.client.fail(task, message, details=traceback.format_exc()[-DETAILS_LIMIT:])
        else:
            goes_on = time.monotonic() < until and not self._stop.is_set()
            topics = sorted(self._topics)[:MOST_TOPICS] if goes_on else []
            own = {topic: self._topics[topic].taken for topic in topics}
            return self.client.complete(task, variables, next_topics=own)
        return None

    def _fail_for_good(self, task: Task, why: Exception) -> None:
        """What the handler came to is nothing that can be sent or taken: left at that, the task would run again after
        each lock, for ever.
        """
        self.client.fail(task, f"what the handler of {task.topic} came to cannot be taken: {why}")

    def _hold(self, task: Task, lock_seconds: float, done: threading.Event) -> None:
        while not done.wait(lock_seconds / 3):
            try:
                self.client.extend(task, lock_seconds)
            except Refused as refusal:
                log.warning("the lock of task %s is lost: %s", task.id, refusal)
                return
            except (ApiError, Unreachable) as trouble:
                log.warning("cannot extend the lock of task %s: %s", task.id, trouble)
