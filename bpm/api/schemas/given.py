"""What goes in. An unknown field is an error, and so is a text that PostgreSQL has none of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Field

from bpm.api.typed import only_asked, unwrapped
from bpm.engine import Topic, Topics
from bpm.engine.external_tasks import MOST_NAMES


def without_nul(text: str) -> str:
    """The text itself. ValueError for one with the character that no text of PostgreSQL has."""
    if "\x00" in text:
        raise ValueError("holds a NUL character")
    return text


def in_utc(moment: datetime) -> datetime:
    """The same moment in UTC, which is meant where no zone is said. ValueError where it has no year there; and of zones
    PostgreSQL knows fewer than Python.
    """
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("lies outside of the years 1 to 9999") from None


Moment = Annotated[datetime, AfterValidator(in_utc)]
Variables = Annotated[
    dict[str, Any],
    AfterValidator(unwrapped),
    Field(description='values as JSON; {"$typed": {value, type, valueInfo}} is one of Camunda\'s'),
]
Text = Annotated[str, Field(max_length=255), AfterValidator(without_nul)]
Name = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(without_nul)]
Words = Annotated[str, Field(max_length=4000), AfterValidator(without_nul)]
LockSeconds = Annotated[float, Field(gt=0, le=604_800)]
Reason = Annotated[Words | None, Field(description="why; kept in history with who")]


class Given(Schema):
    """What comes in: an unknown field is an error, not silence."""

    model_config = ConfigDict(extra="forbid")


class TopicIn(Given):
    """How the tasks of a topic are taken."""

    lock_seconds: LockSeconds | None = Field(None, description="how long a task is held; as the request says, without")
    variables: Annotated[list[Name], Field(max_length=MOST_NAMES)] | None = Field(
        None, description="names of the variables that are wanted, no others are sent; all of them without"
    )

    def taken(self) -> Topic:
        """As the engine has it."""
        return Topic(self.lock_seconds, self.variables)


TopicsIn = (
    Annotated[list[Name], Field(max_length=100)]
    | Annotated[
        dict[Name, LockSeconds | TopicIn],
        Field(max_length=100, description="topic: seconds that its task is held, or these and the variables wanted"),
    ]
)


def taken(topics: list[str] | dict[str, float | TopicIn]) -> Topics:
    """The topics as the engine has them."""
    if isinstance(topics, list):
        return topics
    return {name: how.taken() if isinstance(how, TopicIn) else how for name, how in topics.items()}


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


class RestartIn(Given):
    keep: Literal["end", "start", "none"] = Field("end", description="which variables the new run begins with")
    variables: Variables = Field({}, description="set beside them")
    node: Name | None = Field(None, description="a start event; where it was started, where it is left out")
    start_before: list[Name] = Field([], description="nodes to start at instead")
    version: int | None = Field(None, ge=1, description="of the process; the one it ran last where it is left out")
    reason: Reason = None


class MigrateIn(Given):
    version: int | None = Field(None, description="the version to go on with; the latest where it is left out")
    nodes: dict[Name, Name] = Field(
        {}, description="where nodes of the old version are in the new one, if not the same"
    )
    drop: list[Name] = Field([], description="events of the old version whose timers and tickets may end")
    reason: Reason = None


class MigrateAllIn(MigrateIn):
    after: UUID | None = Field(None, description="go on behind this instance: `after` of the last answer")
    limit: int = Field(50, ge=1, le=200, description="look at so many instances")


class VariablesIn(Given):
    variables: Variables = {}
    unset: list[Name] = []
    token_id: UUID | None = Field(None, description="write as seen from this token; the process where it is left out")
    local: bool = Field(False, description="write into the scope of the token itself")
    reason: Reason = None


class FetchIn(Given):
    """`topics`: a list of names, or each with its own seconds, or with `lock_seconds` and the `variables` it wants."""

    worker: Name
    topics: Annotated[TopicsIn, Field(min_length=1)]
    max: int = Field(1, ge=1, le=1000)
    lock_seconds: LockSeconds = 60.0


class CompleteIn(Given):
    """`next_topics`: with a task of which of these topics the worker goes on, held for `lock_seconds`, or each for its
    own where they are given with it; and with which variables, as a fetch says it.
    """

    worker: Name
    variables: Variables = {}
    local_variables: Variables = {}
    next_topics: TopicsIn = []
    lock_seconds: LockSeconds = 60.0


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
    form: bool = Field(True, description="check the variables against the fields of the task's form")
    reason: Reason = None


class AssignIn(Given):
    user: Name | None = Field(None, description="nobody, where it is left out")
    reason: Reason = None


class DelegateIn(Given):
    user: Name
    reason: Reason = None


class ResolveIn(Given):
    variables: Variables = {}
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


class ConditionsIn(Given):
    variables: Variables = {}
    process: Name | None = Field(None, description="only of this process; of all, where it is left out")
    business_key: Text | None = None
    reason: Reason = None


class RetryIn(Given):
    retries: int = Field(1, ge=1, le=1_000_000)
    reason: Reason = None


class ExportIn(Given):
    format: Literal["csv", "parquet", "jsonl", "xes", "ocel"]
    definitions: list[Name] = Field([], description="keys of processes")
    instances: list[UUID] = []
    states: list[Literal["RUNNING", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED"]] = []
    since: Moment | None = None
    until: Moment | None = None
    workers: list[Name] = []
    users: list[Name] = []
    mask: list[Name] = Field([], description="variables whose values are hidden")
    without_variables: bool = Field(False, description="no value of any variable is in it")
    packed: bool = Field(True, description="packed with gzip, where the format is a text")
    reason: Reason = None


class EvaluateIn(Given):
    variables: Annotated[dict[str, Any], AfterValidator(only_asked), Field(description="values as JSON; no files")] = {}
    version: int | None = Field(None, ge=1, description="a version of the key; the newest where it is left out")
    version_tag: Name | None = Field(None, description="the newest version that people call so")
