"""Deploying BPMN and DMN files as a form, which is how Camunda takes them, and what was deployed when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router

from bpm.api.answers import caller_of, key_of
from bpm.api.camunda import listing, told
from bpm.api.camunda.authentication import may
from bpm.api.camunda.given import id_of
from bpm.api.camunda.listing import Words
from bpm.api.exact import check_size
from bpm.api.problems import Problem
from bpm.engine import Deployment, deploying
from bpm.queries import decisions, definitions
from bpm.queries.paging import Page
from bpm.queries.rows import Decision

router = Router()

NAME, SOURCE = "deployment-name", "deployment-source"
# What is unchanged keeps its version here in any case.
MEANINGLESS = frozenset({"enable-duplicate-filtering", "deploy-changed-only"})
UNSUPPORTED = frozenset({"deployment-activation-time", "tenant-id"})


@dataclass(frozen=True, slots=True)
class Made:
    """A deployment of which something is here."""

    id: UUID
    at: datetime


WORDS = Words(
    keeps={"id": listing.same("id")},
    sorts={"id": lambda row: str(row.id), "deploymentTime": lambda row: row.at},
)


@router.get("", auth=may("view"))
def list_deployments(request: HttpRequest) -> Any:
    """Deployments that made a version of something, the newest first."""
    return [_deployment(request, made) for made in listing.listed(request, _made, WORDS)]


@router.get("/count", auth=may("view"))
def count_deployments(request: HttpRequest) -> Any:
    """How many there are."""
    return listing.counted(request, _made, WORDS)


@router.post("/create", auth=may("operate"))
def create(request: HttpRequest) -> Any:
    """Deploy the files of a form together, or say everything that is wrong with them."""
    name, source, files = _form(request)
    made = deploying.deploy(files, name=name, actor=caller_of(request).name, key=key_of(request))
    processes = [found for one in made.definitions if (found := definitions.get_definition(one.id))]
    tables = [table for one in made.decisions if (table := decisions.get_decision(one.id))]
    new = _new_ids(made)
    # Where nothing is new, it is the deployment of what there was.
    known = next((row for row in (*processes, *tables) if made.id in (None, row.deployment_id)), None)
    id = made.id or (known and known.deployment_id)
    return {
        "links": told.links(request, "deployment", id),
        "id": id,
        "name": name or None,
        "source": source,
        "deploymentTime": known and told.date(known.created_at),
        "tenantId": None,
        "deployedProcessDefinitions": {str(row.id): told.definition(row) for row in processes if row.id in new} or None,
        "deployedCaseDefinitions": None,
        "deployedDecisionDefinitions": {str(row.id): _decision(row) for row in tables if row.id in new} or None,
        "deployedDecisionRequirementsDefinitions": None,
    }


@router.get("/{id}", auth=may("view"))
def get_deployment(request: HttpRequest, id: str) -> Any:
    """One deployment."""
    asked = id_of(id, "Deployment")
    found = next((made for made in _made().items if made.id == asked), None)
    if found is None:
        raise Problem("not_found", f"Deployment with id '{asked}' does not exist")
    return _deployment(request, found)


def _made(**page: Any) -> Page[Made]:
    """All of them at once: definitions are what names them."""
    rows = [
        *listing.walked(definitions.list_definitions, latest_only=False),
        *listing.walked(decisions.list_decisions, latest_only=False),
    ]
    made = {row.deployment_id: Made(row.deployment_id, row.created_at) for row in rows}
    return Page(tuple(sorted(made.values(), key=lambda one: (one.at, one.id), reverse=True)))


def _deployment(request: HttpRequest, made: Made) -> dict[str, Any]:
    return {
        "links": told.links(request, "deployment", made.id),
        "id": made.id,
        "name": None,
        "source": None,
        "deploymentTime": told.date(made.at),
        "tenantId": None,
    }


def _form(request: HttpRequest) -> tuple[str, str | None, dict[str, bytes]]:
    """The deployment's name, its source, and its files by name. Raises Problem."""
    check_size(request)
    if request.content_type != "multipart/form-data":
        raise Problem("bad_request", "a deployment is sent as multipart/form-data")
    for part, value in request.POST.items():
        if part in UNSUPPORTED and value:
            raise Problem("not_supported", f"{part} is not supported here")
        if part not in {NAME, SOURCE} | MEANINGLESS | UNSUPPORTED:
            raise Problem(
                "invalid", f"No file name found in the deployment resource described by form parameter '{part}'."
            )
    files: dict[str, bytes] = {}
    for part in request.FILES:
        for file in request.FILES.getlist(part):
            if (name := file.name or "") in files:
                raise Problem("invalid", f"there are two files {name}")
            files[name] = file.read()
    if not files:
        raise Problem("invalid", "No deployment resources contained in the form upload.")
    return request.POST.get(NAME, ""), request.POST.get(SOURCE), files


def _new_ids(made: Deployment) -> set[UUID]:
    return {one.id for one in (*made.definitions, *made.decisions) if one.new}


def _decision(row: Decision) -> dict[str, Any]:
    return {
        "id": row.id,
        "key": row.key,
        "category": None,
        "name": row.name or None,
        "version": row.version,
        "resource": row.resource,
        "deploymentId": row.deployment_id,
        "decisionRequirementsDefinitionId": None,
        "decisionRequirementsDefinitionKey": None,
        "historyTimeToLive": None,
        "tenantId": None,
        "versionTag": row.version_tag,
    }
