"""State and event to state: the only code that changes a `State`.

Each event type has one rule in RULES. A rule builds the entity anew from the event and asks nothing else; `apply`
checks the transition against `lifecycle` first, so that a history that breaks a lifecycle cannot be folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from bpm.semantics.changing import changed
from bpm.semantics.events import EVENT_TYPES, ROWLESS, Event
from bpm.semantics.lifecycle import INITIAL, NEW_RUNS, allowed, is_final
from bpm.semantics.state import (
    ATTACHED,
    Entity,
    Incident,
    Instance,
    Link,
    State,
    Task,
    Ticket,
    Timer,
    Token,
    UserTask,
    Variable,
    key_of,
)


class BrokenHistory(Exception):
    """An event that cannot follow the state before it. `event` is that event, the message says what is wrong."""

    def __init__(self, event: Event, message: str) -> None:
        super().__init__(f"{event.type} {event.id}: {message}")
        self.event = event


def evolve(state: State, events: Iterable[Event]) -> State:
    """A new state after the events; the given one is left as it is. Raises BrokenHistory."""
    after = state.copy()
    for event in events:
        apply(after, event)
    return after


def apply(state: State, event: Event) -> None:
    """Change the state in place by one event. Raises BrokenHistory."""
    if event.type not in EVENT_TYPES:
        raise BrokenHistory(event, "unknown event type")
    kind = EVENT_TYPES[event.type][0]
    if kind == "engine":
        return
    # Variable scopes take their ordinals from the same counter as entities.
    state.counter = max(state.counter, event.id, event.payload.get("local", 0))
    if kind in ROWLESS:
        return
    rule = RULES[event.type]
    if kind == "variable":
        _write(state, kind, rule(state, event))
        return
    before = state.table(kind).get(event.id)
    if event.type in BIRTHS:
        if before is not None:
            raise BrokenHistory(event, f"the {kind} exists already")
        if event.to_state not in INITIAL[kind]:
            raise BrokenHistory(event, f"no {kind} is born {event.to_state}")
    else:
        if before is None:
            raise BrokenHistory(event, f"there is no such {kind}")
        if event.from_state is not None and event.from_state != before.state:
            raise BrokenHistory(event, f"the {kind} is {before.state}, not {event.from_state}")
        if event.type in NEW_RUNS:
            if not is_final(kind, before.state) or event.to_state not in INITIAL[kind]:
                raise BrokenHistory(event, f"no run of {kind} {event.id} follows {before.state} with {event.to_state}")
        elif event.to_state is not None and not allowed(kind, before.state, event.to_state):
            raise BrokenHistory(event, f"a {kind} cannot go from {before.state} to {event.to_state}")
    _write(state, kind, rule(state, event))
    if event.type == "TOKEN_CREATED" and event.reason == "fork":
        _write(state, "link", Link(parent=event.payload["parent"], child=event.id, type="FORK"))
    elif event.type == "TOKEN_JOINED":
        for joined in event.payload["joined"]:
            if joined != event.id:
                _write(state, "link", Link(parent=joined, child=event.id, type="JOIN"))


def _write(state: State, kind: str, entity: Entity) -> None:
    key = key_of(kind, entity)
    before = state.table(kind).get(key)
    if before is not None and entity.version != before.version:
        entity = changed(entity, version=before.version)
    state.put(kind, entity)
    state.touch(kind, key)


def _instance_started(state: State, event: Event) -> Instance:
    payload = event.payload
    return Instance(
        definition=payload["definition"], business_key=payload.get("business_key"), caller=payload.get("caller")
    )


def _instance_restarted(state: State, event: Event) -> Instance:
    # Whoever called it has had its answer: nobody waits for the end of a later run.
    return changed(state.instances[0], state=str(event.to_state), caller=None)


def _token_created(state: State, event: Event) -> Token:
    payload = event.payload
    return Token(
        id=event.id,
        node=_node(event),
        state=str(event.to_state),
        scope=payload.get("scope", 0),
        parent=payload.get("parent", 0),
        flow=payload.get("flow"),
        step=payload.get("step", "enter"),
        local=payload.get("local", 0),
        index=payload.get("index"),
    )


def _token_moved(state: State, event: Event) -> Token:
    return changed(
        state.tokens[event.id],
        node=_node(event),
        state=str(event.to_state),
        flow=event.payload.get("flow"),
        step=event.payload.get("step", "enter"),
        local=0,
    )


def _token_changed(state: State, event: Event) -> Token:
    token = state.tokens[event.id]
    return changed(
        token,
        state=event.to_state or token.state,
        step=event.payload.get("step", token.step),
        local=event.payload.get("local", token.local),
    )


def _token_joined(state: State, event: Event) -> Token:
    return changed(
        state.tokens[event.id],
        node=_node(event),
        state=str(event.to_state),
        flow=None,
        step=event.payload.get("step", "leave"),
        local=0,
    )


def _task_created(state: State, event: Event) -> Task:
    payload = event.payload
    return Task(
        id=event.id,
        token=event.token,
        node=_node(event),
        topic=payload["topic"],
        retries=payload.get("retries", 3),
        priority=payload.get("priority", 0),
    )


def _task_locked(state: State, event: Event) -> Task:
    payload = event.payload
    return changed(
        state.tasks[event.id], state="LOCKED", lock_owner=payload["worker"], lock_expire_at=_moment(payload["until"])
    )


def _task_released(state: State, event: Event) -> Task:
    return changed(state.tasks[event.id], state=str(event.to_state), lock_owner=None, lock_expire_at=None)


def _task_failed(state: State, event: Event) -> Task:
    return changed(_task_released(state, event), retries=event.payload["retries"], retry_at=None)


def _task_retried(state: State, event: Event) -> Task:
    payload = event.payload
    at = payload.get("retry_at")
    return changed(
        _task_released(state, event), retries=payload["retries"], retry_at=None if at is None else _moment(at)
    )


def _timer_scheduled(state: State, event: Event) -> Timer:
    payload = event.payload
    return Timer(
        id=event.id,
        token=event.token,
        node=_node(event),
        fire_at=_moment(payload["fire_at"]),
        schedule=payload["schedule"],
    )


def _user_task_created(state: State, event: Event) -> UserTask:
    payload = event.payload
    return UserTask(
        id=event.id,
        token=event.token,
        node=_node(event),
        state=str(event.to_state),
        assignee=payload.get("assignee"),
        candidate_users=tuple(payload.get("candidate_users", ())),
        candidate_groups=tuple(payload.get("candidate_groups", ())),
        due=payload.get("due"),
        follow_up=payload.get("follow_up"),
        priority=payload.get("priority", 50),
        form_key=payload.get("form_key"),
    )


def _user_task_claimed(state: State, event: Event) -> UserTask:
    return changed(state.user_tasks[event.id], state=str(event.to_state), assignee=event.payload.get("user"))


def _user_task_delegated(state: State, event: Event) -> UserTask:
    taken = _user_task_claimed(state, event)
    return changed(taken, owner=event.payload.get("owner"), delegation="PENDING")


def _user_task_resolved(state: State, event: Event) -> UserTask:
    return changed(_user_task_claimed(state, event), delegation="RESOLVED")


def _ticket_opened(state: State, event: Event) -> Ticket:
    payload = event.payload
    return Ticket(
        id=event.id,
        token=event.token,
        node=_node(event),
        kind=payload["kind"],
        name=payload.get("name", ""),
        correlation=payload.get("correlation"),
        data=payload.get("data", {}),
    )


def _incident_opened(state: State, event: Event) -> Incident:
    payload = event.payload
    return Incident(
        id=event.id,
        token=event.token,
        node=_node(event),
        kind=payload["kind"],
        message=payload.get("message", ""),
        task=payload.get("task"),
    )


def _variable_set(state: State, event: Event) -> Variable:
    return Variable(scope=event.id, name=event.payload["name"], value=event.payload["value"])


def _variable_unset(state: State, event: Event) -> Variable:
    return Variable(scope=event.id, name=event.payload["name"], present=False)


def _modified(state: State, event: Event) -> Instance:
    return state.instances[0]


def _migrated_to(kind: str) -> Callable[[State, Event], Entity]:
    """The rule of an event that moves an entity to a node of another definition."""

    def rule(state: State, event: Event) -> Entity:
        return changed(state.table(kind)[event.id], node=_node(event))

    return rule


def _stateful(kind: str) -> Callable[[State, Event], Entity]:
    """The rule of an event that changes nothing but the state."""

    def rule(state: State, event: Event) -> Entity:
        return changed(state.table(kind)[event.id], state=str(event.to_state))

    return rule


def _node(event: Event) -> str:
    if event.node is None:
        raise BrokenHistory(event, "it names no node")
    return event.node


def _moment(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


# Events that bring an entity into being.
BIRTHS = frozenset(
    {
        "INSTANCE_STARTED",
        "TOKEN_CREATED",
        "TASK_CREATED",
        "TIMER_SCHEDULED",
        "USER_TASK_CREATED",
        "TICKET_OPENED",
        "INCIDENT_OPENED",
    }
)

RULES: dict[str, Callable[[State, Event], Entity]] = {
    **{type: _stateful(kind) for type, (kind, _, _) in EVENT_TYPES.items() if kind not in ROWLESS},
    "INSTANCE_STARTED": _instance_started,
    "INSTANCE_RESTARTED": _instance_restarted,
    "INSTANCE_MODIFIED": _modified,
    "INSTANCE_MIGRATED": _modified,
    **{f"{kind.upper()}_MIGRATED": _migrated_to(kind) for kind in ("token", *ATTACHED)},
    "TOKEN_CREATED": _token_created,
    "TOKEN_MOVED": _token_moved,
    "TOKEN_STATE_CHANGED": _token_changed,
    "TOKEN_JOINED": _token_joined,
    "TASK_CREATED": _task_created,
    "TASK_LOCKED": _task_locked,
    "TASK_EXTENDED": _task_locked,
    "TASK_UNLOCKED": _task_released,
    "TASK_TIMED_OUT": _task_released,
    "TASK_COMPLETED": _task_released,
    "TASK_ERROR_THROWN": _task_released,
    "TASK_CANCELLED": _task_released,
    "TASK_FAILED": _task_failed,
    "TASK_RETRIED": _task_retried,
    "TASK_RETRIES_SET": lambda state, event: changed(state.tasks[event.id], retries=event.payload["retries"]),
    "TIMER_SCHEDULED": _timer_scheduled,
    "USER_TASK_CREATED": _user_task_created,
    "USER_TASK_CLAIMED": _user_task_claimed,
    "USER_TASK_UNCLAIMED": _user_task_claimed,
    "USER_TASK_ASSIGNED": _user_task_claimed,
    "USER_TASK_DELEGATED": _user_task_delegated,
    "USER_TASK_RESOLVED": _user_task_resolved,
    "TICKET_OPENED": _ticket_opened,
    "TICKET_ADVANCED": lambda state, event: changed(state.tickets[event.id], data=event.payload["data"]),
    "INCIDENT_OPENED": _incident_opened,
    "VARIABLE_SET": _variable_set,
    "VARIABLE_UNSET": _variable_unset,
}
