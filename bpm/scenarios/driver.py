"""What the runner asks of an engine. The core in memory and the engine on PostgreSQL are driven through this alone.

A driver is one world: what a scenario deploys and brings about, and its clock. It is used for one scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from bpm.scenarios.model import Answer, Start

# Where the virtual clock of every scenario starts: long before the dates in models, so that these lie ahead.
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


class Refused(Exception):
    """The engine refused what a step asked; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A token that waits for something outside of its instance.

    `kind`: external_task, user_task, receive (a message at a receive task), call, event (message, signal, timer,
    condition) or incident. `handle` is the driver's own. `held` says why it cannot be answered now ("" where it can).
    """

    activity: str
    kind: str
    handle: Any = None
    topic: str | None = None
    held: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A moment that was set: a timer of an instance, the start timer of a definition, or (no activity) a retry."""

    at: datetime
    activity: str | None
    handle: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What there is to see. Lists count over all instances, in order; the rest speaks of the started one.

    `ends` are the end events of its process level that it reached, `ends_within` those in subprocesses and called
    processes. `incidents` are the open ones of all instances, as sentences.
    """

    passed: Sequence[str] = ()
    trace: Sequence[str] = ()
    state: str = ""
    ends: Sequence[str] = ()
    ends_within: Sequence[str] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    incidents: Sequence[str] = ()


class Driver(Protocol):
    """One world. Methods that ask the engine for something raise Refused where it says no.

    `move`, `answer` and `fire` give the number of moves that they took: the nodes passed, at least 1.
    """

    def deploy(self, models: Sequence[str], *, strict: bool) -> Sequence[str]:
        """Deploy the files together; the reasons of a refusal, none where they are accepted. Start timers begin."""
        ...

    def answer_calls(self, called: Mapping[str, Answer]) -> None:
        """From now on, calls of these processes are answered so instead of starting them."""
        ...

    def start(self, start: Start) -> None:
        """Start the instance that the scenario is about."""
        ...

    def move(self) -> int:
        """Do one thing that the engine does by itself: advance a token, deliver what one instance tells another.

        0 where nothing moves.
        """
        ...

    def waiting(self) -> Sequence[Waiting]:
        """Where tokens wait, over all instances, the longest waiting first."""
        ...

    def inputs(self, waiting: Waiting) -> Mapping[str, Any]:
        """The variables that a worker or person sees who takes the activity on."""
        ...

    def answer(self, waiting: Waiting, answer: Answer) -> int:
        """Complete the activity, throw its BPMN error or report its failure."""
        ...

    def message(
        self,
        name: str,
        *,
        business_key: str | None,
        correlation: Mapping[str, Any],
        variables: Mapping[str, Any],
    ) -> None:
        """Send a message from outside. Refused where nobody waits for it and no process starts with it."""
        ...

    def signal(self, name: str, variables: Mapping[str, Any]) -> None:
        """Throw a signal from outside, to whoever waits for it now."""
        ...

    def set_variables(self, variables: Mapping[str, Any]) -> None:
        """Write process variables of the started instance."""
        ...

    def now(self) -> datetime:
        """The virtual time."""
        ...

    def set_clock(self, moment: datetime) -> None:
        """Move the clock forward; nothing fires by that alone."""
        ...

    def due(self) -> Sequence[Due]:
        """All moments that are set, earliest first."""
        ...

    def fire(self, due: Due) -> int:
        """Let the moment come, whatever the clock says."""
        ...

    def observe(self) -> Observation:
        """What there is to see now."""
        ...

    def close(self) -> None:
        """The scenario is over."""
        ...
