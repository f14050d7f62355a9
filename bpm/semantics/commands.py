"""What somebody asks of an instance, in the imperative. Frozen data with a JSON form; deciding is in `decide`.

Time is an argument: `at` is the commit's own time. `answers` holds what the shell looked up outside the instance, so
that replay can answer from the log: what `decide` needed, by `answer_name`.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`at`: aware datetime in UTC."""

    at: datetime
    answers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartInstance(Command):
    """Begin the instance at `node` (see `starts`; None: where a start by key means). `name` is the message or signal
    that has come, for a start event that needs several.
    """

    node: str | None = None
    name: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    business_key: str | None = None
    caller: dict[str, Any] | None = None  # {"thread", "ticket", "wants": [names] | None for all, "depth"}
    trigger: str = "start"  # a reason: start, message, timer, signal, call


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceToken(Command):
    """Let an ACTIVE token go on."""

    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LockTask(Command):
    """Give a READY task to a worker. The live engine does so for many in one statement, with the same events."""

    task: int
    worker: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteExternalTask(Command):
    """The worker is done. `variables` go to where they are visible, `local_variables` stay with the activity.

    `next_topics`: of which topics the worker goes on with a task that this step makes -> seconds of its lock.
    """

    task: int
    worker: str
    variables: dict[str, Any] = field(default_factory=dict)
    local_variables: dict[str, Any] = field(default_factory=dict)
    next_topics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailExternalTask(Command):
    """The worker could not do it. `retries` None counts down by one; 0 opens an incident."""

    task: int
    worker: str
    message: str = ""
    details: str = ""
    retries: int | None = None
    retry_after: float | None = None  # seconds until it may be fetched again; None: the model's cycle, else at once
    variables: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrowBpmnError(Command):
    """The worker reports an error that the model may catch."""

    task: int
    worker: str
    code: str
    message: str = ""
    variables: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRetries(Command):
    """How often an external task may still fail, whether it has failed or not."""

    task: int
    retries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUpTask(Command):
    """Whoever takes the task does not finish it within the lock; `worker` was the last. An operator must look."""

    task: int
    worker: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteUserTask(Command):
    """A person has done it. `form`: the variables are what a form's fields hold, and are checked as such."""

    user_task: int
    user: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    form: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimUserTask(Command):
    """A person takes it; only an unclaimed task, or one that is already theirs."""

    user_task: int
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimUserTask(Command):
    """Give it back."""

    user_task: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignUserTask(Command):
    """Give it to a person, whoever has it (None: to nobody)."""

    user_task: int
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateUserTask(Command):
    """Let another person do it; it comes back to its owner."""

    user_task: int
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveUserTask(Command):
    """The person to whom it was delegated is done. `variables` go to where they are visible."""

    user_task: int
    variables: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrowUserTaskError(Command):
    """A person's task reports an error that the model may catch."""

    user_task: int
    code: str
    user: str | None = None
    message: str = ""
    variables: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FireTimer(Command):
    """The timer's moment has come; `early`: an operator does not wait for it."""

    timer: int
    early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlate(Command):
    """A message or signal has come for an open ticket. `message` names it: {"sender", "version", "ordinal"}."""

    ticket: int
    variables: dict[str, Any] = field(default_factory=dict)
    message: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReturned(Command):
    """A called instance has ended. `outcome`: completed, error (with `code`), failed, cancelled, or refused."""

    ticket: int
    outcome: str
    variables: dict[str, Any] = field(default_factory=dict)
    code: str | None = None
    text: str = ""
    message: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEscalated(Command):
    """A called instance raised an escalation that it did not catch; it runs on. `variables` go to who catches it,
    `returned` are those of the called process that its end would bring back.
    """

    ticket: int
    code: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    returned: dict[str, Any] = field(default_factory=dict)
    message: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetVariables(Command):
    """Write variables as seen from a token (0: the process): each where it is, and a new one in the process. `local`:
    in the token's own scope, and there alone.
    """

    token: int = 0
    variables: dict[str, Any] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    local: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryIncident(Command):
    """Let the work behind an incident be tried again."""

    incident: int
    retries: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportIncident(Command):
    """The engine could not step the token at all; it waits for an operator. Or, where `beside` names an event: that
    came and could not be taken, and the token (0: the instance) goes on waiting for it.
    """

    token: int
    text: str
    beside: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelInstance(Command):
    """End the instance and all that is open in it. `message`: of the caller that wants it ended."""

    text: str = ""
    message: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyInstance(Command):
    """Put tokens elsewhere: first the ones in `start` appear, then the ones in `cancel` end, in one step.

    `start`: {"before" | "after": node id, "variables": {...} (optional, local to the new token)}; `cancel`:
    {"token": id} or {"node": node id} (all open tokens there).
    """

    start: tuple[dict[str, Any], ...] = ()
    cancel: tuple[dict[str, Any], ...] = ()
    variables: dict[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartInstance(Command):
    """Begin a new run of an instance that has ended, at `node` (as StartInstance does) or, where there are any, at what
    `start` names (as ModifyInstance does). Decided on the graph of the run's definition.

    `fresh`: variables of the process that are not given have no value in the new run; else they stay.
    """

    definition: str | None = None  # id of another version of the process, as text
    node: str | None = None
    start: tuple[dict[str, Any], ...] = ()
    fresh: bool = False
    variables: dict[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrateInstance(Command):
    """Go on with another definition of the same process; decided on the graph of the new one.

    `nodes` maps ids of nodes where something is open to ids in the new graph (an id left out stays as it is). `drop`
    names nodes whose timers, tickets and event subscriptions may end with the old definition.
    """

    definition: str  # id of the new definition, as text
    nodes: dict[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendInstance(Command):
    """Stop the instance: nothing moves until it is resumed."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeInstance(Command):
    """Let a suspended instance go on."""

    text: str = ""


COMMANDS: dict[str, type[Command]] = {cls.__name__: cls for cls in Command.__subclasses__()}
# command -> each field but `at`, and what it is where nobody says otherwise.
_DEFAULTS: dict[type[Command], tuple[tuple[str, Any], ...]] = {
    cls: tuple(
        (f.name, f.default if f.default_factory is dataclasses.MISSING else f.default_factory())
        for f in dataclasses.fields(cls)
        if f.name != "at"
    )
    for cls in COMMANDS.values()
}


def answer_name(key: tuple[Any, ...]) -> str:
    """The name in `answers` of a question to the world outside, such as ("decision", key, binding, version)."""
    return json.dumps(key, ensure_ascii=False)


def to_json(command: Command) -> dict[str, Any]:
    """The command's arguments as JSON values (datetimes as ISO 8601 text), without `at` and fields at their default."""
    found: dict[str, Any] = {}
    for name, default in _DEFAULTS[type(command)]:
        value = getattr(command, name)
        if value != default:
            found[name] = value.isoformat() if isinstance(value, datetime) else value
    return found


def from_json(name: str, arguments: dict[str, Any], at: datetime) -> Command:
    """The command that `to_json` wrote. KeyError for an unknown name, TypeError for arguments it does not take."""
    cls = COMMANDS[name]
    values: dict[str, Any] = dict(arguments)
    for f in dataclasses.fields(cls):
        if f.type == "datetime" and isinstance(values.get(f.name), str):
            values[f.name] = datetime.fromisoformat(values[f.name])
        elif str(f.type).startswith("tuple[") and f.name in values:
            values[f.name] = tuple(values[f.name])
    return cls(**values, at=at)
