"""User tasks: claim, give back, complete, report an error. Lists of them are queries.

The `user` is whose doing it is; the `actor` who asked for it, where that is somebody else: a program that acts for a
person. An idempotency key is the actor's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from bpm.engine.acting import Entity, act, acting_as, entity, named
from bpm.engine.variables import checked
from bpm.semantics import commands as c
from bpm.store.records import CommitRecord


def claim_task(
    id: UUID | str, user: str, *, actor: str | None = None, reason: str | None = None, key: str | None = None
) -> CommitRecord:
    """The person takes it. Raises NotFound, or Refused: wrong_user (somebody else's), wrong_state, not_running."""
    task, who = _task(id), named(user, "user")
    return act(
        task.instance,
        lambda at: c.ClaimUserTask(at=at, user_task=task.ordinal, user=who),
        actor=actor or who,
        reason=reason,
        key=key,
    )


def unclaim_task(id: UUID | str, *, actor: str, reason: str | None = None, key: str | None = None) -> CommitRecord:
    """Give it back to the candidates. Raises NotFound, Refused."""
    task = _task(id)
    return act(
        task.instance,
        lambda at: c.UnclaimUserTask(at=at, user_task=task.ordinal),
        actor=actor,
        reason=reason,
        key=key,
    )


def complete_user_task(
    id: UUID | str,
    *,
    actor: str,
    user: str | None = None,
    variables: Mapping[str, Any] | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """The person (None: the actor) has done it; the token goes on. Raises NotFound, InvalidVariables, Refused."""
    task, brought = _task(id), checked(variables)
    who = actor if user is None else acting_as(user, "user")
    return act(
        task.instance,
        lambda at: c.CompleteUserTask(at=at, user_task=task.ordinal, user=who, variables=brought),
        actor=actor,
        reason=reason,
        key=key,
    )


def throw_user_task_error(
    id: UUID | str,
    *,
    actor: str,
    code: str,
    user: str | None = None,
    message: str = "",
    variables: Mapping[str, Any] | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """The person reports an error that the model may catch. Raises NotFound, Invalid, InvalidVariables, Refused."""
    task = _task(id)
    said: dict[str, Any] = {"code": named(code, "code"), "message": message, "variables": checked(variables)}
    if user is not None:
        said["user"] = acting_as(user, "user")
    return act(
        task.instance,
        lambda at: c.ThrowUserTaskError(at=at, user_task=task.ordinal, **said),
        actor=actor,
        reason=reason,
        key=key,
    )


def _task(id: UUID | str) -> Entity:
    return entity(id, "user task")
