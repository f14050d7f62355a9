"""Work that waits: external tasks for programs, user tasks for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from bpm.models import ExternalTask, UserTask
from bpm.queries import rows
from bpm.queries.nodes import name_of, nodes_of
from bpm.queries.paging import Page, page

OPEN_EXTERNAL = ("READY", "LOCKED", "FAILED")
OPEN_USER = ("READY", "CLAIMED")


def external() -> QuerySet[ExternalTask]:
    """External tasks with what `shape_external` asks of their instance."""
    return ExternalTask.objects.select_related("instance")


def user() -> QuerySet[UserTask]:
    """User tasks with what `shape_user` asks of their instance."""
    return UserTask.objects.select_related("instance", "instance__definition").defer(
        "instance__definition__graph", "instance__definition__source"
    )


def list_external_tasks(
    *,
    topic: str | None = None,
    states: Iterable[str] = OPEN_EXTERNAL,
    worker: str | None = None,
    instance_id: UUID | None = None,
    after: str | None = None,
    size: int | None = None,
) -> Page[rows.ExternalTask]:
    """External tasks, the newest first. Raises BadCursor."""
    found = external().filter(state__in=list(states))
    exact: dict[str, Any] = {"topic": topic, "lock_owner": worker, "instance_id": instance_id}
    found = found.filter(**{name: value for name, value in exact.items() if value is not None})
    return page(found, ("-created_at", "id"), shape_external, after=after, size=size)


def get_external_task(id: UUID) -> rows.ExternalTask | None:
    """One external task; None where there is none."""
    row = external().filter(id=id).first()
    return None if row is None else shape_external(row)


def list_user_tasks(
    *,
    assignee: str | None = None,
    candidate: str | None = None,
    candidate_groups: Iterable[str] = (),
    unassigned: bool = False,
    definition_key: str | None = None,
    instance_id: UUID | None = None,
    states: Iterable[str] = OPEN_USER,
    after: str | None = None,
    size: int | None = None,
) -> Page[rows.UserTask]:
    """User tasks, the newest first: those of an assignee, or those that a candidate (a user, groups) may claim.

    None is any; an empty text is one that nothing has. Raises BadCursor.
    """
    found = user().filter(state__in=list(states))
    exact: dict[str, Any] = {
        "assignee": assignee,
        "instance__definition_key": definition_key,
        "instance_id": instance_id,
    }
    found = found.filter(**{name: value for name, value in exact.items() if value is not None})
    if unassigned:
        found = found.filter(assignee=None)
    groups = list(candidate_groups)
    if candidate is not None or groups:
        may = Q()
        if candidate is not None:
            may |= Q(candidate_users__contains=[candidate])
        if groups:
            may |= Q(candidate_groups__has_any_keys=groups)
        found = found.filter(may)
    return page(found, ("-created_at", "id"), shape_user, after=after, size=size)


def get_user_task(id: UUID) -> rows.UserTask | None:
    """One user task; None where there is none."""
    row = user().filter(id=id).first()
    return None if row is None else shape_user(row)


def shape_external(row: ExternalTask) -> rows.ExternalTask:
    """The row as frozen data."""
    return rows.ExternalTask(
        id=row.id,
        instance_id=row.instance_id,
        definition_key=row.instance.definition_key,
        business_key=row.instance.business_key,
        node_id=row.node_id,
        node_name=name_of(row.instance.definition_id, row.node_id),
        topic=row.topic,
        state=row.state,
        retries=row.retries,
        retry_at=row.retry_at,
        priority=row.priority,
        worker=row.lock_owner,
        locked_until=row.lock_expire_at,
        created_at=row.created_at,
        version=row.version,
    )


def shape_user(row: UserTask) -> rows.UserTask:
    """The row as frozen data."""
    node = nodes_of(row.instance.definition_id).get(row.node_id)
    return rows.UserTask(
        id=row.id,
        instance_id=row.instance_id,
        definition_key=row.instance.definition_key,
        definition_name=row.instance.definition.name,
        business_key=row.instance.business_key,
        node_id=row.node_id,
        node_name=node.name if node else row.node_id,
        state=row.state,
        assignee=row.assignee,
        owner=row.owner,
        delegation=row.delegation,
        candidate_users=tuple(row.candidate_users),
        candidate_groups=tuple(row.candidate_groups),
        due=row.due,
        follow_up=row.follow_up,
        priority=row.priority,
        form_key=row.form_key,
        form_fields=node.form_fields if node else (),
        created_at=row.created_at,
        version=row.version,
    )
