"""What the queries answer with: frozen data, ready for a template or a JSON answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from bpm.queries.paging import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A version of something deployed."""

    id: UUID
    key: str
    name: str
    version: int
    version_tag: str | None
    created_at: datetime
    created_by: str
    resource: str
    deployment_id: UUID
    latest: bool = True

    @property
    def title(self) -> str:
        """The name where the model has one, else the key."""
        return self.name or self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(Deployed):
    """A deployed version of a process. `suspended`: nothing begins of it. The counts, of its instances (`held` are the
    suspended ones), are None where they were not asked for; `failed` and `incidents`, too, where among many of others
    none of its own has been found. `others`: open instances of its key's other versions, and incidents of those.
    """

    graph_hash: str
    suspended: bool
    running: Count | None = None
    held: Count | None = None
    failed: Count | None = None
    incidents: Count | None = None
    others: Count | None = None
    others_incidents: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Deployed):
    """A deployed version of a decision."""

    decisions_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionEvaluation:
    """A decision as it was made in an instance. `tables`: every table on the way with its inputs and matched rules, as
    history has them. `variable`: where the result went, if anywhere.
    """

    id: UUID
    definition_id: UUID
    key: str
    instance_id: UUID
    node_id: str
    at: datetime
    variable: str | None
    result: Any
    tables: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node with how many open tokens stand on it."""

    node_id: str
    name: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One run of a definition. `places` are where it is now, `incidents` how many are open in it."""

    id: UUID
    state: str
    definition_id: UUID
    definition_key: str
    definition_name: str
    definition_version: int
    business_key: str | None
    started_at: datetime
    started_by: str
    ended_at: datetime | None
    version: int
    parent_instance_id: UUID | None
    incidents: int = 0
    places: tuple[Place, ...] = ()

    @property
    def title(self) -> str:
        """What people call it: the definition's name, else its key."""
        return self.definition_name or self.definition_key

    @property
    def is_open(self) -> bool:
        """Whether anything may still happen in it."""
        return self.ended_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable as it is now. `scope` 0 is the whole process, another one a visit of an activity."""

    name: str
    value: Any
    scope: int
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A place where the instance is."""

    id: UUID
    node_id: str
    node_name: str
    state: str
    parent_token_id: UUID | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalTask:
    """Work done outside by a program. `error` is what the last failure said."""

    id: UUID
    instance_id: UUID
    definition_key: str
    business_key: str | None
    node_id: str
    node_name: str
    topic: str
    state: str
    retries: int
    retry_at: datetime | None
    priority: int
    worker: str | None
    locked_until: datetime | None
    created_at: datetime
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTask:
    """Work that waits for a person."""

    id: UUID
    instance_id: UUID
    definition_key: str
    definition_name: str
    business_key: str | None
    node_id: str
    node_name: str
    state: str
    assignee: str | None
    owner: str | None
    delegation: str | None
    candidate_users: tuple[str, ...]
    candidate_groups: tuple[str, ...]
    due: str | None
    follow_up: str | None
    priority: int
    form_key: str | None
    form_fields: tuple[dict[str, Any], ...]
    created_at: datetime
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A moment at which something happens."""

    id: UUID
    node_id: str
    node_name: str
    fire_at: datetime
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What a token waits for besides tasks and timers. `called` is the instance that a CALL started."""

    id: UUID
    node_id: str
    node_name: str
    kind: str
    name: str
    correlation: str | None
    state: str
    created_at: datetime
    called: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Work that stopped and waits for an operator. `task_id` and `topic`: the external task that failed, if one did."""

    id: UUID
    instance_id: UUID
    definition_id: UUID
    definition_key: str
    definition_name: str
    business_key: str | None
    node_id: str
    node_name: str
    kind: str
    message: str
    state: str
    created_at: datetime
    task_id: UUID | None
    topic: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWork:
    """What an open instance waits for; each list is cut at a limit, and `more` says whether one was."""

    tokens: tuple[Token, ...] = ()
    external_tasks: tuple[ExternalTask, ...] = ()
    user_tasks: tuple[UserTask, ...] = ()
    timers: tuple[Timer, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    incidents: tuple[Incident, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What is drawn on a diagram, by node id (and flow id for `flows`). `starts` and `ends`: where a modification that
    is not made yet would start tokens or end them.
    """

    tokens: dict[str, int] = field(default_factory=dict)
    incidents: dict[str, int] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)
    flows: dict[str, int] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    more: bool = False
