"""Instances: lists, one of them, and what an open one waits for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from bpm.models import Incident, ProcessInstance, ThreadVersion, Timer, Token, WaitTicket
from bpm.queries import incidents as incident_rows
from bpm.queries import rows, work
from bpm.queries.diagram import OPEN_TOKEN, standing_tokens
from bpm.queries.integrity import LATELY, VIOLATION
from bpm.queries.nodes import name_of
from bpm.queries.paging import Page, page, tag_of
from bpm.queries.replica import reading
from bpm.queries.variables import Condition, narrowed, variables_in

LISTED = 100  # of each kind of open work
LISTED_VARIABLES = 500
LISTED_CALLED = 50
# Whatever changes an instance raises its version, except for locks of its tasks; what it calls has versions of its
# own, and a broken rule is noted outside instances (counted, too: one may be committed after a later one).
STATE = """
    SELECT i.version, v.version,
        (SELECT sum(version) FROM external_tasks t
         WHERE t.instance_id = i.id AND t.state IN ('READY', 'LOCKED', 'FAILED')),
        (SELECT string_agg(called.id::text || ':' || called.version, ' ') FROM (
            SELECT c.id, c.version FROM process_instances c WHERE c.parent_instance_id = i.id
            ORDER BY c.started_at DESC, c.id LIMIT %(called)s
        ) called),
        (SELECT count(*) || ' ' || max(at) FROM engine_events
         WHERE instance_id IS NULL AND event_type = %(violation)s AND at > %(since)s)
    FROM process_instances i LEFT JOIN runtime_thread_version v ON v.thread_id = i.id WHERE i.id = %(id)s
