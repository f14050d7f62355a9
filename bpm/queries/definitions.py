"""Deployed models: lists with what runs of each, and one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from bpm.models import DefinitionState, ProcessDefinition
from bpm.queries import deployed
from bpm.queries.paging import Count, Page, page
from bpm.queries.rows import Definition

COLUMNS = (*deployed.COLUMNS, "graph_hash")
COUNTED = 1000
# What runs of each definition, no figure counted further than asked: one statement for a whole page.
FIGURES = """
    SELECT d.id, s.figure, (
        SELECT count(*) FROM (
            SELECT FROM process_instances i WHERE i.process_def_id = d.id AND i.state = s.state LIMIT %(limit)s
        ) counted
    )
    FROM unnest(%(ids)s::uuid[]) d(id)
    CROSS JOIN (VALUES ('running', 'RUNNING'), ('held', 'SUSPENDED'), ('failed', 'FAILED')) s(figure, state)
    UNION ALL
    SELECT d.id, 'incidents', (
        SELECT count(*) FROM (
            SELECT FROM incidents n JOIN process_instances i ON i.id = n.instance_id
            WHERE n.state = 'OPEN' AND i.process_def_id = d.id LIMIT %(limit)s
        ) counted
    )
    FROM unnest(%(ids)s::uuid[]) d(id)
"""


def list_definitions(
    *,
    key: str | None = None,
    search: str | None = None,
    latest_only: bool = True,
    counts: bool = False,
    after: str | None = None,
    size: int | None = None,
) -> Page[Definition]:
    """Definitions by key, the newest version first. `counts`: with what runs of each. Raises BadCursor."""
    rows = deployed.narrowed(_versions(), key=key, search=search, latest_only=latest_only)
    found = page(rows, deployed.ORDER, _shape, after=after, size=size)
    return Page(_counted(found.items), found.after) if counts else found


def get_definition(id: UUID, *, counts: bool = False) -> Definition | None:
    """One definition; None where there is none of that id."""
    row = _versions().filter(id=id).first()
    if row is None:
        return None
    return _counted((_shape(row),))[0] if counts else _shape(row)


def find_definition(key: str, version: int | None = None) -> Definition | None:
    """A version of a key, the latest where none is named; None where there is none."""
    rows = _versions().filter(key=key)
    row = (rows.filter(version=version) if version is not None else rows.order_by("-version")).first()
    return None if row is None else _shape(row)


def source_of(id: UUID) -> str | None:
    """The BPMN XML as it was deployed; None where there is no such definition."""
    return deployed.source_of(ProcessDefinition, id)


def versions_of(key: str, limit: int = 100) -> list[Definition]:
    """The versions of a key, the newest first."""
    rows = _versions().filter(key=key).order_by("-version")[:limit]
    return [_shape(row) for row in rows]


def keys_with_names(limit: int = 500) -> list[tuple[str, str]]:
    """(key, title) of the latest versions, for a filter's choices."""
    rows = deployed.versions(ProcessDefinition, ("key", "name", "version")).filter(has_newer=False)
    return [(row.key, row.name or row.key) for row in rows.order_by("key")[:limit]]


def _versions() -> QuerySet[Any]:
    suspended = DefinitionState.objects.filter(process_def_id=OuterRef("id"), state="SUSPENDED")
    return deployed.versions(ProcessDefinition, COLUMNS).annotate(suspended=Exists(suspended))


def _shape(row: Any) -> Definition:
    return Definition(**deployed.fields_of(row, COLUMNS), suspended=row.suspended)


def _counted(found: Sequence[Definition]) -> tuple[Definition, ...]:
    """The definitions with what runs of each."""
    figures: dict[UUID, dict[str, Any]] = {one.id: {} for one in found}
    with connection.cursor() as cursor:
        cursor.execute(FIGURES, {"ids": list(figures), "limit": COUNTED + 1})
        for id, figure, number in cursor.fetchall():
            figures[id][figure] = Count(min(number, COUNTED), number > COUNTED)
    return tuple(replace(one, **figures[one.id]) for one in found)
