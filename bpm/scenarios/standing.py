"""Where the tokens of an instance stand and wait for something outside: what a scenario's `waiting` lists.

A token is listed at its own node, once. Not listed are tokens that wait for other tokens of their own process (at a
join, around a subprocess, after a fork), and a call activity whose called instance runs: what waits is inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from bpm.scenarios.driver import Waiting
from bpm.scenarios.world import Thread
from bpm.semantics.state import Entity, Token
from bpm.semantics.view import attached

# What a token waits for, the foremost first, where several things hang on it.
_FOREMOST = ("task", "user_task", "ticket", "timer", "incident")


def standing(thread: Thread, now: datetime) -> Iterator[tuple[str, int, Waiting]]:
    """(kind, id, waiting) for each waiting token: the kind and id of what it waits for."""
    for token in thread.state.tokens.values():
        if token.state == "WAITING":
            found = _foremost(thread, token)
            if found is not None:
                kind, entity = found
                yield kind, entity.id, _waiting(thread, token, kind, entity, now)


def _foremost(thread: Thread, token: Token) -> tuple[str, Entity] | None:
    """What the token itself waits for. At an event-based gateway that is any of the events after it."""
    at_gateway = thread.graph.nodes[token.node].kind == "event_based"
    found = [(k, e) for k, e in attached(thread.state, token.id) if at_gateway or e.node == token.node]
    return min(found, key=lambda pair: (_FOREMOST.index(pair[0]), pair[1].id), default=None)


def _waiting(thread: Thread, token: Token, kind: str, entity: Entity, now: datetime) -> Waiting:
    handle = (thread.id, kind, entity.id)
    activity = token.node
    if kind == "task":
        return Waiting(
            activity=activity, kind="external_task", topic=entity.topic, held=_held(thread, entity, now), handle=handle
        )
    if kind == "user_task":
        return Waiting(activity=activity, kind="user_task", handle=handle)
    if kind == "incident":
        return Waiting(activity=activity, kind="incident", held=f"it has an incident: {entity.message}", handle=handle)
    if kind == "timer":
        return Waiting(activity=activity, kind="event", held="it waits for a timer", handle=handle)
    if entity.kind == "CALL":
        return Waiting(activity=activity, kind="call", held=f"it waits for the process {entity.name}", handle=handle)
    answerable = entity.kind in ("MESSAGE", "SIGNAL")
    receives = thread.graph.nodes[activity].kind == "receive"
    return Waiting(
        activity=activity,
        kind="receive" if receives else "event",
        held="" if answerable and entity.node == activity else f"it waits for a {entity.kind.lower()}",
        handle=handle,
    )


def _held(thread: Thread, task: Entity, now: datetime) -> str:
    """Why no worker can take the task now."""
    if task.state == "FAILED":
        return "its retries have run out"
    if task.retry_at is not None and task.retry_at > now:
        return f"its next try is at {task.retry_at.isoformat()}"
    return ""
