"""Living with versions: put tokens elsewhere, let instances go on with another definition, begin a new run of one that
has ended.

All are single steps that replay. `plan_migration` pairs the nodes of two definitions without touching an instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from uuid import UUID

from bpm.engine.acting import act, acting_as, instance, named
from bpm.engine.errors import Invalid, NotFound
from bpm.engine.starting import may_be_version
from bpm.engine.variables import checked
from bpm.semantics import commands as c
from bpm.semantics.migrating import Plan, plan
from bpm.store import definitions, histories, ids, reading, receipts
from bpm.store.outside import query
from bpm.store.records import CommitRecord

# Which variables a new run begins with.
type Keep = Literal["end", "start", "none"]
KEEPS: tuple[str, ...] = get_args(Keep.__value__)


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


def restart_instance(
    id: UUID | str,
    *,
    actor: str,
    keep: Keep = "end",
    variables: Mapping[str, Any] | None = None,
    node: str | None = None,
    start_before: Sequence[str] = (),
    version: int | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """Begin a new run of an instance that has ended: at `node`, a start event (None: where it was started), or before
    the nodes in `start_before`; of the version it ran last, or of `version`.

    `keep`: which variables the run begins with, those of the "end", those that it was "start"ed with, or "none";
    `variables` are set beside them. Whoever called the instance is not told of the new run's end.

    Raises NotFound, InvalidVariables, Invalid (it cannot begin so; history has its start no more), or Refused:
    wrong_state (it has not ended), not_running (its runtime rows were swept, and only history has it).
    """
    thread = instance(id)
    if keep not in KEEPS:
        raise Invalid(f"keep must be one of {', '.join(KEEPS)}")
    begins = None if node is None else named(node, "node")
    before = tuple({"before": named(one, "node")} for one in start_before)
    if begins is not None and before:
        raise Invalid("give a start event or nodes to start before, not both")
    given = checked(variables)
    target = None if version is None else _version_of(thread, id, version)
    brought = given
    # What was done under this key is answered from its receipt, whatever history still has.
    if key is None or reading.receipt(thread, acting_as(actor), named(key, "key")) is None:
        somewhere = begins is not None or bool(before)
        first = None if somewhere and keep != "start" else histories.beginning(thread)
        if first is not None and not somewhere:
            begins = first.events[0].node
        if first is None and not somewhere and definitions.of_instance(thread) is not None:
            raise Invalid("history has the start of the instance no more: name a start event or nodes to start before")
        if keep == "start":
            if first is None:
                raise Invalid("history has the start of the instance no more: give the variables")
            brought = first.arguments.get("variables", {}) | given
    return act(
        thread,
        lambda at: c.RestartInstance(
            at=at,
            definition=None if target is None else str(target),
            node=begins,
            start=before,
            fresh=keep != "end",
            variables=brought,
            text=reason or "",
        ),
        actor=actor,
        reason=reason,
        key=key,
        definition=target,
        content=receipts.content_of(["restart", version, node, list(start_before), keep, given]),
    )


def _version_of(thread: UUID, id: UUID | str, version: int) -> UUID:
    """The definition of that version of what the instance runs. Raises NotFound."""
    now = definitions.of_instance(thread)
    if now is None:
        raise NotFound(f"there is no instance {id}, or only history has it")
    process = definitions.load(now).key
    target = definitions.find(process, version=version) if may_be_version(version) else None
    if target is None:
        raise NotFound(f"there is no version {version} of {process}")
    return target


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
