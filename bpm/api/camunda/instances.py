"""Process instances that have not ended: list, look at, end, suspend."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from bpm.api.answers import caller_of, key_of
from bpm.api.camunda import listing, told
from bpm.api.camunda.authentication import may
from bpm.api.camunda.given import SuspendedIn, id_of
from bpm.api.camunda.listing import Words
from bpm.api.problems import Problem
from bpm.engine import operators
from bpm.queries import instances
from bpm.queries.limits import SEARCHED, at_most
from bpm.queries.paging import Page
from bpm.queries.rows import Instance
from bpm.queries.variables import Condition

router = Router()

OPEN = ("RUNNING", "SUSPENDED")
COMPARED = ("eq", "neq", "gt", "gteq", "lt", "lteq", "like")
FLAGS = ("skipCustomListeners", "skipIoMappings", "skipSubprocesses")


def conditions(said: Any) -> Mapping[str, Any]:
    """Conditions on variables: of an address `name_operator_value`, with commas, each value a text as Camunda has it;
    of a body objects of name, operator and value. Raises Problem.
    """
    asked = [_condition(one.split("_")) for one in said.split(",")] if isinstance(said, str) else None
    if asked is None and isinstance(said, list):
        asked = [_condition([one.get(name) for name in ("name", "operator", "value")])
                 for one in said if isinstance(one, dict)]  # fmt: skip
    if not asked or (isinstance(said, list) and len(asked) < len(said)):
        raise Problem("invalid", "variables are name_operator_value, or objects of name, operator and value")
    return {"variables": tuple(asked)}


WORDS = Words(
    asks={
        "processDefinitionKey": listing.text("definition_key"),
        "processDefinitionId": listing.id("definition_id"),
        "businessKey": listing.text("business_key"),
        "superProcessInstance": listing.id("parent"),
        "withIncident": listing.when_true(with_incident=True),
        "active": listing.when_true(states=("RUNNING",)),
        "suspended": listing.when_true(states=("SUSPENDED",)),
        "variables": conditions,
    },
    keeps={
        "processInstanceIds": listing.one_of("id"),
        "processDefinitionKeyIn": listing.one_of("definition_key"),
        "processDefinitionKeyNotIn": lambda row, value: row.definition_key not in value.split(","),
        "businessKeyLike": listing.like("business_key"),
        "activityIdIn": lambda row, value: any(place.node_id in value.split(",") for place in row.places),
        "rootProcessInstances": listing.holds(lambda row: row.parent_instance_id is None),
    },
    sorts={
        "instanceId": lambda row: str(row.id),
        "definitionKey": lambda row: row.definition_key,
        "definitionId": lambda row: str(row.definition_id),
        "businessKey": lambda row: row.business_key or "",
    },
)


@router.api_operation(["GET", "POST"], "", auth=may("view"))
def list_instances(request: HttpRequest) -> Any:
    """Instances that have not ended, the newest first."""
    return [told.instance(request, row) for row in listing.listed(request, searched, WORDS)]


@router.api_operation(["GET", "POST"], "/count", auth=may("view"))
def count_instances(request: HttpRequest) -> Any:
    """How many there are."""
    return listing.counted(request, searched, WORDS)


@router.get("/{id}", auth=may("view"))
def get_instance(request: HttpRequest, id: str) -> Any:
    """One instance that has not ended."""
    return told.instance(request, open_instance(id))


@router.delete("/{id}", response={204: None}, auth=may("operate"))
def delete_instance(request: HttpRequest, id: str) -> Any:
    """End the instance and all that is open in it; its history stays."""
    if asked := [name for name in FLAGS if request.GET.get(name) == "true"]:
        raise Problem("not_supported", f"{', '.join(asked)} is not supported here")
    try:
        open_instance(id)
    except Problem:
        if request.GET.get("failIfNotExists") == "false":
            return Status(204, None)
        raise
    operators.cancel_instance(id, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


@router.put("/{id}/suspended", response={204: None}, auth=may("operate"))
def suspend(request: HttpRequest, id: str, given: SuspendedIn) -> Any:
    """Stop the instance, or let it go on; nothing is refused where it is so already."""
    if (open_instance(id).state == "SUSPENDED") != given.suspended:
        change = operators.suspend_instance if given.suspended else operators.resume_instance
        change(id, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


def searched(**asked: Any) -> Page[Instance]:
    """A page of those that have not ended; a search by variables may not take long."""
    with at_most(SEARCHED) if asked.get("variables") else nullcontext():
        return instances.list_instances(**{"states": OPEN, **asked})


def open_instance(id: str) -> Instance:
    """Problem where there is none, or where it has ended: then it is history, as in Camunda."""
    row = instances.get_instance(id_of(id, "Process instance"))
    if row is None or not row.is_open:
        raise Problem("not_found", f"Process instance with id {id[:80]} does not exist")
    return row


def _condition(said: list[Any]) -> Condition:
    if len(said) != 3 or not isinstance(said[0], str) or said[1] not in COMPARED:
        raise Problem("not_supported", f"a condition is a variable's name, one of {', '.join(COMPARED)}, and a value")
    return Condition(said[0], said[1], said[2])
