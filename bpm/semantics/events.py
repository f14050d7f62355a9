"""What has happened. One frozen shape for all events, one table that says what each type means.

An event is flat and JSON-ready, in the past tense, and is never renamed: a new shape is a new type, or a new
`format` with a function in `bpm.replay.upcast`. It says what was decided (the due time, the flow, the value), so that
`evolve` computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# The version of the payloads written today.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Event:
    """`id`: ordinal of the entity (0: the instance; variables: the scope); `token`: the token it hangs on (0: none).

    `reason` says why (REASONS); `from_state` and `to_state` are the entity's states, None where the event has none.
    """

    type: str
    id: int
    token: int = 0
    node: str | None = None
    from_state: str | None = None
    to_state: str | None = None
    reason: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)


# type -> (entity, what happened, keys of the payload)
EVENT_TYPES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "INSTANCE_STARTED": ("instance", "the instance began", ("definition", "business_key", "caller", "trigger")),
    "INSTANCE_COMPLETED": ("instance", "nothing is open any more", ()),
    "INSTANCE_FAILED": ("instance", "an error that nobody caught ended it", ("code", "message")),
    "INSTANCE_CANCELLED": ("instance", "somebody ended it", ("text",)),
    "INSTANCE_SUSPENDED": ("instance", "an operator stopped it", ("text",)),
    "INSTANCE_RESUMED": ("instance", "an operator let it go on", ("text",)),
    # definition: id of another version that the run is of; start: the nodes to start at, where they are no start event
    "INSTANCE_RESTARTED": ("instance", "an operator began a new run of it", ("text", "definition", "start")),
    "INSTANCE_MODIFIED": ("instance", "an operator put tokens elsewhere", ("text", "start", "cancel")),
    "INSTANCE_MIGRATED": ("instance", "the instance goes on with another definition", ("definition", "nodes", "text")),
    "TOKEN_CREATED": ("token", "a token appeared at a node", ("scope", "parent", "flow", "step", "index")),
    # left: whether the node it came from has passed (not so when a boundary event interrupts it)
    "TOKEN_MOVED": ("token", "the token left a node for another", ("origin", "flow", "step", "left")),
    "TOKEN_STATE_CHANGED": ("token", "the token began to wait, or was woken", ("step", "local")),
    "TOKEN_FORKED": ("token", "the token left its node by several flows, one child each", ("flows",)),
    "TOKEN_JOINED": ("token", "a gateway fired: this token goes on, the joined ones are done", ("joined", "step")),
    # passed: whether its last node counts as passed (not so for a token consumed by a join or a fork parent)
    "TOKEN_COMPLETED": ("token", "the token ended as it should", ("passed", "into")),
    "TOKEN_FAILED": ("token", "an error that nobody caught ended the token", ("code", "message")),
    "TOKEN_CANCELLED": ("token", "the token was ended from outside", ()),
    "TASK_CREATED": ("task", "external work is ready", ("topic", "retries", "priority")),
    "TASK_LOCKED": ("task", "a worker took the work", ("worker", "until")),
    "TASK_EXTENDED": ("task", "the worker asked for more time", ("worker", "until")),
    "TASK_UNLOCKED": ("task", "the work was given back", ("worker",)),
    "TASK_TIMED_OUT": ("task", "the lock ran out before the worker was done", ("worker",)),
    "TASK_COMPLETED": ("task", "the worker is done", ("worker",)),
    "TASK_ERROR_THROWN": ("task", "the worker reported a BPMN error", ("worker", "code", "message")),
    "TASK_FAILED": ("task", "the worker could not do it", ("worker", "error", "details", "retries")),
    "TASK_RETRIED": ("task", "the work is ready again", ("retries", "retry_at")),
    "TASK_RETRIES_SET": ("task", "an operator said how often it may still fail", ("retries",)),
    "TASK_CANCELLED": ("task", "the work is not needed any more", ()),
    "TIMER_SCHEDULED": ("timer", "a moment was set", ("fire_at", "schedule")),
    "TIMER_FIRED": ("timer", "the moment came", ()),
    "TIMER_CANCELLED": ("timer", "the moment does not matter any more", ()),
    "USER_TASK_CREATED": (
        "user_task",
        "work waits for a person",
        ("assignee", "candidate_users", "candidate_groups", "due", "follow_up", "priority", "form_key"),
    ),
    "USER_TASK_CLAIMED": ("user_task", "a person took it", ("user",)),
    "USER_TASK_UNCLAIMED": ("user_task", "it was given back", ("user",)),
    "USER_TASK_ASSIGNED": ("user_task", "it was given to a person", ("user",)),
    "USER_TASK_DELEGATED": ("user_task", "another person does it for its owner", ("user", "owner")),
    "USER_TASK_RESOLVED": ("user_task", "its owner has it back", ("user",)),
    "USER_TASK_COMPLETED": ("user_task", "a person has done it", ("user",)),
    "USER_TASK_CANCELLED": ("user_task", "it is not needed any more", ()),
    "TICKET_OPENED": ("ticket", "the token waits for something", ("kind", "name", "correlation", "data")),
    "TICKET_ADVANCED": ("ticket", "part of what the token waits for came", ("data",)),
    "TICKET_CONSUMED": ("ticket", "what the token waited for came", ("message",)),
    "TICKET_CANCELLED": ("ticket", "the token does not wait for it any more", ()),
    "INCIDENT_OPENED": ("incident", "work stopped and waits for an operator", ("kind", "message", "task")),
    "INCIDENT_RESOLVED": ("incident", "the work goes on", ()),
    "MESSAGE_SENT": ("message", "the instance told another one something", ("kind", "name", "body")),
    # What became of it, told of its sender; no part of the sender's state, which no step of it has changed.
    "MESSAGE_DELIVERED": ("message", "its receivers have it", ("receivers",)),
    "MESSAGE_EXPIRED": ("message", "nobody took it in its time", ()),
    # tables: each with its inputs and the rules that matched; variable: where the result is (else it is here)
    "DECISION_EVALUATED": (
        "decision",
        "a decision was evaluated",
        ("decision", "key", "tables", "variable", "result", "warnings"),
    ),
    "VARIABLE_SET": ("variable", "a variable has a value", ("name", "value")),
    "VARIABLE_UNSET": ("variable", "a variable has no value any more", ("name",)),
    # The same entity at a node of the new definition, when its instance is migrated.
    "TOKEN_MIGRATED": ("token", "the token stands in the new definition", ("origin",)),
    "TASK_MIGRATED": ("task", "the work belongs to the new definition", ("origin",)),
    "TIMER_MIGRATED": ("timer", "the moment belongs to the new definition", ("origin",)),
    "USER_TASK_MIGRATED": ("user_task", "the work belongs to the new definition", ("origin",)),
    "TICKET_MIGRATED": ("ticket", "what is waited for belongs to the new definition", ("origin",)),
    "INCIDENT_MIGRATED": ("incident", "the incident belongs to the new definition", ("origin",)),
    # Events of the engine itself; they belong to no instance.
    "ENGINE_TICK": ("engine", "a scheduler did something", ("job", "counts")),
    "ENGINE_RECOVERY": (
        "engine",
        "a process looked for work left behind, or tries something that is overdue",
        ("found", "of", "instance", "try"),
    ),
    "ENGINE_VERSION": ("engine", "another version of the engine runs", ("version",)),
    "ENGINE_VIOLATION": (
        "engine",
        "an invariant does not hold",
        ("instance", "definition", "code", "sequence", "message", "rule"),
    ),
}

# Why something happened.
REASONS = (
    "start", "flow", "fork", "join", "loop", "end", "children", "work", "retry", "timeout", "compensation", "signal",
    "message", "timer", "condition", "error", "escalation", "terminate", "cancel", "call", "incident", "operator",
    "interrupted", "left", "none",
)  # fmt: skip


# Kinds of which events tell without any row of them: what is sent or evaluated is over in the moment.
ROWLESS = ("engine", "message", "decision")


def entity_of(type: str) -> str:
    """The kind of entity an event type speaks of."""
    return EVENT_TYPES[type][0]
