"""Living with versions: put tokens elsewhere, and let instances go on with another definition.

Both are single steps that replay. `plan_migration` pairs the nodes of two definitions without touching an instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from bpm.engine.acting import act, instance, named
from bpm.engine.errors import Invalid, NotFound
from bpm.engine.starting import may_be_version
from bpm.engine.variables import checked
from bpm.semantics import commands as c
from bpm.semantics.migrating import Plan, plan
from bpm.store import definitions, ids, receipts
from bpm.store.outside import query
from bpm.store.records import CommitRecord


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """`old` and `new` are definition ids; `nodes` pairs node ids, `problems` says in sentences what does not fit."""

    old: UUID
    new: UUID
    nodes: Mapping[str, str]
    problems: tuple[str, ...]


def plan_migration(
    id: UUID | str, *, version: int | None = None, nodes: Mapping[str, str] | None = None
) -> MigrationPlan:
    """How the instance's definition and another version of it (None: the latest) fit. Raises NotFound.

    `nodes` pairs what the ids do not.
    """
    thread = instance(id)
    now = definitions.of_instance(thread)
    if now is None:
        raise NotFound(f"there is no instance {id}")
    old = definitions.load(now)
    target = definitions.find(old.key, version=version) if may_be_version(version) else None
    if target is None:
        raise NotFound(f"there is no version {version} of {old.key}")
    found: Plan = plan(old.graph, definitions.load(target).graph, dict(nodes or {}))
    return MigrationPlan(now, target, found.nodes, found.problems)


def migrate_instance(
    id: UUID | str,
    *,
    actor: str,
    version: int | None = None,
    nodes: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """Let the instance go on with another version of its definition (None: the latest).

    `nodes` maps ids of nodes where something is open to those of the new version; `drop` names events of the old one
    whose timers and tickets may end. Raises NotFound, or Invalid where something would be lost, Refused.
    """
    thread = instance(id)
    planned = plan_migration(thread, version=version, nodes=nodes)
    asked = {"thread": thread, "actor": named(actor, "actor"), "key": key and named(key, "key")}
    again = key is not None and bool(query(None, "receipt_of", asked))
    if planned.old == planned.new and not again:
        raise Invalid("the instance runs that version already")
    wrong = [said for said in planned.problems if _concerns_pair(said, nodes or {})]
    if wrong and not again:
        raise Invalid("; ".join(wrong))
    pairs = {old: new for old, new in (nodes or {}).items() if old != new}
    return act(
        thread,
        lambda at: c.MigrateInstance(
            at=at, definition=str(planned.new), nodes=pairs, drop=tuple(drop), text=reason or ""
        ),
        actor=actor,
        reason=reason,
        key=key,
        definition=planned.new,
        content=receipts.content_of(["migrate", version, dict(nodes or {}), list(drop)]),
    )


def modify_instance(
    id: UUID | str,
    *,
    actor: str,
    start_before: Sequence[str] = (),
    start_after: Sequence[str] = (),
    cancel_at: Sequence[str] = (),
    cancel_tokens: Sequence[UUID | str] = (),
    variables: Mapping[str, Any] | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """Start tokens before or after nodes, cancel tokens (all at a node, or single ones), set variables, in one step.

    Raises NotFound, InvalidVariables, or Invalid where an instruction makes no sense, Refused.
    """
    thread = instance(id)
    start = [{"before": named(node, "node")} for node in start_before]
    start += [{"after": named(node, "node")} for node in start_after]
    cancel: list[dict[str, Any]] = [{"node": named(node, "node")} for node in cancel_at]
    cancel += [{"token": _token(thread, token)} for token in cancel_tokens]
    given = checked(variables)
    return act(
        thread,
        lambda at: c.ModifyInstance(
            at=at, start=tuple(start), cancel=tuple(cancel), variables=given, text=reason or ""
        ),
        actor=actor,
        reason=reason,
        key=key,
    )


def _concerns_pair(problem: str, nodes: Mapping[str, str]) -> bool:
    """Whether a problem is about a pair that was asked for; whether others matter, the step finds out."""
    return any(problem.startswith((f"{old} ", f"the old definition has no node {old}")) for old in nodes)


def _token(thread: UUID, token: UUID | str) -> int:
    try:
        found = token if isinstance(token, UUID) else UUID(token)
    except ValueError:
        raise NotFound(f"there is no token {token!r}") from None
    if ids.instance_of(found) != thread:
        raise NotFound(f"token {token} is not of this instance")
    return ids.ordinal(found)
