"""Instances: start, list, look at, cancel, suspend, resume; their variables are in `variables`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Status

from bpm.api.answers import caller_of, commit, key_of, known
from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.given import MigrateIn, ModifyIn, Moment, ReasonIn, RestartIn, StartIn
from bpm.api.schemas.told import CommitOut, InstanceDetailOut, InstanceOut, MigrationPlanOut, PageOut
from bpm.engine import operators, starting, versions
from bpm.queries import instances
from bpm.queries.limits import SEARCHED, at_most
from bpm.queries.rows import Instance
from bpm.queries.variables import condition
from bpm.semantics.lifecycle import TRANSITIONS

router = Router()


@router.post("", response={201: CommitOut, 200: CommitOut}, auth=may("operate"))
def start(request: HttpRequest, given: StartIn) -> Any:
    """Start an instance. With `Idempotency-Key` it is started once; sent again the answer is 200, with the same one."""
    record = starting.start(
        given.process,
        given.variables,
        actor=caller_of(request).name,
        business_key=given.business_key,
        version=given.version,
        node=given.node,
        reason=given.reason,
        key=key_of(request),
    )
    return Status(200 if record.repeated else 201, commit(record))


@router.get("", response=PageOut[InstanceOut], auth=may("view"))
def list_instances(
    request: HttpRequest,
    process: str | None = None,
    definition_id: UUID | None = None,
    state: list[str] = Query([]),
    business_key: str | None = None,
    node: str | None = None,
    incident: bool | None = None,
    parent_instance_id: UUID | None = None,
    started_after: Moment | None = None,
    started_before: Moment | None = None,
    variable: list[str] = Query([], description="name:operator:value, such as amount:gt:100; all must hold"),
    after: str | None = None,
    size: int = Query(50, ge=1, le=200),
) -> Any:
    """Instances, the newest first. `node`: a token stands there now; `incident`: with (or without) an open one.

    `variable`: eq, neq, gt, gteq, lt, lteq, like, startswith with a value, or exists; 100 is a number, "100" a text.
    A search by variables that takes longer than three seconds is refused (`search_too_wide`).
    """
    conditions = [condition(text) for text in variable]
    with at_most(SEARCHED) if conditions else nullcontext():
        return instances.list_instances(
            definition_key=process,
            definition_id=definition_id,
            states=known(state, TRANSITIONS["instance"], "state"),
            business_key=business_key,
            node=node,
            with_incident=incident,
            parent=parent_instance_id,
            started_after=started_after,
            started_before=started_before,
            variables=conditions,
            after=after,
            size=size,
        )


@router.get("/{id}", response=InstanceDetailOut, auth=may("view"))
def get_instance(request: HttpRequest, id: UUID) -> Any:
    """One instance and what it waits for."""
    instance = _found(id)
    shown = {name: getattr(instance, name) for name in InstanceOut.model_fields}
    return {**shown, "waits_for": instances.open_work(instance)}


@router.post("/{id}/cancel", response=CommitOut, auth=may("operate"))
def cancel(request: HttpRequest, id: UUID, given: ReasonIn) -> Any:
    """End the instance and all that is open in it."""
    return commit(
        operators.cancel_instance(id, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    )


@router.post("/{id}/suspend", response=CommitOut, auth=may("operate"))
def suspend(request: HttpRequest, id: UUID, given: ReasonIn) -> Any:
    """Stop the instance: nothing moves until it is resumed."""
    return commit(
        operators.suspend_instance(id, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    )


@router.post("/{id}/resume", response=CommitOut, auth=may("operate"))
def resume(request: HttpRequest, id: UUID, given: ReasonIn) -> Any:
    """Let a suspended instance go on."""
    return commit(
        operators.resume_instance(id, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    )


@router.post("/{id}/modify", response=CommitOut, auth=may("operate"))
def modify(request: HttpRequest, id: UUID, given: ModifyIn) -> Any:
    """Put tokens elsewhere in one step: what starts appears first, then what is cancelled ends."""
    said = given.model_dump(exclude={"reason"})
    return commit(
        versions.modify_instance(id, **said, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    )


@router.post("/{id}/migration-plan", response=MigrationPlanOut, auth=may("view"))
def plan_migration(request: HttpRequest, id: UUID, given: MigrateIn) -> Any:
    """What fits between the instance's version and another one, and what does not; nothing changes."""
    return versions.plan_migration(id, version=given.version, nodes=given.nodes)


@router.post("/{id}/migrate", response=CommitOut, auth=may("operate"))
def migrate(request: HttpRequest, id: UUID, given: MigrateIn) -> Any:
    """Let the instance go on with another version; refused where something would be lost."""
    said = given.model_dump(exclude={"reason"})
    return commit(
        versions.migrate_instance(id, **said, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    )


@router.post("/{id}/restart", response=CommitOut, auth=may("operate"))
def restart(request: HttpRequest, id: UUID, given: RestartIn) -> Any:
    """Begin a new run of an instance that has ended; its history goes on."""
    said = given.model_dump(exclude={"reason"})
    return commit(
        versions.restart_instance(id, **said, actor=caller_of(request).name, reason=given.reason, key=key_of(request))
    )


def _found(id: UUID) -> Instance:
    instance = instances.get_instance(id)
    if instance is None:
        raise Problem("not_found", f"there is no instance {id}")
    return instance
