"""Incidents: list, look at, retry."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router

from bpm.api.answers import caller_of, commit, key_of
from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.given import RetryIn
from bpm.api.schemas.told import CommitOut, IncidentOut, PageOut
from bpm.engine import operators
from bpm.queries import incidents

router = Router()


@router.get("", response=PageOut[IncidentOut], auth=may("view"))
def list_incidents(
    request: HttpRequest,
    process: str | None = None,
    instance_id: UUID | None = None,
    node: str | None = None,
    kind: str | None = None,
    state: Literal["OPEN", "RESOLVED"] = "OPEN",
    after: str | None = None,
    size: int = Query(50, ge=1, le=200),
) -> Any:
    """Incidents, the newest first."""
    return incidents.list_incidents(
        definition_key=process, instance_id=instance_id, node=node, kind=kind, state=state, after=after, size=size
    )


@router.get("/{id}", response=IncidentOut, auth=may("view"))
def get_incident(request: HttpRequest, id: UUID) -> Any:
    """One incident."""
    found = incidents.get_incident(id)
    if found is None:
        raise Problem("not_found", f"there is no incident {id}")
    return found


@router.post("/{id}/retry", response=CommitOut, auth=may("operate"))
def retry(request: HttpRequest, id: UUID, given: RetryIn) -> Any:
    """Let the work behind the incident be tried again."""
    record = operators.retry_incident(
        id, actor=caller_of(request).name, retries=given.retries, reason=given.reason, key=key_of(request)
    )
    return commit(record)
