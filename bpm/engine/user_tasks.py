"""User tasks: claim, give back, assign, delegate, resolve, complete, report an error. Lists of them are queries.

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
        task,
        lambda at: c.ClaimUserTask(at=at, user_task=task.ordinal, user=who),
        actor=who if actor is None else actor,
        reason=reason,
        key=key,
    )


def unclaim_task(id: UUID | str, *, actor: str, reason: str | None = None, key: str | None = None) -> CommitRecord:
    """Give it back to the candidates. Raises NotFound, Refused."""
    task = _task(id)
    return act(
        task,
        lambda at: c.UnclaimUserTask(at=at, user_task=task.ordinal),
        actor=actor,
        reason=reason,
        key=key,
    )


def assign_user_task(
    id: UUID | str, user: str | None, *, actor: str, reason: str | None = None, key: str | None = None
) -> CommitRecord:
    """Give it to a person, whoever has it (None: to nobody). Raises NotFound, Refused: wrong_state, not_running."""
    task, who = _task(id), None if user is None else acting_as(user, "user")
    return act(
        task,
        lambda at: c.AssignUserTask(at=at, user_task=task.ordinal, user=who),
        actor=actor,
        reason=reason,
        key=key,
    )


def delegate_user_task(
    id: UUID | str, user: str, *, actor: str, reason: str | None = None, key: str | None = None
) -> CommitRecord:
    """Let another person do it; who had it stays its owner, and gets it back when it is resolved. Raises NotFound,
    Invalid (it is that person's already), Refused: wrong_state, not_running.
    """
    task, who = _task(id), acting_as(user, "user")
    return act(
        task,
        lambda at: c.DelegateUserTask(at=at, user_task=task.ordinal, user=who),
        actor=actor,
        reason=reason,
        key=key,
    )


def resolve_user_task(
    id: UUID | str,
    *,
    actor: str,
    variables: Mapping[str, Any] | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """The person to whom it was delegated is done: its owner has it again. Raises NotFound, InvalidVariables, Refused:
    wrong_state (it is not delegated), not_running.
    """
    task, brought = _task(id), checked(variables)
    return act(
        task,
        lambda at: c.ResolveUserTask(at=at, user_task=task.ordinal, variables=brought),
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
    form: bool = False,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """The person (None: the actor) has done it; the token goes on. With `form` the variables are checked against the
    fields of the task's form, and get their defaults.

    Raises NotFound, InvalidVariables, Invalid (the form is not filled in), or Refused: wrong_state (also of a delegated
    task, which is resolved first), not_running.
    """
    task, brought = _task(id), checked(variables)
    who = actor if user is None else acting_as(user, "user")
    return act(
        task,
        lambda at: c.CompleteUserTask(at=at, user_task=task.ordinal, user=who, variables=brought, form=form),
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
        task,
        lambda at: c.ThrowUserTaskError(at=at, user_task=task.ordinal, **said),
        actor=actor,
        reason=reason,
        key=key,
    )


def _task(id: UUID | str) -> Entity:
    return entity(id, "user task")
