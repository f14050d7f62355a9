"""What was: instances whether they have ended or not, as long as their rows of now are kept."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from bpm.api.camunda import listing, told
from bpm.api.camunda.authentication import may
from bpm.api.camunda.given import id_of
from bpm.api.camunda.instances import OPEN, WORDS, searched
from bpm.api.camunda.listing import Words
from bpm.api.problems import Problem
from bpm.queries import instances

router = Router()

PAST = Words(
    asks={
        "processDefinitionKey": WORDS.asks["processDefinitionKey"],
        "processDefinitionId": WORDS.asks["processDefinitionId"],
        "processInstanceBusinessKey": WORDS.asks["businessKey"],
        "superProcessInstanceId": WORDS.asks["superProcessInstance"],
        "variables": WORDS.asks["variables"],
        "finished": listing.when_true(states=("COMPLETED", "FAILED", "CANCELLED")),
        "unfinished": listing.when_true(states=OPEN),
        "active": listing.when_true(states=("RUNNING",)),
        "suspended": listing.when_true(states=("SUSPENDED",)),
        "completed": listing.when_true(states=("COMPLETED",)),
        "internallyTerminated": listing.when_true(states=("FAILED",)),
        "externallyTerminated": listing.when_true(states=("CANCELLED",)),
    },
    keeps={
        "processInstanceId": listing.same("id"),
        "processInstanceIds": listing.one_of("id"),
        "processInstanceBusinessKeyLike": listing.like("business_key"),
        "processDefinitionKeyIn": listing.one_of("definition_key"),
        "processDefinitionName": listing.same("definition_name"),
        "startedBy": listing.same("started_by"),
        "rootProcessInstances": WORDS.keeps["rootProcessInstances"],
    },
    sorts={
        "instanceId": lambda row: str(row.id),
        "definitionId": lambda row: str(row.definition_id),
        "definitionKey": lambda row: row.definition_key,
        "businessKey": lambda row: row.business_key or "",
        "startTime": lambda row: row.started_at,
        "endTime": lambda row: (row.ended_at is not None, row.ended_at or row.started_at),
    },
)


@router.api_operation(["GET", "POST"], "/process-instance", auth=may("view"))
def list_past(request: HttpRequest) -> Any:
    """Instances, the newest first."""
    return [told.past_instance(row) for row in listing.listed(request, searched, PAST, states=())]


@router.api_operation(["GET", "POST"], "/process-instance/count", auth=may("view"))
def count_past(request: HttpRequest) -> Any:
    """How many there are."""
    return listing.counted(request, searched, PAST, states=())


@router.get("/process-instance/{id}", auth=may("view"))
def get_past(request: HttpRequest, id: str) -> Any:
    """One instance."""
    row = instances.get_instance(id_of(id, "Historic process instance"))
    if row is None:
        raise Problem("not_found", f"Historic process instance with id {id[:80]} does not exist")
    return told.past_instance(row)
