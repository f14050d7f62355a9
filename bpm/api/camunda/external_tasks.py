"""External tasks: what workers do, and what operators look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from bpm.api.answers import caller_of, key_of
from bpm.api.camunda import listing, told, waiting
from bpm.api.camunda.authentication import may
from bpm.api.camunda.given import (
    BpmnErrorIn,
    CompleteIn,
    ExtendIn,
    FailureIn,
    FetchIn,
    LockIn,
    RetriesIn,
    id_of,
)
from bpm.api.camunda.listing import Words
from bpm.api.problems import Problem
from bpm.audit import trace
from bpm.engine import LockedTask, external_tasks, operators
from bpm.engine.errors import EngineError
from bpm.queries import variables as scopes
from bpm.queries import work
from bpm.queries.rows import ExternalTask

router = Router()

FAILURES = 200
WITH_RETRIES = ("READY", "LOCKED")
WORDS = Words(
    asks={
        "topicName": listing.text("topic"),
        "workerId": listing.text("worker"),
        "processInstanceId": listing.id("instance_id"),
        "locked": listing.when_true(states=("LOCKED",)),
        "notLocked": listing.when_true(states=("READY", "FAILED")),
        "withRetriesLeft": listing.when_true(states=WITH_RETRIES),
        "noRetriesLeft": listing.when_true(states=("FAILED",)),
    },
    keeps={
        "externalTaskId": listing.same("id"),
        "externalTaskIdIn": listing.one_of("id"),
        "activityId": listing.same("node_id"),
        "activityIdIn": listing.one_of("node_id"),
        "processInstanceIdIn": listing.one_of("instance_id"),
        "processDefinitionKey": listing.same("definition_key"),
        "processDefinitionKeyIn": listing.one_of("definition_key"),
    },
    sorts={
        "id": lambda row: str(row.id),
        "processInstanceId": lambda row: str(row.instance_id),
        "processDefinitionKey": lambda row: row.definition_key,
        "taskPriority": lambda row: row.priority,
        "createTime": lambda row: row.created_at,
    },
)


@router.post("/fetchAndLock", auth=may("work"))
def fetch_and_lock(request: HttpRequest, given: FetchIn) -> Any:
    """Lock tasks of the topics, by priority, then age; with asyncResponseTimeout wait for some."""
    topics = {topic.topic_name: topic for topic in given.topics}
    if len(topics) < len(given.topics):
        raise Problem("not_supported", "a topic can be given only once here")
    if not topics:
        return []
    caller, key = caller_of(request).name, key_of(request)

    def fetch() -> list[LockedTask]:
        return external_tasks.fetch_and_lock(
            {name: topic.taken() for name, topic in topics.items()},
            worker=given.worker_id,
            max=min(given.max_tasks, external_tasks.MOST),
            key=key,
            actor=caller,
        )

    answer = []
    found = waiting.until_found(fetch, given.async_response_timeout / 1000)
    own = scopes.names_of_own(task.token_id for task in found if topics[task.topic].local_variables)
    for task in found:
        topic = topics[task.topic]
        headers = external_tasks.task_headers(task) if topic.include_extension_properties else {}
        shown = told.locked_task(task, headers)
        if topic.local_variables:
            local = own.get(task.token_id, frozenset())
            shown["variables"] = {name: value for name, value in shown["variables"].items() if name in local}
        answer.append(shown)
    return answer


@router.post("/{id}/complete", response={204: None}, auth=may("work"))
def complete(request: HttpRequest, id: str, given: CompleteIn) -> Any:
    """The worker is done."""
    with _asked(id, f"External Task {id} cannot be completed by worker '{given.worker_id}'"):
        external_tasks.complete_task(
            id,
            worker=given.worker_id,
            variables=given.variables,
            local_variables=given.local_variables,
            key=key_of(request),
            actor=caller_of(request).name,
        )
    return Status(204, None)


@router.post("/{id}/failure", response={204: None}, auth=may("work"))
def failure(request: HttpRequest, id: str, given: FailureIn) -> Any:
    """The worker could not do it; without retries it opens an incident."""
    with _asked(id, f"Failure of External Task {id} cannot be reported by worker '{given.worker_id}'"):
        external_tasks.fail_task(
            id,
            worker=given.worker_id,
            message=given.error_message,
            details=given.error_details,
            retries=given.retries,
            retry_after=given.retry_timeout / 1000,
            variables=given.variables,
            key=key_of(request),
            actor=caller_of(request).name,
        )
    return Status(204, None)


@router.post("/{id}/bpmnError", response={204: None}, auth=may("work"))
def bpmn_error(request: HttpRequest, id: str, given: BpmnErrorIn) -> Any:
    """The worker reports a BPMN error."""
    with _asked(id, f"Bpmn error of External Task {id} cannot be reported by worker '{given.worker_id}'"):
        external_tasks.throw_task_error(
            id,
            worker=given.worker_id,
            code=given.error_code,
            message=given.error_message,
            variables=given.variables,
            key=key_of(request),
            actor=caller_of(request).name,
        )
    return Status(204, None)


@router.post("/{id}/extendLock", response={204: None}, auth=may("work"))
def extend_lock(request: HttpRequest, id: str, given: ExtendIn) -> Any:
    """Hold the task for so long from now."""
    return _extended(request, id, given.worker_id, given.new_duration)


@router.post("/{id}/lock", response={204: None}, auth=may("work"))
def lock(request: HttpRequest, id: str, given: LockIn) -> Any:
    """The same, for who holds it already; others fetch it by its topic."""
    return _extended(request, id, given.worker_id, given.lock_duration)


@router.post("/{id}/unlock", response={204: None}, auth=may("work", "operate"))
def unlock(request: HttpRequest, id: str) -> Any:
    """Give the task back, whoever holds it: a client of Camunda does not say who it is."""
    with _asked(id, f"External Task {id} cannot be unlocked"):
        holder = _open_task(id).worker
        if holder is not None:
            external_tasks.unlock_task(id, actor=caller_of(request).name, worker=holder, key=key_of(request))
    return Status(204, None)


@router.put("/{id}/retries", response={204: None}, auth=may("operate"))
def set_retries(request: HttpRequest, id: str, given: RetriesIn) -> Any:
    """How often it may still fail; one that waits with an incident is ready again."""
    if given.retries == 0:
        raise Problem("not_supported", "retries cannot be set to 0 here: suspend the instance instead")
    with _asked(id, f"The retries of External Task {id} cannot be set"):
        operators.set_retries(id, given.retries, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


@router.api_operation(["GET", "POST"], "", auth=may("view"))
def list_external_tasks(request: HttpRequest) -> Any:
    """Tasks that are not over, the newest first."""
    found = listing.listed(request, work.list_external_tasks, WORDS)
    definitions = listing.definitions_of(found)
    return [told.external_task(row, definitions.get(row.instance_id)) for row in found]


@router.api_operation(["GET", "POST"], "/count", auth=may("view"))
def count_external_tasks(request: HttpRequest) -> Any:
    """How many there are."""
    return listing.counted(request, work.list_external_tasks, WORDS)


@router.get("/{id}", auth=may("view"))
def get_external_task(request: HttpRequest, id: str) -> Any:
    """One task that is not over."""
    row = _open_task(id)
    return told.external_task(row, listing.definitions_of([row]).get(row.instance_id))


@router.get("/{id}/errorDetails", auth=may("view"))
def get_error_details(request: HttpRequest, id: str) -> HttpResponse:
    """What the worker told of its last failure beside the message."""
    row = _open_task(id)
    wanted = trace.Wanted(types=("TASK_FAILED",), node=row.node_id)
    page = trace.trace(row.instance_id, wanted, newest_first=True, size=FAILURES)
    mine = (event for event in (page.events if page else ()) if event.entity_id == row.id)
    details = next((event.payload.get("details") for event in mine), None)
    return HttpResponse(details or "", content_type="text/plain", status=200 if details else 204)


def _extended(request: HttpRequest, id: str, worker: str, milliseconds: int) -> Any:
    with _asked(id, f"The lock of the External Task {id} cannot be extended by worker '{worker}'"):
        external_tasks.extend_lock(
            id, worker=worker, seconds=milliseconds / 1000, key=key_of(request), actor=caller_of(request).name
        )
    return Status(204, None)


def _open_task(id: str) -> ExternalTask:
    """What is over is no more, as in Camunda. Problem where there is none."""
    row = work.get_external_task(id_of(id, "External task"))
    if row is None or row.state not in work.OPEN_EXTERNAL:
        raise Problem("not_found", f"External task with id {id[:80]} does not exist")
    return row


@contextmanager
def _asked(id: str, otherwise: str) -> Iterator[None]:
    """A refusal in Camunda's words, which clients look for: there is no such task (any more), or who holds it."""
    try:
        yield
    except EngineError as refused:
        if refused.code not in ("not_found", "wrong_state", "not_running", "wrong_worker"):
            raise
        row = _open_task(id)
        if refused.code == "wrong_worker":
            raise Problem(refused.code, f"{otherwise}. It is locked by worker '{row.worker}'.") from None
        raise Problem("invalid", f"{otherwise}: {refused.message}") from None
