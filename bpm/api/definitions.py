"""Deploying models, and looking at what is deployed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status

from bpm.api.answers import caller_of, key_of, model_file
from bpm.api.authentication import may
from bpm.api.exact import ExactParser, check_size
from bpm.api.problems import Problem
from bpm.api.schemas.given import MigrateAllIn, MigrateIn, ReasonIn
from bpm.api.schemas.told import DefinitionOut, DeploymentOut, MigratedOut, PageOut, VersionPlanOut
from bpm.engine import batches, deploying, suspending
from bpm.queries import definitions, instances

router = Router()

DEPLOY_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                    },
                    "required": ["files"],
                }
            },
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "files": {
                            "type": "object",
                            "additionalProperties": {"type": "string"},
                            "description": "file name -> BPMN or DMN XML",
                        },
                    },
                    "required": ["files"],
                }
            },
        },
    }
}


@router.post("/deployments", response={201: DeploymentOut}, auth=may("operate"), openapi_extra=DEPLOY_BODY)
def deploy(request: HttpRequest) -> Any:
    """Deploy BPMN and DMN files together, as a form or as JSON. If one cannot be run, every problem is said at once."""
    name, files, ignore = _files_in(request)
    made = deploying.deploy(files, name=name, ignore=ignore, actor=caller_of(request).name, key=key_of(request))
    return Status(201, made)


@router.get("/definitions", response=PageOut[DefinitionOut], auth=may("view"))
def list_definitions(
    request: HttpRequest,
    key: str | None = None,
    search: str | None = None,
    latest: bool = True,
    after: str | None = None,
    size: int = Query(50, ge=1, le=200),
) -> Any:
    """Deployed processes by key, the newest version first; `latest=false` lists all versions."""
    return definitions.list_definitions(key=key, search=search, latest_only=latest, after=after, size=size)


@router.get("/definitions/{id}", response=DefinitionOut, auth=may("view"))
def get_definition(request: HttpRequest, id: UUID) -> Any:
    """One version of a process."""
    found = definitions.get_definition(id)
    if found is None:
        raise Problem("not_found", f"there is no process definition {id}")
    return found


@router.get("/definitions/{id}/xml", auth=may("view"))
def get_xml(request: HttpRequest, id: UUID) -> HttpResponse:
    """The BPMN XML as it was deployed."""
    return model_file(definitions.source_of(id), f"{id}.bpmn")


@router.post("/definitions/{id}/suspend", response={204: None}, auth=may("operate"))
def suspend(request: HttpRequest, id: UUID, given: ReasonIn) -> Any:
    """Let nothing begin of this version until it is resumed; its instances go on."""
    suspending.suspend_definition(id, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    return Status(204, None)


@router.post("/definitions/{id}/resume", response={204: None}, auth=may("operate"))
def resume(request: HttpRequest, id: UUID, given: ReasonIn) -> Any:
    """Let it begin again."""
    suspending.resume_definition(id, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    return Status(204, None)


@router.post("/definitions/{id}/migration-plan", response=VersionPlanOut, auth=may("view"))
def plan_migration(request: HttpRequest, id: UUID, given: MigrateIn) -> Any:
    """What fits between this version and another one of its key, and what does not; nothing changes."""
    plan = batches.plan_versions(id, version=given.version, nodes=given.nodes)
    suggested = batches.suggested_nodes(id, version=given.version)
    return {"old": plan.old, "new": plan.new, "nodes": plan.nodes, "problems": plan.problems, "suggested": suggested}


@router.post("/definitions/{id}/migrate", response=MigratedOut, auth=may("operate"))
def migrate(request: HttpRequest, id: UUID, given: MigrateAllIn) -> Any:
    """Let the open instances of this version go on with another one, each in a step of its own. One request looks at
    `limit` of them; ask again with `after` until it is null.
    """
    plan = batches.plan_versions(id, version=given.version)
    if plan.old == plan.new:
        raise Problem("invalid", "that is the version itself")
    ids = instances.open_ids(id, after=given.after, limit=given.limit)
    said = given.model_dump(exclude={"after", "limit"})
    came = batches.migrate_each(ids, actor=caller_of(request).name, **said)
    return {"done": came.done, "refused": came.refused, "after": ids[-1] if len(ids) == given.limit else None}


def _files_in(request: HttpRequest) -> tuple[str, dict[str, bytes], list[str]]:
    """The deployment's name, its files, and the findings that are accepted. Raises Problem."""
    check_size(request)
    if request.content_type == "multipart/form-data":
        sent = [file for name in request.FILES for file in request.FILES.getlist(name)]
        read = {file.name or "model.bpmn": file.read() for file in sent}
        return str(request.POST.get("name", "")), read, request.POST.getlist("ignore")
    body = ExactParser().parse_body(request)
    files = body.get("files") if isinstance(body, dict) else None
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise Problem("invalid", "files must be an object: file name -> BPMN or DMN XML")
    name = body.get("name", "")
    if not isinstance(name, str):
        raise Problem("invalid", "name must be a text")
    ignore = body.get("ignore", [])
    if not isinstance(ignore, list) or not all(isinstance(code, str) for code in ignore):
        raise Problem("invalid", "ignore must be a list of texts")
    try:
        return name, {file: text.encode() for file, text in files.items()}, ignore
    except UnicodeEncodeError:
        raise Problem("invalid", "files must be Unicode texts, and one holds half of a surrogate pair") from None
