"""External tasks, for workers in any language: fetch and lock, complete, fail, report an error, extend, unlock."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Status

from bpm.api.answers import caller_of, commit, key_of, known
from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.given import CompleteIn, ErrorIn, ExtendIn, FailIn, FetchIn, RetryIn, UnlockIn, taken
from bpm.api.schemas.told import CommitOut, CompletedOut, ExternalTaskOut, LockedTaskOut, PageOut
from bpm.engine import external_tasks, operators
from bpm.queries import work
from bpm.semantics.lifecycle import TRANSITIONS

router = Router()


@router.post("/fetch-and-lock", response=list[LockedTaskOut], auth=may("work"))
def fetch_and_lock(request: HttpRequest, given: FetchIn) -> Any:
    """Lock up to `max` ready tasks of the topics for the worker, by priority, then age. None ready: an empty list.

    A topic may name the variables that it wants; the others are neither read nor sent.
    """
    return external_tasks.fetch_and_lock(
        taken(given.topics),
        worker=given.worker,
        max=given.max,
        lock_seconds=given.lock_seconds,
        key=key_of(request),
        actor=caller_of(request).name,
    )


@router.get("", response=PageOut[ExternalTaskOut], auth=may("view"))
def list_external_tasks(
    request: HttpRequest,
    topic: str | None = None,
    state: list[str] = Query(list(work.OPEN_EXTERNAL)),
    worker: str | None = None,
    instance_id: UUID | None = None,
    after: str | None = None,
    size: int = Query(50, ge=1, le=200),
) -> Any:
    """External tasks, the newest first."""
    states = known(state, TRANSITIONS["task"], "state")
    return work.list_external_tasks(
        topic=topic, states=states, worker=worker, instance_id=instance_id, after=after, size=size
    )


@router.get("/{id}", response=ExternalTaskOut, auth=may("view"))
def get_external_task(request: HttpRequest, id: UUID) -> Any:
    """One external task."""
    found = work.get_external_task(id)
    if found is None:
        raise Problem("not_found", f"there is no external task {id}")
    return found


@router.post("/{id}/complete", response=CompletedOut, auth=may("work"))
def complete(request: HttpRequest, id: UUID, given: CompleteIn) -> Any:
    """The worker is done; the token goes on with what it brought back. With `next_topics` the worker has the next task
    of the same instance at once, where the token comes to one of these topics in the same commit.
    """
    said: dict[str, Any] = {
        "worker": given.worker,
        "variables": given.variables,
        "local_variables": given.local_variables,
        "key": key_of(request),
        "actor": caller_of(request).name,
    }
    if not given.next_topics:
        return commit(external_tasks.complete_task(id, **said))
    record, following = external_tasks.complete_and_lock_next(
        id, taken(given.next_topics), lock_seconds=given.lock_seconds, **said
    )
    return commit(record) | {"next": following}


@router.post("/{id}/fail", response=CommitOut, auth=may("work"))
def fail(request: HttpRequest, id: UUID, given: FailIn) -> Any:
    """The worker could not do it. No retries left: an incident waits for an operator."""
    record = external_tasks.fail_task(
        id,
        worker=given.worker,
        message=given.message,
        details=given.details,
        retries=given.retries,
        retry_after=given.retry_after,
        variables=given.variables,
        key=key_of(request),
        actor=caller_of(request).name,
    )
    return commit(record)


@router.post("/{id}/error", response=CommitOut, auth=may("work"))
def error(request: HttpRequest, id: UUID, given: ErrorIn) -> Any:
    """The worker reports a BPMN error, which the model may catch."""
    record = external_tasks.throw_task_error(
        id,
        worker=given.worker,
        code=given.code,
        message=given.message,
        variables=given.variables,
        key=key_of(request),
        actor=caller_of(request).name,
    )
    return commit(record)


@router.post("/{id}/extend", response={204: None}, auth=may("work"))
def extend(request: HttpRequest, id: UUID, given: ExtendIn) -> Any:
    """Hold the task for so many more seconds from now."""
    external_tasks.extend_lock(
        id,
        worker=given.worker,
        seconds=given.lock_seconds,
        key=key_of(request),
        actor=caller_of(request).name,
    )
    return Status(204, None)


@router.post("/{id}/unlock", response={204: None}, auth=may("work"))
def unlock(request: HttpRequest, id: UUID, given: UnlockIn) -> Any:
    """Give the task back: it is ready at once. Whoever may operate takes it from any worker: then none is named."""
    caller = caller_of(request)
    if given.worker is None and "operate" not in caller.rights:
        raise Problem("not_allowed", "a worker gives back what it holds itself: name the worker")
    external_tasks.unlock_task(id, actor=caller.name, worker=given.worker, key=key_of(request))
    return Status(204, None)


@router.post("/{id}/retries", response=CommitOut, auth=may("operate"))
def set_retries(request: HttpRequest, id: UUID, given: RetryIn) -> Any:
    """How often it may still fail; one that waits with an incident is ready again."""
    record = operators.set_retries(
        id, given.retries, actor=caller_of(request).name, reason=given.reason, key=key_of(request)
    )
    return commit(record)
