"""One step's scratch paper: the graph, a private copy of the state, and the events decided so far.

A `Work` lives for one call of `decide` and never leaves it. `emit` is the only way to change anything: it applies the
event to the copy at once, so that whatever is decided next sees it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bpm.graph import Node, Process
from bpm.semantics import view
from bpm.semantics.commands import answer_name
from bpm.semantics.events import Event
from bpm.semantics.evolve import apply, evolve
from bpm.semantics.state import Entity, State, Token, key_of


class Refused(Exception):
    """The command cannot be carried out. `code` is one of REFUSALS."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


# Why a command is refused: code -> what it means.
REFUSALS: dict[str, str] = {
    "not_found": "there is no such thing in the instance",
    "wrong_state": "it is not in a state in which this can be done",
    "not_running": "the instance has ended or is suspended",
    "not_locked": "the task is not locked by anybody",
    "wrong_worker": "the task is locked by another worker",
    "lock_expired": "the worker's lock has run out",
    "wrong_user": "the task belongs to another person",
    "invalid": "the command's arguments make no sense",
    "duplicate": "this has been done already",
}


class Stuck(Exception):
    """The token cannot go on with the data at hand; it will wait with an incident of this kind."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(slots=True)
class Work:
    """The scratch paper of one step. `base` is the state as it was given and stays untouched. Whoever asks for the time
    leaves in `holds_until` before when the step would be decided alike (None: at any later time).
    """

    graph: Process
    base: State
    _at: datetime
    answers: dict[str, Any] = field(default_factory=dict)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)  # of beans: how often each has been called so
    state: State = field(init=False)
    events: list[Event] = field(default_factory=list)
    holds_until: datetime | None = None
    judged: int = 0  # of how many events conditions have been judged (see `judging`)
    _given: int = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.base.copy()
        self._given = self.state.counter

    @property
    def at(self) -> datetime:
        """The step's time. What is made of it holds for this time alone."""
        self.holds_until = self._at
        return self._at

    def has_come(self, moment: datetime) -> bool:
        """Whether it is that time or later. Where not, what is decided holds until then."""
        if moment <= self._at:
            return True
        if self.holds_until is None or moment < self.holds_until:
            self.holds_until = moment
        return False

    def ahead(self, seconds: float) -> datetime:
        """The moment so many seconds after the step. For what `later` can set anew: the end of a lock that the step
        gives.
        """
        return self._at + timedelta(seconds=float(seconds))

    def new_id(self) -> int:
        """The next ordinal of the instance."""
        self._given = max(self._given, self.state.counter) + 1
        return self._given

    def emit(
        self,
        type: str,
        id: int,
        *,
        token: int = 0,
        node: str | None = None,
        before: str | None = None,
        after: str | None = None,
        reason: str | None = None,
        **payload: Any,
    ) -> Event:
        """Decide an event: it is noted and applied."""
        event = Event(type, id, token, node, before, after, reason, payload)
        apply(self.state, event)
        self.events.append(event)
        return event

    def change(
        self, type: str, kind: str, entity: Entity, after: str, *, reason: str | None = None, **payload: Any
    ) -> None:
        """Decide an event that takes an entity, which hangs on a token, to another state."""
        token = entity.id if kind == "token" else entity.token
        self.emit(
            type,
            key_of(kind, entity),
            token=token,
            node=entity.node,
            before=entity.state,
            after=after,
            reason=reason,
            **payload,
        )

    def answer(self, *key: Any) -> Any:
        """What the shell has looked up outside the instance. Raises view.Missing where it has not yet."""
        name = answer_name(key)
        if name not in self.answers:
            raise view.Missing(key)
        return self.answers[name]

    def token(self, id: int) -> Token:
        """The token as it is now. Raises view.Missing where it is not loaded."""
        return view.token(self.state, id)

    def node(self, token: Token) -> Node:
        """The node where the token is."""
        return self.graph.node(token.node)

    def rewind(self, mark: int) -> None:
        """Forget all events after the first `mark`, as if they had not been decided."""
        del self.events[mark:]
        self.judged = min(self.judged, mark)
        self.state = evolve(self.base, self.events)
        self._given = self.state.counter
