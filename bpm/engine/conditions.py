"""Conditional start events: no instance is there whose variables could make them happen, so somebody asks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from bpm.engine.acting import Refused, act, named
from bpm.engine.errors import Invalid
from bpm.engine.starting import find_definition
from bpm.engine.variables import checked
from bpm.semantics.commands import StartInstance
from bpm.semantics.starts import condition_holds
from bpm.store import definitions, ids, receipts, schedule
from bpm.store.records import CommitRecord


def evaluate_conditions(
    variables: Mapping[str, Any] | None = None,
    *,
    actor: str,
    process: str | UUID | None = None,
    business_key: str | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> tuple[CommitRecord, ...]:
    """Start an instance at every conditional start event whose condition holds with these variables, which the instance
    then has (Camunda 7's evaluateCondition). Of all processes in their newest version, or of one `process` (its key, or
    the id of a definition). A condition that fails does not hold.

    Each instance is a transaction of its own. Out: their commits, none where no condition holds. Processes that are
    suspended begin nothing. With an idempotency `key` each start event begins once. Raises NotFound (no such process),
    Invalid, InvalidVariables, KeyConflict, Refused.
    """
    given = checked(variables)
    called = None if business_key is None else named(business_key, "business_key")
    named(actor, "actor")
    if key is not None:
        named(key, "key")
    waiting = schedule.starts_named("CONDITION", "")
    if process is not None:
        wanted = find_definition(process)
        waiting = [one for one in waiting if one.definition_id == wanted]
    content = None if key is None else receipts.content_of(["evaluate", called, given])
    now = schedule.now()
    records = []
    for start in [one for one in waiting if _holds(one, given, now)]:
        try:
            records.append(_start(start, given, called, actor=actor, reason=reason, key=key, content=content))
        except Refused as refused:
            if refused.code != "suspended":
                raise
    return tuple(records)


def _holds(start: schedule.NamedStart, variables: dict[str, Any], now: datetime) -> bool:
    """Whether its condition holds. Raises Invalid, before anything has begun."""
    holds = condition_holds(definitions.load(start.definition_id).graph, start.node, variables, now)
    if holds is None:
        raise Invalid(f"the condition of {start.node} of {start.key} asks for more than variables: no start can")
    return holds


def _start(
    start: schedule.NamedStart, variables: dict[str, Any], business_key: str | None, *, key: str | None, **by: Any
) -> CommitRecord:
    if key is None:
        thread = ids.new_instance()
    else:
        parts = by["actor"], key, str(start.definition_id), start.node
        thread = ids.derived_instance("condition", *parts)
    return act(
        thread,
        lambda at: StartInstance(
            at=at, node=start.node, variables=variables, business_key=business_key, trigger="conditional"
        ),
        definition=start.definition_id,
        key=key,
        **by,
    )
