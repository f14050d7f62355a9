"""Where an instance was after one of its commits: folded from history, as replay does it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from bpm.audit.histories import find_history
from bpm.audit.places import PlaceError
from bpm.replay import state_at
from bpm.semantics import State
from bpm.semantics.evolve import BrokenHistory
from bpm.semantics.lifecycle import is_final
from bpm.store.reading import Logged

# Events by which a token comes to a node.
ARRIVALS = ("TOKEN_CREATED", "TOKEN_MOVED", "TOKEN_JOINED")
# So long somebody waits for a page.
SECONDS = 10.0


class NoPast(Exception):
    """The past cannot be told; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The instance after commit `version`: what it ran, how it stood, where its tokens and incidents were and which
    nodes and flows had been passed (numbers by id), the variables of the process.
    """

    version: int
    at: datetime
    actor: str
    definition_id: UUID
    state: str
    tokens: dict[str, int]
    incidents: dict[str, int]
    passed: dict[str, int]
    flows: dict[str, int]
    variables: dict[str, Any]


@dataclass(slots=True)
class _Watched:
    """Looks at the commits as they are folded, and ends behind the one that was asked for. Raises NoPast when it has
    taken too long.
    """

    commits: Iterable[Logged]
    version: int
    until: float
    last: Logged | None = None
    definition: UUID | None = None
    passed: Counter[str] = field(default_factory=Counter)
    flows: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Logged]:
        for commit in self.commits:
            if time.monotonic() > self.until:
                raise NoPast(_("its history up to there is longer than a page has time for"))
            if commit.version is not None:
                if commit.version > self.version:
                    return
                self.last = commit
                self.definition = commit.definition_id or self.definition
            for event in commit.events:
                if event.type in ARRIVALS and event.node:
                    self.passed[event.node] += 1
                    if flow := event.payload.get("flow"):
                        self.flows[flow] += 1
            yield commit


def past_of(instance: UUID, version: int) -> Past | None:
    """The instance after its commit of that number; None where history knows no such commit. Raises NoPast."""
    try:
        history = find_history(instance)
        if history is None or version < 1:
            return None
        watched = _Watched(history.commits, version, time.monotonic() + SECONDS)
        state = state_at(history.definition.graph, watched, thread=str(instance))
    except BrokenHistory as broken:
        raise NoPast(f"its history cannot be folded: {broken}") from None
    except (OSError, PlaceError) as missing:
        raise NoPast(f"its archive cannot be read: {missing}") from None
    if watched.last is None or watched.last.version != version:
        return None
    return Past(
        version=version,
        at=watched.last.at,
        actor=watched.last.actor,
        definition_id=watched.definition or history.definition.id,
        state=state.instance.state if state.instance else "RUNNING",
        tokens=dict(Counter(_standing(state))),
        incidents=dict(Counter(one.node for one in state.incidents.values() if not is_final("incident", one.state))),
        passed=dict(watched.passed),
        flows=dict(watched.flows),
        variables={one.name: one.value for one in state.variables.values() if one.present and one.scope == 0},
    )


def _standing(state: State) -> Iterator[str]:
    """The nodes of open tokens; one that forked waits for its branches and is nowhere."""
    for token in state.tokens.values():
        if not is_final("token", token.state) and not state.index.get(("parent", token.id)):
            yield token.node
