"""Deployed decisions: look at them, and evaluate them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from bpm.api.answers import model_file
from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.given import EvaluateIn
from bpm.api.schemas.told import DecisionOut, EvaluatedOut, PageOut
from bpm.engine.decisions import evaluate_decision
from bpm.queries import decisions

router = Router()


@router.get("", response=PageOut[DecisionOut], auth=may("view"))
def list_decisions(
    request: HttpRequest,
    key: str | None = None,
    search: str | None = None,
    latest: bool = True,
    after: str | None = None,
    size: int = Query(50, ge=1, le=200),
) -> Any:
    """Deployed decisions by key, the newest version first; `latest=false` lists all versions."""
    return decisions.list_decisions(key=key, search=search, latest_only=latest, after=after, size=size)


@router.get("/{id}", response=DecisionOut, auth=may("view"))
def get_decision(request: HttpRequest, id: UUID) -> Any:
    """One version of a decision."""
    found = decisions.get_decision(id)
    if found is None:
        raise Problem("not_found", f"there is no decision definition {id}")
    return found


@router.get("/{id}/xml", auth=may("view"))
def get_xml(request: HttpRequest, id: UUID) -> HttpResponse:
    """The DMN XML as it was deployed."""
    return model_file(decisions.source_of(id), f"{id}.dmn")


@router.post("/{key}/evaluate", response=EvaluatedOut, auth=may("view"))
def evaluate(request: HttpRequest, key: str, given: EvaluateIn) -> Any:
    """Evaluate a decision, by its key or the id of a definition, with these variables: the result, and which rules of
    which tables matched on which inputs. Nothing is recorded.
    """
    found = evaluate_decision(key, given.variables, version=given.version, version_tag=given.version_tag)
    return found.as_json()
