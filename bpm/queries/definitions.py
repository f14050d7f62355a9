"""Deployed models: lists with what runs of each, and one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from bpm.models import DefinitionState, ProcessDefinition
from bpm.queries import deployed
from bpm.queries.paging import Count, Page, page
from bpm.queries.replica import reading
from bpm.queries.rows import Definition

COLUMNS = (*deployed.COLUMNS, "graph_hash")
COUNTED = 1000
# Incidents and failed instances are counted among this many of the newest, whatever they are of.
READ = 2_000
# What runs of each definition, and of the other versions of its key, so that nobody takes the figures of one for those
# of all; no figure is counted further than asked: one statement for a whole page. OFFSET and the inner LIMIT keep the
# planner from reading all instances where those of some incidents or of some versions are wanted.
FIGURES = """
    WITH stopped AS MATERIALIZED (
        SELECT instance_id FROM incidents WHERE state = 'OPEN' ORDER BY created_at DESC LIMIT %(read)s + 1
    ), failed AS MATERIALIZED (
        SELECT process_def_id FROM process_instances WHERE state = 'FAILED' ORDER BY started_at DESC LIMIT %(read)s + 1
    )
    SELECT d.id, s.figure, (
        SELECT count(*) FROM (
            SELECT FROM process_instances i
            WHERE i.process_def_id = d.id AND i.state = s.state AND i.ended_at IS NULL LIMIT %(limit)s + 1
        ) counted
    )
    FROM unnest(%(ids)s::uuid[]) d(id)
    CROSS JOIN (VALUES ('running', 'RUNNING'), ('held', 'SUSPENDED')) s(figure, state)
    UNION ALL
    SELECT i.process_def_id, 'incidents', count(*) FROM stopped s CROSS JOIN LATERAL (
        SELECT process_def_id FROM process_instances i WHERE i.id = s.instance_id OFFSET 0
    ) i
    WHERE i.process_def_id = ANY(%(ids)s::uuid[]) GROUP BY i.process_def_id
    UNION ALL
    SELECT process_def_id, 'failed', count(*) FROM failed WHERE process_def_id = ANY(%(ids)s::uuid[])
    GROUP BY process_def_id
    UNION ALL
    SELECT NULL, 'incidents', count(*) FROM stopped
    UNION ALL
    SELECT NULL, 'failed', count(*) FROM failed
    UNION ALL
    SELECT d.id, 'others', (
        SELECT count(*) FROM (
            SELECT FROM process_definitions o CROSS JOIN LATERAL (
                SELECT FROM process_instances i WHERE i.process_def_id = o.id AND i.ended_at IS NULL LIMIT %(limit)s + 1
            ) i
            WHERE o.key = d.key AND o.id <> d.id LIMIT %(limit)s + 1
        ) counted
    )
    FROM unnest(%(ids)s::uuid[], %(keys)s::text[]) d(id, key)
    UNION ALL
    SELECT d.id, 'others_incidents', count(*) FROM stopped s CROSS JOIN LATERAL (
        SELECT definition_key, process_def_id FROM process_instances i WHERE i.id = s.instance_id OFFSET 0
    ) i
    JOIN unnest(%(ids)s::uuid[], %(keys)s::text[]) d(id, key) ON d.key = i.definition_key AND d.id <> i.process_def_id
    GROUP BY d.id
"""
# Of definitions that have none among those newest: the first of their open instances with whether any has an incident,
# and the newest of their key with whether any of theirs has failed. BETWEEN, the whole order and OFFSET keep the
# planner to the indexes.
ASKED = 500
ANY = """
    SELECT d.id, 'incidents', count(i.id), bool_or(EXISTS (
        SELECT FROM incidents o WHERE o.instance_id = i.id AND o.state = 'OPEN' OFFSET 0
    ))
    FROM unnest(%(incidents)s::uuid[]) d(id) LEFT JOIN LATERAL (
        SELECT p.id FROM process_instances p
        WHERE p.process_def_id BETWEEN d.id AND d.id AND p.ended_at IS NULL
        ORDER BY p.process_def_id, p.state, p.started_at DESC LIMIT %(asked)s + 1
    ) i ON true
    GROUP BY d.id
    UNION ALL
    SELECT d.id, 'failed', count(i.state), bool_or(i.process_def_id = d.id AND i.state = 'FAILED')
    FROM unnest(%(failed)s::uuid[]) WITH ORDINALITY d(id, place) LEFT JOIN LATERAL (
        SELECT p.state, p.process_def_id FROM process_instances p
        WHERE p.definition_key = (%(keys)s::text[])[d.place]
        ORDER BY p.started_at DESC LIMIT %(asked)s + 1
    ) i ON true
    GROUP BY d.id
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
    with reading() as cursor:
        asked: dict[str, Any] = {
            "ids": [one.id for one in found],
            "keys": [one.key for one in found],
            "limit": COUNTED,
            "read": READ,
        }
        cursor.execute(FIGURES, asked)
        numbers = {(id, figure): number for id, figure, number in cursor.fetchall()}
        # Where there are more than were read, some of a definition may be among the others.
        unread = {name for name in ("incidents", "failed") if numbers[None, name] > READ}
        absent = {
            name: [one for one in found if name in unread and (one.id, name) not in numbers]
            for name in ("incidents", "failed")
        }
        others: dict[tuple[UUID, str], Count | None] = {}
        if any(absent.values()):
            ids = {name: [one.id for one in those] for name, those in absent.items()}
            cursor.execute(ANY, {**ids, "keys": [one.key for one in absent["failed"]], "asked": ASKED})
            for id, name, looked_at, some in cursor.fetchall():
                others[id, name] = Count(1, more=True) if some else None if looked_at > ASKED else Count(0)

    def figure(id: UUID, name: str) -> Any:
        if (id, name) in others:
            return others[id, name]
        number = numbers.get((id, name), 0)
        return Count(min(number, COUNTED), number > COUNTED or name in unread)

    names = ("running", "held", "incidents", "failed", "others", "others_incidents")
    return tuple(replace(one, **{name: figure(one.id, name) for name in names}) for one in found)
