"""What goes in and what comes out. What comes out is read off the frozen rows of `bpm.queries`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field

Variables = dict[str, Any]
Text = Annotated[str, Field(max_length=255)]
Name = Annotated[str, Field(min_length=1, max_length=255)]
Reason = Annotated[str | None, Field(max_length=4000, description="why; kept in history with who")]


class Given(Schema):
    """What comes in: an unknown field is an error, not silence."""

    model_config = ConfigDict(extra="forbid")


# --- in


class StartIn(Given):
    process: Name = Field(description="key of the process, or id of a definition")
    version: int | None = Field(None, ge=1, description="a version of the key; the newest where it is left out")
    business_key: Text | None = None
    variables: Variables = {}
    node: Text | None = Field(None, description="the start event, where the process has several")
    reason: Reason = None


class ReasonIn(Given):
    reason: Reason = None


class ModifyIn(Given):
    start_before: list[Name] = Field([], description="nodes before which a token starts")
    start_after: list[Name] = Field([], description="nodes on whose only outgoing flow a token starts")
    cancel_at: list[Name] = Field([], description="nodes at which all open tokens end")
    cancel_tokens: list[UUID] = Field([], description="tokens that end")
    variables: Variables = {}
    reason: Reason = None


class MigrateIn(Given):
    version: int | None = Field(None, description="the version to go on with; the latest where it is left out")
    nodes: dict[Name, Name] = Field(
        {}, description="where nodes of the old version are in the new one, if not the same"
    )
    drop: list[Name] = Field([], description="events of the old version whose timers and tickets may end")
    reason: Reason = None


class MigrationPlanOut(Schema):
    old: UUID
    new: UUID
    nodes: dict[str, str]
    problems: list[str]


class VariablesIn(Given):
    variables: Variables = {}
    unset: list[Name] = []
    token_id: UUID | None = Field(None, description="write as seen from this token; the process where it is left out")
    reason: Reason = None


class FetchIn(Given):
    worker: Name
    topics: list[Name] = Field(min_length=1, max_length=100)
    max: int = Field(1, ge=1, le=1000)
    lock_seconds: float = Field(60.0, gt=0, le=604_800)


class CompleteIn(Given):
    worker: Name
    variables: Variables = {}
    local_variables: Variables = {}


class FailIn(Given):
    worker: Name
    message: str = ""
    details: str = Field("", description="a stack trace, for instance")
    retries: int | None = Field(None, ge=0, description="how many are left; one less than before where it is left out")
    retry_after: float | None = Field(None, ge=0, description="seconds until the next try; else the model's cycle")
    variables: Variables = {}


class ErrorIn(Given):
    worker: Name
    code: Name
    message: str = ""
    variables: Variables = {}


class ExtendIn(Given):
    worker: Name
    lock_seconds: float = Field(60.0, gt=0, le=604_800, description="from now on")


class UnlockIn(Given):
    worker: Name | None = Field(None, description="only where this worker holds it; operators take it from anyone")


class ClaimIn(Given):
    user: Name | None = Field(None, description="for whom; a person who is logged in claims for themselves")


class CompleteUserTaskIn(Given):
    variables: Variables = {}
    user: Name | None = Field(None, description="who has done it; a person who is logged in has done it themselves")
    reason: Reason = None


class UserTaskErrorIn(Given):
    code: Name
    message: str = ""
    variables: Variables = {}
    user: Name | None = None


class MessageIn(Given):
    name: Name
    business_key: Text | None = None
    correlation_key: Text | None = None
    variables: Variables = {}
    ttl: float = Field(3600.0, gt=0, description="seconds that it waits for its receiver")
    reason: Reason = None


class CorrelateIn(Given):
    name: Name
    business_key: Text | None = None
    correlation: Variables = Field({}, description="values of the ticket's key, or of process variables")
    variables: Variables = {}
    instance_id: UUID | None = None
    reason: Reason = None


class SignalIn(Given):
    name: Name
    variables: Variables = {}
    reason: Reason = None


class RetryIn(Given):
    retries: int = Field(1, ge=1, le=1_000_000)
    reason: Reason = None


class EvaluateIn(Given):
    variables: Variables = {}
    version: int | None = Field(None, ge=1, description="a version of the key; the newest where it is left out")
    version_tag: Name | None = Field(None, description="the newest version that people call so")


# --- out


class CommitOut(Schema):
    sequence: int
    instance_id: UUID
    version: int
    at: datetime
    command: str
    repeated: bool


class PublishedOut(Schema):
    id: UUID
    sequence: int
    at: datetime


class DefinitionOut(Schema):
    id: UUID
    key: str
    name: str
    version: int
    version_tag: str | None
    resource: str
    deployment_id: UUID
    created_at: datetime
    created_by: str
    graph_hash: str
    latest: bool


class DecisionOut(Schema):
    id: UUID
    key: str
    name: str
    version: int
    version_tag: str | None
    resource: str
    deployment_id: UUID
    created_at: datetime
    created_by: str
    decisions_hash: str
    latest: bool


class DecidedOut(Schema):
    id: UUID
    key: str
    version: int
    name: str


class MatchedRuleOut(Schema):
    """A rule that matched: its place in the table from 1, its id, its outputs by column."""

    number: int
    id: str
    outputs: Variables


class MatchedTableOut(Schema):
    """A table on the way to the result: its inputs as (label, value), and the rules that matched."""

    decision: str
    table: str
    inputs: list[tuple[str, Any]]
    rules: list[MatchedRuleOut]


class EvaluatedOut(Schema):
    """`rows`: the outputs of the rules that counted, one object each; `warnings`: why something is null."""

    decision: DecidedOut
    result: Any
    rows: list[Variables]
    tables: list[MatchedTableOut]
    warnings: list[str]


class PlaceOut(Schema):
    node_id: str
    name: str
    tokens: int


class InstanceOut(Schema):
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
    incidents: int
    places: list[PlaceOut]


class TokenOut(Schema):
    id: UUID
    node_id: str
    node_name: str
    state: str
    parent_token_id: UUID | None
    created_at: datetime
    updated_at: datetime


class ExternalTaskOut(Schema):
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


class LockedTaskOut(Schema):
    id: UUID
    instance_id: UUID
    definition_key: str
    definition_id: UUID
    business_key: str | None
    node_id: str
    topic: str
    retries: int
    priority: int
    worker: str
    lock_expire_at: datetime
    created_at: datetime
    version: int
    variables: Variables


class UserTaskOut(Schema):
    id: UUID
    instance_id: UUID
    definition_key: str
    definition_name: str
    business_key: str | None
    node_id: str
    node_name: str
    state: str
    assignee: str | None
    candidate_users: list[str]
    candidate_groups: list[str]
    due: str | None
    priority: int
    form_key: str | None
    form_fields: list[dict[str, Any]]
    created_at: datetime
    version: int


class TimerOut(Schema):
    id: UUID
    node_id: str
    node_name: str
    fire_at: datetime
    state: str


class TicketOut(Schema):
    id: UUID
    node_id: str
    node_name: str
    kind: str
    name: str
    correlation: str | None
    state: str
    created_at: datetime
    called: UUID | None


class IncidentOut(Schema):
    id: UUID
    instance_id: UUID
    definition_key: str
    business_key: str | None
    node_id: str
    node_name: str
    kind: str
    message: str
    state: str
    created_at: datetime
    task_id: UUID | None
    topic: str | None
    version: int


class WaitsFor(Schema):
    """What an open instance waits for. `more`: a list was cut."""

    tokens: list[TokenOut]
    external_tasks: list[ExternalTaskOut]
    user_tasks: list[UserTaskOut]
    timers: list[TimerOut]
    tickets: list[TicketOut]
    incidents: list[IncidentOut]
    more: bool


class InstanceDetailOut(InstanceOut):
    waits_for: WaitsFor


class DeployedOut(Schema):
    id: UUID
    key: str
    version: int
    name: str
    new: bool


class DiagnosticOut(Schema):
    severity: str
    code: str
    message: str
    file: str
    element: str
    line: int


class DeploymentOut(Schema):
    id: UUID | None
    name: str
    definitions: list[DeployedOut]
    decisions: list[DeployedOut]
    diagnostics: list[DiagnosticOut]


class PageOut[T](Schema):
    """`after` asks for the next page; null on the last."""

    items: list[T]
    after: str | None
