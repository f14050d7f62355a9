"""What comes out, read off the frozen rows of `bpm.queries` and `bpm.audit`."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from uuid import UUID

from ninja import Schema

Variables = dict[str, Any]


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


class MigrationPlanOut(Schema):
    old: UUID
    new: UUID
    nodes: dict[str, str]
    problems: list[str]


class VersionPlanOut(MigrationPlanOut):
    """`suggested`: nodes that the new version seems to have under another id."""

    suggested: dict[str, str]


class RefusalOut(Schema):
    instance: UUID
    code: str
    message: str


class MigratedOut(Schema):
    """`after`: ask again with it, there may be more; null: all have been looked at."""

    done: list[UUID]
    refused: list[RefusalOut]
    after: UUID | None


class VersionOut(Schema):
    """A version of something deployed."""

    id: UUID
    key: str
    name: str
    version: int
    version_tag: str | None
    resource: str
    deployment_id: UUID
    created_at: datetime
    created_by: str
    latest: bool


class DefinitionOut(VersionOut):
    """`suspended`: nothing begins of it until it is resumed."""

    graph_hash: str
    suspended: bool


class DecisionOut(VersionOut):
    decisions_hash: str


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


class CompletedOut(CommitOut):
    """`next`: the task of the same instance that the worker has at once, where it asked for one and one came up."""

    next: LockedTaskOut | None = None


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
    owner: str | None
    delegation: str | None
    candidate_users: list[str]
    candidate_groups: list[str]
    due: str | None
    follow_up: str | None
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


class ExportOut(Schema):
    """`events`: written so far; `manifest`: of one that is done, what lies beside the file."""

    id: UUID
    asked_by: str
    asked_at: datetime
    format: str
    selection: dict[str, Any]
    name: str
    state: str
    events: int
    manifest: dict[str, Any] | None
    error: str | None


class HeadOut(Schema):
    number: int
    epoch: int
    hash: str
    last_sequence: int
    sealed_at: datetime


class SealOut(HeadOut):
    kind: str
    commits: int
    events: int
    state_commands: int


class SealsOut(Schema):
    """`head`: null where nothing is sealed yet; `delay_seconds`: the age of the oldest commit that no seal holds."""

    head: HeadOut | None
    delay_seconds: float
    oldest_transaction_seconds: float
    items: list[SealOut]
    after: str | None


class FindingOut(Schema):
    """`seal` 0: of no seal in particular."""

    code: str
    seal: int
    message: str


class VerifiedOut(Schema):
    seals: int
    rows: int
    intact: bool
    findings: list[FindingOut]


class ArchiveOut(Schema):
    """`rows` in the files, `stayed` in the database, by table."""

    month: date
    part: int
    address: str
    format: str
    rows: dict[str, int]
    stayed: dict[str, int]


class ViolationOut(Schema):
    """`rule`: what should hold; `message`: what was found."""

    id: int
    at: datetime
    code: str
    rule: str
    message: str
    instance_id: UUID | None
    definition: str
    sequence: int | None


class PageOut[T](Schema):
    """`after` asks for the next page; null on the last."""

    items: list[T]
    after: str | None
