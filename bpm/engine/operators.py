"""What operators do to instances: retry, cancel, suspend, resume, set variables. Each keeps the reason that was
stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from bpm.engine.acting import act, counted, entity, instance
from bpm.engine.errors import Invalid, NotFound
from bpm.engine.variables import checked
from bpm.semantics import commands as c
from bpm.store.records import CommitRecord

MOST_RETRIES = 1_000_000


def retry_incident(
    id: UUID | str, *, actor: str, retries: int = 1, reason: str | None = None, key: str | None = None
) -> CommitRecord:
    """Let the work behind an incident be tried again: its task is READY with so many retries, or its token goes on.

    Raises NotFound, Invalid, or Refused: wrong_state (resolved already), not_running.
    """
    counted(retries, "retries", MOST_RETRIES)
    incident = entity(id, "incident")
    return act(
        incident,
        lambda at: c.RetryIncident(at=at, incident=incident.ordinal, retries=retries),
        actor=actor,
        reason=reason,
        key=key,
    )


def set_retries(
    id: UUID | str, retries: int, *, actor: str, reason: str | None = None, key: str | None = None
) -> CommitRecord:
    """How often an external task may still fail, whether it has failed or not; one that waits with an incident is ready
    again. Raises NotFound, Invalid, or Refused: wrong_state (it is over), not_running.
    """
    counted(retries, "retries", MOST_RETRIES)
    task = entity(id, "external task")
    return act(
        task,
        lambda at: c.SetRetries(at=at, task=task.ordinal, retries=retries),
        actor=actor,
        reason=reason,
        key=key,
    )


def cancel_instance(id: UUID | str, *, actor: str, reason: str | None = None, key: str | None = None) -> CommitRecord:
    """End the instance and all that is open in it; called instances are told to end, too. Raises NotFound, Refused."""
    return act(instance(id), lambda at: c.CancelInstance(at=at, text=reason or ""), actor=actor, reason=reason, key=key)


def suspend_instance(id: UUID | str, *, actor: str, reason: str | None = None, key: str | None = None) -> CommitRecord:
    """Stop it: nothing moves until it is resumed. Raises NotFound, Refused."""
    return act(
        instance(id), lambda at: c.SuspendInstance(at=at, text=reason or ""), actor=actor, reason=reason, key=key
    )


def resume_instance(id: UUID | str, *, actor: str, reason: str | None = None, key: str | None = None) -> CommitRecord:
    """Let a suspended instance go on. Raises NotFound, Refused."""
    return act(instance(id), lambda at: c.ResumeInstance(at=at, text=reason or ""), actor=actor, reason=reason, key=key)


def set_variables(
    id: UUID | str,
    variables: Mapping[str, Any] | None = None,
    *,
    actor: str,
    unset: Sequence[str] = (),
    token: UUID | str | None = None,
    local: bool = False,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """Write and unset variables of the process, or as seen from one of its tokens: each where it is, a new one in the
    process. `local`: in the token's own scope, which its activity and what lies inside see.

    Raises NotFound, InvalidVariables, Invalid, Refused.
    """
    thread = instance(id)
    where = 0 if token is None else _token_of(thread, token)
    if local and token is None:
        raise Invalid("local variables are those of a token: name it")
    given, gone = checked(variables), tuple(checked(dict.fromkeys(unset), what="names to unset"))
    return act(
        thread,
        lambda at: c.SetVariables(at=at, token=where, variables=given, unset=gone, local=local),
        actor=actor,
        reason=reason,
        key=key,
    )


def _token_of(thread: UUID, id: UUID | str) -> int:
    """The ordinal of a token of that instance. Raises NotFound."""
    found = entity(id, "token")
    if found.instance != thread:
        raise NotFound(f"the instance {thread} has no token {id}")
    return found.ordinal
