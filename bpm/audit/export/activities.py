"""What was done in an instance, as process mining sees it: activities and events of the model in the order in which
they passed, each with who did it and which work it was.

Gateways are no doings and are left out. The resource of an activity is the worker that completed its task or the person
that did so; of all else, who made the commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from bpm.audit.histories import LiveHistory
from bpm.semantics import Event
from bpm.semantics.footprints import passes
from bpm.store.reading import Logged

GATEWAYS = frozenset({"exclusive", "parallel", "inclusive", "event_based", "complex"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """A node that a token has passed. `work`: the kinds and ordinals of what was done for it."""

    at: datetime
    node: str
    name: str
    element: str
    token: int
    resource: str
    work: tuple[tuple[str, int], ...]
    commit: int
    ordinal: int


@dataclass(slots=True)
class Watching:
    """Goes along one instance's commits; `business_key` is known when its start has been seen."""

    history: LiveHistory
    business_key: str | None = None
    # What a token has had done since it came to its node: (kind, ordinal), and by whom.
    _work: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    _by: dict[int, str] = field(default_factory=dict)

    def activities(self, commit: Logged) -> Iterator[Activity]:
        """What passed in one commit."""
        for ordinal, event in enumerate(commit.events):
            self._note(commit, event)
            passed = passes(event)
            node = self.history.definition.graph.nodes.get(passed or "")
            if node is None or node.kind in GATEWAYS:
                continue
            yield Activity(
                at=commit.at,
                node=node.id,
                name=" ".join(node.name.split()) or node.id,
                element=node.element,
                token=event.id,
                resource=self._by.pop(event.id, commit.actor),
                work=tuple(self._work.pop(event.id, ())),
                commit=commit.sequence,
                ordinal=ordinal,
            )

    def _note(self, commit: Logged, event: Event) -> None:
        match event.type:
            case "INSTANCE_STARTED":
                self.business_key = event.payload.get("business_key")
            case "TASK_CREATED" | "USER_TASK_CREATED":
                kind = "task" if event.type == "TASK_CREATED" else "user_task"
                self._work.setdefault(event.token, []).append((kind, event.id))
            case "TICKET_OPENED" if event.payload["kind"] == "CALL":
                self._work.setdefault(event.token, []).append(("call", event.id))
            case "TASK_COMPLETED" | "USER_TASK_COMPLETED":
                self._by[event.token] = str(event.payload.get("worker") or event.payload.get("user") or commit.actor)