"""


def list_instances(
    *,
    definition_key: str | None = None,
    definition_id: UUID | None = None,
    states: Iterable[str] = (),
    business_key: str | None = None,
    search: str | None = None,
    node: str | None = None,
    with_incident: bool | None = None,
    parent: UUID | None = None,
    started_after: datetime | None = None,
    started_before: datetime | None = None,
    variables: Iterable[Condition] = (),
    after: str | None = None,
    size: int | None = None,
    known: str | None = None,
) -> Page[rows.Instance]:
    """Instances, the newest first. `search` is the beginning of a business key, or an id; of `variables` all must hold.
    Where the page is still the one whose tag is `known`, it comes without its items. Raises BadCursor, BadFilter.
    """
    found = _instances()
    exact: dict[str, Any] = {
        "definition_key": definition_key,
        "definition_id": definition_id,
        "business_key": business_key,
        "parent_instance_id": parent,
        "started_at__gte": started_after,
        "started_at__lt": started_before,
    }
    found = found.filter(**{name: value for name, value in exact.items() if value is not None})
    if states := list(states):
        found = found.filter(state__in=states)
    if search:
        found = found.filter(_named(search.strip()))
    if node is not None:
        found = found.filter(Exists(Token.objects.filter(instance=OuterRef("id"), node_id=node, state__in=OPEN_TOKEN)))
    if with_incident is not None:
        has_one = Exists(Incident.objects.filter(instance=OuterRef("id"), state="OPEN"))
        found = found.filter(has_one if with_incident else ~has_one)
    found = narrowed(found, variables)
    listed: Page[Any] = page(found, ("-started_at", "id"), lambda row: row, after=after, size=size)
    # Each change of an instance raises its version.
    tag = tag_of([(row.id.hex, row.commits) for row in listed.items], listed.after)
    return Page((), listed.after, tag) if tag == known else replace(_with_places(listed), tag=tag)


def get_instance(id: UUID) -> rows.Instance | None:
    """One instance with where it is; None where there is none (or its runtime rows have been swept away)."""
    row = _instances().filter(id=id).first()
    return None if row is None else _with_places(Page((row,))).items[0]


def state_of(id: UUID) -> tuple[Any, ...] | None:
    """Versions that name the state of an instance and of what is told beside it, by one small statement: as long as
    they are the same, nothing of it has changed. None where there is no such instance.

    Its open tasks are looked for among all that it ever had: 4 ms where those are 20,000. An index for that would be
    written with every task of every instance.
    """
    since = timezone.now() - timedelta(days=LATELY)
    with reading() as cursor:
        cursor.execute(STATE, {"id": id, "called": LISTED_CALLED, "violation": VIOLATION, "since": since})
        found: tuple[Any, ...] | None = cursor.fetchone()
    return found


def open_ids(definition_id: UUID, *, after: UUID | None = None, limit: int = 50) -> list[UUID]:
    """The ids of open instances of a version, in order, behind one of them: of now, whatever a replica knows, since who
    asks does something with each.
    """
    found = ProcessInstance.objects.using(DEFAULT_DB_ALIAS).filter(definition_id=definition_id, ended_at=None)
    if after is not None:
        found = found.filter(id__gt=after)
    return list(found.order_by("id").values_list("id", flat=True)[:limit])


def variables_of(instance_id: UUID) -> list[rows.Variable]:
    """The variables that have a value now, those of the whole process first, each scope by name."""
    return variables_in(instance_id, limit=LISTED_VARIABLES)


def open_work(instance: rows.Instance) -> rows.OpenWork:
    """What the instance waits for."""
    mine: dict[str, Any] = {"instance_id": instance.id}
    tokens = list(Token.objects.filter(**mine, state__in=OPEN_TOKEN).order_by("ordinal")[: LISTED + 1])
    tasks = list(work.external().filter(**mine, state__in=work.OPEN_EXTERNAL).order_by("ordinal")[: LISTED + 1])
    people = list(work.user().filter(**mine, state__in=work.OPEN_USER).order_by("ordinal")[: LISTED + 1])
    timers = list(Timer.objects.filter(**mine, state="SCHEDULED").order_by("fire_at")[: LISTED + 1])
    tickets = list(
        WaitTicket.objects.filter(**mine, state="OPEN").exclude(kind="COMPENSATION").order_by("ordinal")[: LISTED + 1]
    )
    incidents = list(incident_rows.incidents().filter(**mine, state="OPEN").order_by("ordinal")[: LISTED + 1])
    called = _called(instance.id, [ticket.ordinal for ticket in tickets if ticket.kind == "CALL"])
    named = instance.definition_id
    lists: tuple[list[Any], ...] = (tokens, tasks, people, timers, tickets, incidents)
    return rows.OpenWork(
        tokens=tuple(_token(row, named) for row in tokens[:LISTED]),
        external_tasks=tuple(work.shape_external(row) for row in tasks[:LISTED]),
        user_tasks=tuple(work.shape_user(row) for row in people[:LISTED]),
        timers=tuple(_timer(row, named) for row in timers[:LISTED]),
        tickets=tuple(_ticket(row, named, called) for row in tickets[:LISTED]),
        incidents=tuple(incident_rows.shape(row) for row in incidents[:LISTED]),
        more=any(len(found) > LISTED for found in lists),
    )


def called_by(instance_id: UUID, limit: int = LISTED_CALLED) -> list[rows.Instance]:
    """The instances that its call activities started, the newest first."""
    found = _instances().filter(parent_instance_id=instance_id).order_by("-started_at", "id")[:limit]
    return list(_with_places(Page(tuple(found))).items)


def named(ids: Iterable[UUID]) -> dict[UUID, tuple[str | None, UUID]]:
    """The business key and the definition of each of these instances that is still among the rows of now."""
    found = ProcessInstance.objects.filter(id__in=set(ids)).values_list("id", "business_key", "definition_id")
    return {id: (key, definition) for id, key, definition in found}


def _instances() -> QuerySet[ProcessInstance]:
    version = ThreadVersion.objects.filter(thread_id=OuterRef("id")).values("version")
    rows = ProcessInstance.objects.select_related("definition").annotate(commits=Subquery(version))
    return rows.only(
        "id", "state", "definition_key", "business_key", "started_at", "started_by", "ended_at", "parent_instance_id",
        "definition__id", "definition__name", "definition__version",
    )  # fmt: skip


def _named(text: str) -> Q:
    try:
        return Q(id=UUID(text)) | Q(business_key=text)
    except ValueError:
        return Q(business_key__startswith=text)


def _with_places(found: Page[Any]) -> Page[rows.Instance]:
    """Add where the instances are and how many incidents they have: two statements for the whole page."""
    ids = [row.id for row in found.items]
    definitions = {row.id: row.definition_id for row in found.items}
    places: dict[UUID, list[rows.Place]] = {}
    standing = standing_tokens().filter(instance_id__in=ids).values("instance_id", "node_id")
    for place in standing.annotate(tokens=Count("id")).order_by("instance_id", "node_id"):
        instance_id, node_id = place["instance_id"], place["node_id"]
        name = name_of(definitions[instance_id], node_id)
        places.setdefault(instance_id, []).append(rows.Place(node_id=node_id, name=name, tokens=place["tokens"]))
    stopped = Incident.objects.filter(instance_id__in=ids, state="OPEN").values("instance_id")
    incidents = {row["instance_id"]: row["n"] for row in stopped.annotate(n=Count("id"))}
    return Page(
        tuple(
            rows.Instance(
                id=row.id,
                state=row.state,
                definition_id=row.definition_id,
                definition_key=row.definition_key,
                definition_name=row.definition.name,
                definition_version=row.definition.version,
                business_key=row.business_key,
                started_at=row.started_at,
                started_by=row.started_by,
                ended_at=row.ended_at,
                version=row.commits or 0,
                parent_instance_id=row.parent_instance_id,
                incidents=incidents.get(row.id, 0),
                places=tuple(places.get(row.id, ())),
            )
            for row in found.items
        ),
        found.after,
    )


def _called(caller: UUID, tickets: list[int]) -> dict[int, UUID]:
    if not tickets:
        return {}
    found = ProcessInstance.objects.filter(parent_instance_id=caller, parent_ticket__in=tickets)
    return {ticket: id for ticket, id in found.values_list("parent_ticket", "id") if ticket is not None}


def _token(row: Token, definition: UUID) -> rows.Token:
    return rows.Token(
        id=row.id,
        node_id=row.node_id,
        node_name=name_of(definition, row.node_id),
        state=row.state,
        parent_token_id=row.parent_token_id,
        created_at=row.created_at,
        updated_at=row.commit_at,
    )


def _timer(row: Timer, definition: UUID) -> rows.Timer:
    name = name_of(definition, row.node_id)
    return rows.Timer(id=row.id, node_id=row.node_id, node_name=name, fire_at=row.fire_at, state=row.state)


def _ticket(row: WaitTicket, definition: UUID, called: dict[int, UUID]) -> rows.Ticket:
    return rows.Ticket(
        id=row.id,
        node_id=row.node_id,
        node_name=name_of(definition, row.node_id),
        kind=row.kind,
        name=row.name,
        correlation=row.correlation,
        state=row.state,
        created_at=row.created_at,
        called=called.get(row.ordinal) if row.kind == "CALL" else None,
    )
