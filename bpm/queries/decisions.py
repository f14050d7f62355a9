"""Deployed decisions: lists, one of them, and what evaluating one in an instance left in history."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from bpm.models import DecisionDefinition, StateCommand, WorkEvent
from bpm.queries import deployed
from bpm.queries.paging import Page, page
from bpm.queries.rows import Decision, DecisionEvaluation

COLUMNS = (*deployed.COLUMNS, "decisions_hash")
EVALUATED = "DECISION_EVALUATED"


def list_decisions(
    *,
    key: str | None = None,
    search: str | None = None,
    latest_only: bool = True,
    after: str | None = None,
    size: int | None = None,
) -> Page[Decision]:
    """Decisions by key, the newest version first. Raises BadCursor."""
    rows = deployed.narrowed(_versions(), key=key, search=search, latest_only=latest_only)
    return page(rows, deployed.ORDER, _shape, after=after, size=size)


def get_decision(id: UUID) -> Decision | None:
    """One version of a decision; None where there is none of that id."""
    row = _versions().filter(id=id).first()
    return None if row is None else _shape(row)


def versions_of(key: str, limit: int = 100) -> list[Decision]:
    """The versions of a key, the newest first."""
    return [_shape(row) for row in _versions().filter(key=key).order_by("-version")[:limit]]


def source_of(id: UUID) -> str | None:
    """The DMN XML as it was deployed; None where there is no such definition."""
    return deployed.source_of(DecisionDefinition, id)


def get_evaluation(id: UUID) -> DecisionEvaluation | None:
    """What history says of one evaluation in an instance, by the id of its event's entity; None where it says nothing
    (any more).
    """
    row = _exact(WorkEvent.objects.filter(entity_id=id, row_version=1, event_type=EVALUATED), "payload").first()
    if row is None:
        return None
    said = _loads(row.text)
    return DecisionEvaluation(
        id=id,
        definition_id=UUID(said["decision"]),
        key=said["key"],
        instance_id=row.instance_id,
        node_id=row.node_id,
        at=row.at,
        variable=said.get("variable"),
        result=_written(row, said["variable"]) if "variable" in said else said.get("result"),
        tables=tuple(said["tables"]),
        warnings=tuple(said.get("warnings", ())),
    )


def _written(row: Any, variable: str) -> Any:
    """The value that the evaluation's commit wrote after it: a variable's value stands in history once."""
    written = StateCommand.objects.filter(
        instance_id=row.instance_id,
        commit_sequence=row.commit_sequence,
        at=row.at,
        ordinal__gt=row.ordinal,
        name=variable,
    )
    found = _exact(written, "value").order_by("ordinal").first()
    return None if found is None or found.text is None else _loads(found.text)


def _exact(rows: QuerySet[Any], column: str) -> QuerySet[Any]:
    """With the JSON of a column as text, so that numbers stay exact."""
    return rows.defer(column).annotate(text=Cast(column, TextField()))


def _loads(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


def _versions() -> QuerySet[Any]:
    return deployed.versions(DecisionDefinition, COLUMNS)


def _shape(row: Any) -> Decision:
    return Decision(**deployed.fields_of(row, COLUMNS))
