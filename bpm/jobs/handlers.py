"""Handlers: what a program does for the tasks of a topic, and the one table that knows them all.

    from bpm import BpmnError, TaskContext, external_task

    @external_task("payments.charge", lock_seconds=60)
    def charge(task: TaskContext) -> dict[str, Any]:
        ...

A module `handlers` of any installed app is imported when a worker, beat or the web starts; decorating is registering.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID

# How long a worker holds a task when its handler says nothing. After a crash the task waits as long as its lock.
LOCK_SECONDS = 60.0
# What the engine takes.
SHORTEST_LOCK, LONGEST_LOCK = 0.001, 7 * 86_400.0
# So many variables a topic may name, and names of so many characters.
MOST_NAMES, LONGEST_NAME = 100, 255

type Handler = Callable[[TaskContext], Mapping[str, Any] | None]


class BpmnError(Exception):
    """What a handler raises for an error that the model may catch; `variables` go where the error is caught."""

    def __init__(self, code: str, message: str = "", variables: Mapping[str, Any] | None = None) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.variables = dict(variables or {})


class TaskFailure(Exception):
    """What a handler raises to say how its failure is to be taken; any other exception is a failure, too.

    `retries`: how many tries are left (None: one less), 0 opens an incident. `retry_after`: the pause in seconds (None:
    the model's retry cycle, else the handler's backoff). `variables` are written all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        details: str = "",
        retries: int | None = None,
        retry_after: float | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.retries = retries
        self.retry_after = retry_after
        self.variables = dict(variables or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """What a handler sees of its task. `variables` are those visible from the activity, or of these the ones that its
    decorator names, dates and times as Python's; `retries` the tries left.
    """

    id: UUID
    topic: str
    node_id: str
    instance_id: UUID
    definition_key: str
    business_key: str | None
    variables: Mapping[str, Any]
    retries: int
    headers: Mapping[str, str] = MappingProxyType({})
    worker: str
    _extend: Callable[[float], None]

    def extend(self, seconds: float) -> None:
        """Hold the task for so many more seconds from now. Raises the engine's Refused where the lock is lost."""
        self._extend(seconds)


@dataclass(frozen=True, slots=True)
class Registered:
    """A handler with what its decorator said. `backoff(retries left)` is the pause in seconds after a failure;
    `variables` are the names of those that it is given, None for all.
    """

    topic: str
    run: Handler
    lock_seconds: float
    backoff: Callable[[int], float] | None
    variables: tuple[str, ...] | None = None


class DuplicateHandler(Exception):
    """Two handlers for one topic: which of them would run is chance."""


# topic -> its handler.
_HANDLERS: dict[str, Registered] = {}


def external_task(
    topic: str,
    *,
    lock_seconds: float = LOCK_SECONDS,
    variables: Collection[str] | None = None,
    backoff: Callable[[int], float] | None = None,
) -> Callable[[Handler], Handler]:
    """Register the function for the tasks of a topic; it stays what it is. `variables`: the names of those that it
    needs, so that no others are read and sent; None gives it all that there are, an empty list none.

    Raises DuplicateHandler, and ValueError for what is no topic, a lock that is no number of seconds up to a week and
    what is no list of names.
    """
    if not isinstance(topic, str) or not 0 < len(topic) <= LONGEST_NAME:
        # Without its parentheses the decorator is given the function, which nobody would ever call.
        raise ValueError(f'{topic!r:.100} is no topic: write @external_task("TOPIC") before the function')
    number = isinstance(lock_seconds, int | float) and not isinstance(lock_seconds, bool)
    if not number or not SHORTEST_LOCK <= lock_seconds <= LONGEST_LOCK:
        bounds = f"{SHORTEST_LOCK:g} to {LONGEST_LOCK:g} seconds"
        raise ValueError(f"lock_seconds of the handler of {topic!r} must be {bounds}, not {lock_seconds!r}")

    named = _names(topic, variables)

    def register(run: Handler) -> Handler:
        there = _HANDLERS.get(topic)
        if there is not None and _name(there.run) != _name(run):
            raise DuplicateHandler(f"{_name(run)} is a second handler for {topic!r}, beside {_name(there.run)}")
        _HANDLERS[topic] = Registered(topic, run, lock_seconds, backoff, named)
        return run

    return register


def handler(topic: str) -> Registered | None:
    """The handler of a topic, if this program has one."""
    return _HANDLERS.get(topic)


def topics() -> tuple[str, ...]:
    """The topics that this program has handlers for, in order of their names."""
    return tuple(sorted(_HANDLERS))


def _names(topic: str, variables: Collection[str] | None) -> tuple[str, ...] | None:
    """What a handler says of the variables that it needs. Raises ValueError for what the engine does not take."""
    if variables is None:
        return None
    named = () if isinstance(variables, str) else tuple(variables)
    fit = all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and "\x00" not in name for name in named)
    if isinstance(variables, str) or not fit or len(named) > MOST_NAMES:
        bounds = f"a list of at most {MOST_NAMES} names of 1 to {LONGEST_NAME} characters"
        raise ValueError(f"variables of the handler of {topic!r} must be {bounds}, not {variables!r:.100}")
    return named


def _name(run: Handler) -> str:
    """How a handler is known; a module that is imported again brings the same one."""
    return f"{run.__module__}.{getattr(run, '__qualname__', repr(run))}"
