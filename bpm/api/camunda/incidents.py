"""Incidents that are open."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from bpm.api.camunda import listing, told
from bpm.api.camunda.authentication import may
from bpm.api.camunda.given import id_of
from bpm.api.camunda.listing import Words
from bpm.api.problems import Problem
from bpm.queries import incidents

router = Router()

WORDS = Words(
    asks={
        "processInstanceId": listing.id("instance_id"),
        "activityId": listing.text("node"),
        "failedActivityId": listing.text("node"),
        "incidentMessage": listing.text("message"),
    },
    keeps={
        "incidentId": listing.same("id"),
        "incidentType": lambda row, value: told.incident_type(row) == value,
        "incidentMessageLike": listing.like("message"),
        "processDefinitionId": listing.same("definition_id"),
        "processDefinitionKeyIn": listing.one_of("definition_key"),
        "configuration": listing.same("task_id"),
    },
    sorts={
        "incidentId": lambda row: str(row.id),
        "incidentMessage": lambda row: row.message,
        "incidentTimestamp": lambda row: row.created_at,
        "incidentType": told.incident_type,
        "activityId": lambda row: row.node_id,
        "processInstanceId": lambda row: str(row.instance_id),
        "processDefinitionId": lambda row: str(row.definition_id),
    },
)


@router.get("", auth=may("view"))
def list_incidents(request: HttpRequest) -> Any:
    """Open incidents, the newest first."""
    return [told.incident(row) for row in listing.listed(request, incidents.list_incidents, WORDS)]


@router.get("/count", auth=may("view"))
def count_incidents(request: HttpRequest) -> Any:
    """How many there are."""
    return listing.counted(request, incidents.list_incidents, WORDS)


@router.get("/{id}", auth=may("view"))
def get_incident(request: HttpRequest, id: str) -> Any:
    """One that is open."""
    row = incidents.get_incident(id_of(id, "Incident"))
    if row is None or row.state != "OPEN":
        raise Problem("not_found", f"No matching incident with id {id[:80]}")
    return told.incident(row)
