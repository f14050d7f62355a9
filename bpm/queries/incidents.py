"""Incidents: what stopped and waits for an operator."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from bpm.models import Incident
from bpm.queries import rows
from bpm.queries.nodes import name_of
from bpm.queries.paging import Count, Page, page
from bpm.queries.replica import reading

# A group is found among this many of the newest open incidents. OFFSET keeps the planner from reading all instances.
GROUPED = 2_000
GROUPS = """
    WITH newest AS MATERIALIZED (
        SELECT instance_id, node_id, message, created_at FROM incidents WHERE state = 'OPEN'
        ORDER BY created_at DESC LIMIT %(read)s + 1
    )
    SELECT i.definition_key, i.process_def_id, d.name, n.node_id, n.message, count(*) AS number, min(n.created_at),
        (SELECT count(*) FROM newest)
    FROM (SELECT * FROM newest LIMIT %(read)s) n
    CROSS JOIN LATERAL (
        SELECT definition_key, process_def_id FROM process_instances i WHERE i.id = n.instance_id OFFSET 0
    ) i
    JOIN process_definitions d ON d.id = i.process_def_id
    GROUP BY i.definition_key, i.process_def_id, d.name, n.node_id, n.message
    ORDER BY number DESC, n.node_id, n.message LIMIT %(limit)s
"""


def incidents() -> QuerySet[Incident]:
    """Incidents with what `shape` asks of their instance and task."""
    return Incident.objects.select_related("instance", "instance__definition", "task").defer(
        "instance__definition__graph", "instance__definition__source"
    )


def list_incidents(
    *,
    definition_key: str | None = None,
    instance_id: UUID | None = None,
    node: str | None = None,
    kind: str | None = None,
    message: str | None = None,
    state: str = "OPEN",
    after: str | None = None,
    size: int | None = None,
) -> Page[rows.Incident]:
    """Incidents, the newest first. None is any; `message` is exact, that of a group. Raises BadCursor."""
    found = _filtered(definition_key=definition_key, instance_id=instance_id, node=node, kind=kind, message=message)
    return page(found.filter(state=state), ("-created_at", "id"), shape, after=after, size=size)


def open_ids(limit: int, **filters: Any) -> list[UUID]:
    """The ids of at most `limit` open incidents under the filters of `list_incidents`, the oldest first: of now,
    whatever a replica knows, since who asks does something with each.
    """
    found = _filtered(**filters).using(DEFAULT_DB_ALIAS).filter(state="OPEN").order_by("created_at", "id")
    return list(found.values_list("id", flat=True)[:limit])


def get_incident(id: UUID) -> rows.Incident | None:
    """One incident; None where there is none."""
    row = incidents().filter(id=id).first()
    return None if row is None else shape(row)


def grouped(limit: int = 8) -> list[dict[str, Any]]:
    """Open incidents by process, node and message, the most frequent first: what to repair first.

    Out: definition_key, definition_name, node_id, node_name, message, number (a Count), since.
    """
    with reading() as cursor:
        cursor.execute(GROUPS, {"read": GROUPED, "limit": limit})
        return [
            {
                "definition_key": key,
                "definition_name": name or key,
                "node_id": node,
                "node_name": name_of(definition, node),
                "message": message,
                "number": Count(number, read > GROUPED),
                "since": since,
            }
            for key, definition, name, node, message, number, since, read in cursor.fetchall()
        ]


def shape(row: Incident) -> rows.Incident:
    """The row as frozen data."""
    instance = row.instance
    return rows.Incident(
        id=row.id,
        instance_id=row.instance_id,
        definition_id=instance.definition_id,
        definition_key=instance.definition_key,
        definition_name=instance.definition.name or instance.definition_key,
        business_key=instance.business_key,
        node_id=row.node_id,
        node_name=name_of(instance.definition_id, row.node_id),
        kind=row.kind,
        message=row.message,
        state=row.state,
        created_at=row.created_at,
        task_id=row.task_id,
        topic=row.task.topic if row.task_id and row.task else None,
        version=row.version,
    )


def _filtered(
    *,
    definition_key: str | None = None,
    instance_id: UUID | None = None,
    node: str | None = None,
    kind: str | None = None,
    message: str | None = None,
) -> QuerySet[Incident]:
    exact: dict[str, Any] = {
        "instance__definition_key": definition_key,
        "instance_id": instance_id,
        "node_id": node,
        "kind": kind,
        "message": message,
    }
    return incidents().filter(**{name: value for name, value in exact.items() if value is not None})
