"""What goes in: bodies by Camunda's names. Null is as good as absent, since its clients send it so.

A field that is not known here is refused where it asks for something; `MEANINGLESS` are those that mean nothing here,
whatever they say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from bpm.api.problems import Problem
from bpm.api.schemas.given import Name, Text, without_nul
from bpm.api.typed import taken
from bpm.engine import Topic
from bpm.engine.external_tasks import MOST_NAMES

# Camunda's longest long poll, in milliseconds.
LONGEST_POLL = 1_800_000
LONGEST_LOCK = 604_800_000
LONGEST_PAUSE = 31_622_400_000
NOTHING: tuple[Any, ...] = (None, False, "", [], {})


def id_of(text: str, what: str) -> UUID:
    """The id. Problem (404) for what is none: there is no such thing, then."""
    try:
        return UUID(text)
    except ValueError:
        raise Problem("not_found", f"{what} with id {text[:80]} does not exist") from None


def values_of(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Typed values as the engine takes variables. Raises InvalidVariables."""
    return {name: taken(name, said) for name, said in variables.items()}


Values = Annotated[dict[str, Any], AfterValidator(values_of)]
LockMilliseconds = Annotated[int, Field(gt=0, le=LONGEST_LOCK)]
Retries = Annotated[int, Field(ge=0, le=1_000_000)]
# What Camunda cuts, the engine cuts.
FreeText = Annotated[str, AfterValidator(lambda text: text.replace("\x00", "\ufffd"))]


class Given(BaseModel):
    """What comes in."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)
    MEANINGLESS: ClassVar[frozenset[str]] = frozenset({"withoutTenantId"})

    @model_validator(mode="before")
    @classmethod
    def _as_said(cls, said: Any) -> Any:
        if not isinstance(said, dict):
            return said
        known = {field.alias for field in cls.model_fields.values()}
        asked = {name: value for name, value in said.items() if name in known and value is not None}
        others = said.keys() - known - cls.MEANINGLESS
        if strangers := sorted(name for name in others if said[name] not in NOTHING):
            raise ValueError(f"{', '.join(strangers)[:200]} is not supported here")
        return asked


class TopicIn(Given):
    """A topic, and how its tasks are taken."""

    MEANINGLESS: ClassVar[frozenset[str]] = frozenset({"withoutTenantId", "deserializeValues"})

    topic_name: Name
    lock_duration: LockMilliseconds
    variables: Annotated[list[Name], Field(max_length=MOST_NAMES)] | None = None
    local_variables: bool = False
    include_extension_properties: bool = False

    def taken(self) -> Topic:
        """As the engine has it."""
        return Topic(self.lock_duration / 1000, self.variables)


class SortingIn(Given):
    sort_by: Literal["createTime"]
    sort_order: Literal["asc"] = "asc"


class FetchIn(Given):
    """Tasks come by priority, then age, whatever `usePriority` says."""

    MEANINGLESS: ClassVar[frozenset[str]] = frozenset({"usePriority"})

    worker_id: Name
    max_tasks: Annotated[int, Field(ge=1)]
    async_response_timeout: Annotated[int, Field(ge=0, le=LONGEST_POLL)] = 0
    sorting: list[SortingIn] = []
    topics: Annotated[list[TopicIn], Field(max_length=100)] = []


class WorkerIn(Given):
    worker_id: Name


class CompleteIn(WorkerIn):
    variables: Values = {}
    local_variables: Values = {}


class FailureIn(WorkerIn):
    """`retries` absent is none: so Camunda reads it."""

    error_message: FreeText = ""
    error_details: FreeText = ""
    retries: Retries = 0
    retry_timeout: Annotated[int, Field(ge=0, le=LONGEST_PAUSE)] = 0
    variables: Values = {}


class BpmnErrorIn(WorkerIn):
    error_code: Name
    error_message: FreeText = ""
    variables: Values = {}


class ExtendIn(WorkerIn):
    new_duration: LockMilliseconds


class LockIn(WorkerIn):
    lock_duration: LockMilliseconds


class RetriesIn(Given):
    retries: Retries


class StartIn(Given):
    business_key: Text | None = None
    variables: Values = {}
    with_variables_in_return: bool = False


class SuspendedIn(Given):
    suspended: bool


class VariablesIn(Given):
    modifications: Values = {}
    deletions: list[Name] = []


class MessageIn(Given):
    message_name: Name
    business_key: Text | None = None
    process_instance_id: UUID | None = None
    correlation_keys: Values = {}
    process_variables: Values = {}
    result_enabled: bool = False
    variables_in_result_enabled: bool = False


class SignalIn(Given):
    name: Name
    variables: Values = {}


class UserIn(Given):
    """`userId` absent is nobody."""

    user_id: Annotated[str, Field(max_length=255), AfterValidator(without_nul)] | None = None


class ResolveIn(Given):
    variables: Values = {}


class CompleteTaskIn(ResolveIn):
    with_variables_in_return: bool = False


class TaskErrorIn(Given):
    error_code: Name
    error_message: FreeText = ""
    variables: Values = {}
