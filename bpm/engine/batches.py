"""Living with versions, many instances at once: each migrates in a step of its own, a bounded number a call.

There is no row of such a batch: where it stands is in the instances themselves, and those that are through run the new
version. Whoever carries it on gives the id of the last instance that was looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from bpm.engine.errors import EngineError, NotFound
from bpm.engine.starting import may_be_version
from bpm.engine.step import DETERMINISTIC
from bpm.engine.trying import in_words
from bpm.engine.versions import MigrationPlan, migrate_instance
from bpm.semantics.migrating import plan
from bpm.store import definitions
from bpm.store.definitions import Definition

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An instance that stayed as it was, and why."""

    instance: UUID
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Migrated:
    """What came of some instances."""

    done: tuple[UUID, ...]
    refused: tuple[Refusal, ...]


def plan_versions(id: UUID, *, version: int | None = None, nodes: Mapping[str, str] | None = None) -> MigrationPlan:
    """How a definition and another version of its key (None: the latest) fit. Raises NotFound.

    `nodes` pairs what the ids do not.
    """
    old, new = _pair(id, version)
    found = plan(old.graph, new.graph, dict(nodes or {}))
    return MigrationPlan(old.id, new.id, found.nodes, found.problems)


def suggested_nodes(id: UUID, *, version: int | None = None) -> dict[str, str]:
    """Nodes of a definition that another version seems to have under another id: of the same kind, with a name that
    each of them has once. Raises NotFound.
    """
    old, new = _pair(id, version)
    gone = [node for node in old.graph.nodes.values() if node.id not in new.graph.nodes and node.name]
    come = [node for node in new.graph.nodes.values() if node.id not in old.graph.nodes and node.name]
    often = Counter((node.kind, node.name) for node in gone) | Counter((node.kind, node.name) for node in come)
    named = {(node.kind, node.name): node.id for node in come if often[node.kind, node.name] == 1}
    return {
        node.id: named[node.kind, node.name]
        for node in gone
        if often[node.kind, node.name] == 1 and (node.kind, node.name) in named
    }


def migrate_each(
    ids: Iterable[UUID],
    *,
    actor: str,
    version: int | None = None,
    nodes: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    reason: str | None = None,
) -> Migrated:
    """Let these instances go on with another version, one after the other. What is refused of one is said, and holds
    up none of the others.
    """
    done: list[UUID] = []
    refused: list[Refusal] = []
    for id in ids:
        try:
            migrate_instance(id, actor=actor, version=version, nodes=nodes, drop=drop, reason=reason)
            done.append(id)
        except EngineError as no:
            refused.append(Refusal(id, no.code, no.message))
        except DETERMINISTIC as fault:
            log.exception("instance cannot be migrated", instance=str(id))
            refused.append(Refusal(id, "fault", in_words(fault)))
    return Migrated(tuple(done), tuple(refused))


def _pair(id: UUID, version: int | None) -> tuple[Definition, Definition]:
    try:
        old = definitions.load(id)
    except KeyError:
        raise NotFound(f"there is no process definition {id}") from None
    target = definitions.find(old.key, version=version) if may_be_version(version) else None
    if target is None:
        raise NotFound(f"there is no version {version} of {old.key}")
    return old, definitions.load(target)
