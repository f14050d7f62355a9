"""Process definitions: list, look at, start, suspend; each by its id or as the latest of its key."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from bpm.api.answers import caller_of, key_of
from bpm.api.camunda import listing, told
from bpm.api.camunda.authentication import may
from bpm.api.camunda.given import StartIn, SuspendedIn, id_of
from bpm.api.camunda.listing import Words
from bpm.api.problems import Problem
from bpm.engine import starting, suspending
from bpm.queries import definitions, instances
from bpm.queries.rows import Definition
from bpm.queries.variables import variables_in

router = Router()

LISTED_VARIABLES = 10_000
WORDS = Words(
    asks={
        "key": listing.text("key"),
        "latestVersion": listing.when_true(latest_only=True),
    },
    keeps={
        "processDefinitionId": listing.same("id"),
        "processDefinitionIdIn": listing.one_of("id"),
        "deploymentId": listing.same("deployment_id"),
        "keysIn": listing.one_of("key"),
        "keyLike": listing.like("key"),
        "name": listing.same("name"),
        "nameLike": listing.like("name"),
        "version": listing.same("version"),
        "versionTag": listing.same("version_tag"),
        "versionTagLike": listing.like("version_tag"),
        "withoutVersionTag": listing.holds(lambda row: row.version_tag is None),
        "resourceName": listing.same("resource"),
        "resourceNameLike": listing.like("resource"),
        "suspended": listing.holds(lambda row: row.suspended),
        "active": listing.holds(lambda row: not row.suspended),
    },
    sorts={
        "id": lambda row: str(row.id),
        "key": lambda row: row.key,
        "name": lambda row: row.name,
        "version": lambda row: row.version,
        "versionTag": lambda row: row.version_tag or "",
        "deploymentId": lambda row: str(row.deployment_id),
        "deployTime": lambda row: row.created_at,
    },
)


@router.get("", auth=may("view"))
def list_definitions(request: HttpRequest) -> Any:
    """Versions of processes, by key, the newest first."""
    return [
        told.definition(row) for row in listing.listed(request, definitions.list_definitions, WORDS, latest_only=False)
    ]


@router.get("/count", auth=may("view"))
def count_definitions(request: HttpRequest) -> Any:
    """How many there are."""
    return listing.counted(request, definitions.list_definitions, WORDS, latest_only=False)


@router.get("/key/{key}", auth=may("view"))
def get_latest(request: HttpRequest, key: str) -> Any:
    """The latest version of a key."""
    return told.definition(_latest(key))


@router.get("/key/{key}/xml", auth=may("view"))
def get_latest_xml(request: HttpRequest, key: str) -> Any:
    """Its BPMN XML."""
    return _xml(_latest(key))


@router.post("/key/{key}/start", auth=may("operate"))
def start_latest(request: HttpRequest, key: str, given: StartIn) -> Any:
    """Start an instance of it."""
    return _started(request, _latest(key), given)


@router.put("/key/{key}/suspended", response={204: None}, auth=may("operate"))
def suspend_latest(request: HttpRequest, key: str, given: SuspendedIn) -> Any:
    """Let nothing begin of it, or let it begin again."""
    return _suspended(request, _latest(key), given.suspended)


@router.get("/{id}", auth=may("view"))
def get_definition(request: HttpRequest, id: str) -> Any:
    """One version."""
    return told.definition(_found(id))


@router.get("/{id}/xml", auth=may("view"))
def get_xml(request: HttpRequest, id: str) -> Any:
    """Its BPMN XML as it was deployed."""
    return _xml(_found(id))


@router.post("/{id}/start", auth=may("operate"))
def start(request: HttpRequest, id: str, given: StartIn) -> Any:
    """Start an instance of it."""
    return _started(request, _found(id), given)


@router.put("/{id}/suspended", response={204: None}, auth=may("operate"))
def suspend(request: HttpRequest, id: str, given: SuspendedIn) -> Any:
    """Let nothing begin of it, or let it begin again."""
    return _suspended(request, _found(id), given.suspended)


def variables_of(instance: UUID) -> dict[str, Any]:
    """The variables of the process as typed values."""
    found = variables_in(instance, [0], limit=LISTED_VARIABLES)
    return told.variables({variable.name: variable.value for variable in found})


def _started(request: HttpRequest, definition: Definition, given: StartIn) -> Any:
    record = starting.start(
        definition.id,
        given.variables,
        actor=caller_of(request).name,
        business_key=given.business_key,
        key=key_of(request),
    )
    id = record.thread_id
    now = instances.get_instance(id)
    answer = {
        "links": told.links(request, "process-instance", id),
        "id": id,
        "definitionId": definition.id,
        "definitionKey": definition.key,
        "businessKey": given.business_key,
        "caseInstanceId": None,
        # What can be done at once is done by now.
        "ended": now is not None and not now.is_open,
        "suspended": False,
        "tenantId": None,
    }
    return answer | ({"variables": variables_of(id)} if given.with_variables_in_return else {})


def _suspended(request: HttpRequest, definition: Definition, suspended: bool) -> Any:
    """Nothing is changed, and nothing refused, where it is so already."""
    if definition.suspended != suspended:
        change = suspending.suspend_definition if suspended else suspending.resume_definition
        change(definition.id, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


def _xml(definition: Definition) -> dict[str, Any]:
    return {"id": definition.id, "bpmn20Xml": definitions.source_of(definition.id)}


def _latest(key: str) -> Definition:
    found = definitions.find_definition(key)
    if found is None:
        raise Problem("not_found", f"No matching process definition with key: {key[:255]} and no tenant-id")
    return found


def _found(id: str) -> Definition:
    found = definitions.get_definition(id_of(id, "Process definition"))
    if found is None:
        raise Problem("not_found", f"No matching definition with id {id}")
    return found
