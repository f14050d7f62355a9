"""User tasks: list, look at, claim, give back, assign, delegate, resolve, complete, report an error."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from bpm.api.answers import caller_of, key_of
from bpm.api.camunda import listing, told
from bpm.api.camunda.authentication import may
from bpm.api.camunda.definitions import variables_of
from bpm.api.camunda.given import CompleteTaskIn, ResolveIn, TaskErrorIn, UserIn, id_of
from bpm.api.camunda.listing import Words
from bpm.api.problems import Problem
from bpm.engine import user_tasks
from bpm.queries import work
from bpm.queries.rows import UserTask

router = Router()

WORDS = Words(
    asks={
        "assignee": listing.text("assignee"),
        # Who may claim is asked of what nobody has yet, as in Camunda.
        "candidateUser": lambda value: {"candidate": value, "unassigned": True},
        "candidateGroup": lambda value: {"candidate_groups": (value,), "unassigned": True},
        "candidateGroups": lambda value: {"candidate_groups": tuple(value.split(",")), "unassigned": True},
        "unassigned": listing.when_true(unassigned=True),
        "processInstanceId": listing.id("instance_id"),
        "processDefinitionKey": listing.text("definition_key"),
    },
    keeps={
        "taskId": listing.same("id"),
        "taskIdIn": listing.one_of("id"),
        "name": listing.same("node_name"),
        "nameLike": listing.like("node_name"),
        "taskDefinitionKey": listing.same("node_id"),
        "taskDefinitionKeyIn": listing.one_of("node_id"),
        "assigneeIn": listing.one_of("assignee"),
        "assigned": listing.holds(lambda row: row.assignee is not None),
        "owner": listing.same("owner"),
        "delegationState": listing.same("delegation"),
        "priority": listing.same("priority"),
        "processInstanceIdIn": listing.one_of("instance_id"),
        "processInstanceBusinessKey": listing.same("business_key"),
        "processInstanceBusinessKeyLike": listing.like("business_key"),
        "processDefinitionKeyIn": listing.one_of("definition_key"),
        "processDefinitionName": listing.same("definition_name"),
    },
    sorts={
        "id": lambda row: str(row.id),
        "instanceId": lambda row: str(row.instance_id),
        "name": lambda row: row.node_name,
        "nameCaseInsensitive": lambda row: row.node_name.casefold(),
        "assignee": lambda row: row.assignee or "",
        "created": lambda row: row.created_at,
        "priority": lambda row: row.priority,
    },
)


@router.api_operation(["GET", "POST"], "", auth=may("view"))
def list_tasks(request: HttpRequest) -> Any:
    """Tasks that are not done, the newest first."""
    found = listing.listed(request, work.list_user_tasks, WORDS)
    definitions = listing.definitions_of(found)
    return [told.task(row, definitions.get(row.instance_id)) for row in found]


@router.api_operation(["GET", "POST"], "/count", auth=may("view"))
def count_tasks(request: HttpRequest) -> Any:
    """How many there are."""
    return listing.counted(request, work.list_user_tasks, WORDS)


@router.get("/{id}", auth=may("view"))
def get_task(request: HttpRequest, id: str) -> Any:
    """One task that is not done."""
    row = _open_task(id)
    return told.task(row, listing.definitions_of([row]).get(row.instance_id))


@router.post("/{id}/claim", response={204: None}, auth=may("operate"))
def claim(request: HttpRequest, id: str, given: UserIn) -> Any:
    """A person takes it; refused where it is somebody else's. Nobody takes it: it is given back."""
    if given.user_id is None:
        return unclaim(request, id)
    user_tasks.claim_task(id, given.user_id, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


@router.post("/{id}/unclaim", response={204: None}, auth=may("operate"))
def unclaim(request: HttpRequest, id: str) -> Any:
    """Give it back to the candidates; nothing is refused where nobody has it."""
    if _open_task(id).assignee is not None:
        user_tasks.unclaim_task(id, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


@router.post("/{id}/assignee", response={204: None}, auth=may("operate"))
def assign(request: HttpRequest, id: str, given: UserIn) -> Any:
    """Give it to a person, whoever has it now, or to nobody."""
    user_tasks.assign_user_task(id, given.user_id, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


@router.post("/{id}/delegate", response={204: None}, auth=may("operate"))
def delegate(request: HttpRequest, id: str, given: UserIn) -> Any:
    """Let another person do it; who had it gets it back."""
    if given.user_id is None:
        raise Problem("invalid", "userId is needed")
    user_tasks.delegate_user_task(id, given.user_id, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


@router.post("/{id}/resolve", response={204: None}, auth=may("operate"))
def resolve(request: HttpRequest, id: str, given: ResolveIn) -> Any:
    """Who it was delegated to is done; the owner has it again."""
    caller = caller_of(request).name
    user_tasks.resolve_user_task(id, actor=caller, variables=given.variables, key=key_of(request))
    return Status(204, None)


@router.post("/{id}/complete", response={200: dict[str, Any], 204: None}, auth=may("operate"))
def complete(request: HttpRequest, id: str, given: CompleteTaskIn) -> Any:
    """It is done; the token goes on. Fields of a form are not checked, as in Camunda."""
    caller = caller_of(request).name
    record = user_tasks.complete_user_task(
        id, actor=caller, user=_doer(id), variables=given.variables, key=key_of(request)
    )
    if not given.with_variables_in_return:
        return Status(204, None)
    return Status(200, variables_of(record.thread_id))


@router.post("/{id}/bpmnError", response={204: None}, auth=may("operate"))
def bpmn_error(request: HttpRequest, id: str, given: TaskErrorIn) -> Any:
    """Report an error that the model may catch."""
    user_tasks.throw_user_task_error(
        id,
        actor=caller_of(request).name,
        user=_doer(id),
        code=given.error_code,
        message=given.error_message,
        variables=given.variables,
        key=key_of(request),
    )
    return Status(204, None)


def _doer(id: str) -> str | None:
    """Who has it, has done it: a client of Camunda does not say who acts."""
    row = work.get_user_task(id_of(id, "Task"))
    return None if row is None else row.assignee


def _open_task(id: str) -> UserTask:
    """What is done is no more, as in Camunda. Problem where there is none."""
    row = work.get_user_task(id_of(id, "Task"))
    if row is None or row.state not in work.OPEN_USER:
        raise Problem("not_found", f"No matching task with id {id[:80]}")
    return row
