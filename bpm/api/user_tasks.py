"""User tasks: list, claim, give back, assign, delegate, resolve, complete, report an error."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router

from bpm.api.answers import caller_of, commit, key_of, known
from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.given import (
    AssignIn,
    ClaimIn,
    CompleteUserTaskIn,
    DelegateIn,
    ReasonIn,
    ResolveIn,
    UserTaskErrorIn,
)
from bpm.api.schemas.told import CommitOut, PageOut, UserTaskOut
from bpm.engine import user_tasks
from bpm.queries import work
from bpm.semantics.lifecycle import TRANSITIONS

router = Router()


@router.get("", response=PageOut[UserTaskOut], auth=may("view"))
def list_user_tasks(
    request: HttpRequest,
    assignee: str | None = None,
    candidate: str | None = None,
    candidate_group: list[str] = Query([]),
    unassigned: bool = False,
    process: str | None = None,
    instance_id: UUID | None = None,
    state: list[str] = Query(list(work.OPEN_USER)),
    after: str | None = None,
    size: int = Query(50, ge=1, le=200),
) -> Any:
    """User tasks, the newest first: of an assignee, or those that a candidate (a user, groups) may claim."""
    return work.list_user_tasks(
        assignee=assignee,
        candidate=candidate,
        candidate_groups=candidate_group,
        unassigned=unassigned,
        definition_key=process,
        instance_id=instance_id,
        states=known(state, TRANSITIONS["user_task"], "state"),
        after=after,
        size=size,
    )


@router.get("/{id}", response=UserTaskOut, auth=may("view"))
def get_user_task(request: HttpRequest, id: UUID) -> Any:
    """One user task with the fields of its form."""
    found = work.get_user_task(id)
    if found is None:
        raise Problem("not_found", f"there is no user task {id}")
    return found


@router.post("/{id}/claim", response=CommitOut, auth=may("operate"))
def claim(request: HttpRequest, id: UUID, given: ClaimIn) -> Any:
    """A person takes it; refused where it is somebody else's."""
    who = _who(request, given.user)
    return commit(user_tasks.claim_task(id, who, actor=caller_of(request).name, key=key_of(request)))


@router.post("/{id}/unclaim", response=CommitOut, auth=may("operate"))
def unclaim(request: HttpRequest, id: UUID, given: ReasonIn) -> Any:
    """Give it back to the candidates."""
    return commit(user_tasks.unclaim_task(id, actor=caller_of(request).name, reason=given.reason, key=key_of(request)))


@router.post("/{id}/assign", response=CommitOut, auth=may("operate"))
def assign(request: HttpRequest, id: UUID, given: AssignIn) -> Any:
    """Give it to a person, whoever has it now, or to nobody."""
    actor = caller_of(request).name
    return commit(user_tasks.assign_user_task(id, given.user, actor=actor, reason=given.reason, key=key_of(request)))


@router.post("/{id}/delegate", response=CommitOut, auth=may("operate"))
def delegate(request: HttpRequest, id: UUID, given: DelegateIn) -> Any:
    """Let another person do it; who had it stays its owner and gets it back."""
    actor = caller_of(request).name
    return commit(user_tasks.delegate_user_task(id, given.user, actor=actor, reason=given.reason, key=key_of(request)))


@router.post("/{id}/resolve", response=CommitOut, auth=may("operate"))
def resolve(request: HttpRequest, id: UUID, given: ResolveIn) -> Any:
    """Who it was delegated to is done; the owner has it again."""
    record = user_tasks.resolve_user_task(
        id,
        actor=caller_of(request).name,
        variables=given.variables,
        reason=given.reason,
        key=key_of(request),
    )
    return commit(record)


@router.post("/{id}/complete", response=CommitOut, auth=may("operate"))
def complete(request: HttpRequest, id: UUID, given: CompleteUserTaskIn) -> Any:
    """A person has done it; the token goes on with what they brought back."""
    record = user_tasks.complete_user_task(
        id,
        actor=caller_of(request).name,
        user=_who(request, given.user),
        variables=given.variables,
        form=given.form,
        reason=given.reason,
        key=key_of(request),
    )
    return commit(record)


@router.post("/{id}/error", response=CommitOut, auth=may("operate"))
def error(request: HttpRequest, id: UUID, given: UserTaskErrorIn) -> Any:
    """Report an error that the model may catch."""
    record = user_tasks.throw_user_task_error(
        id,
        actor=caller_of(request).name,
        user=_who(request, given.user),
        code=given.code,
        message=given.message,
        variables=given.variables,
        key=key_of(request),
    )
    return commit(record)


def _who(request: HttpRequest, named: str | None) -> str:
    """Whose doing it is: a person's own; a program may act for a person it names."""
    caller = caller_of(request)
    if caller.person and named not in (None, caller.name):
        raise Problem("not_allowed", f"{caller.name} may not act for {named}")
    return named or caller.name
