"""Deployments: process and decision definitions stored together, in one commit of the nil thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from bpm.graph import graph_hash, to_json
from bpm.store import decisions, definitions, ids
from bpm.store.channel import Channel
from bpm.store.decisions import DecisionDefinition, NewDecisions
from bpm.store.definitions import Definition, NewDefinition
from bpm.store.fingerprints import DECISION, PROCESS, fingerprint
from bpm.store.outside import outside
from bpm.store.values import loads


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What a deployment made, in the order in which it was given."""

    deployment: UUID
    sequence: int
    definitions: list[Definition]
    decisions: list[DecisionDefinition]


def store(
    processes: Sequence[NewDefinition],
    tables: Sequence[NewDecisions] = (),
    *,
    actor: str,
    reason: str | None = None,
    channel: Channel | None = None,
) -> Stored:
    """Store these as one deployment, each as the next version of its key; the start subscriptions of processes take
    the place of the older versions'. Raises StoreError.
    """
    deployment = ids.new_instance()
    about = {
        "deployment": str(deployment),
        "definitions": [new.graph.id for new in processes],
        "decisions": [key for file in tables for key in file.keys],
        "digests": {
            "definitions": {new.graph.id: _digests(new) for new in processes},
            "decisions": {
                row["key"]: fingerprint(row, DECISION, graph=file.digest, file=file.source_hash)
                for file in tables
                for row in decisions.named_rows(file)
            },
        },
    }
    with outside(channel, "Deploy", about, actor=actor, reason=reason) as commit:
        return Stored(
            deployment=deployment,
            sequence=commit.sequence,
            definitions=definitions.store(processes, deployment, commit, actor=actor),
            decisions=decisions.store(tables, deployment, commit, actor=actor),
        )


def _digests(new: NewDefinition) -> dict[str, str]:
    """What the log keeps of a process definition (see `fingerprints`)."""
    row: dict[str, Any] = {
        "key": new.graph.id,
        "name": new.graph.name,
        "version_tag": new.graph.version_tag,
        "resource": new.resource,
        "source": new.source,
        **{
            name: loads(value) if isinstance(value, str) else value
            for name, value in definitions.loading_hints(new.graph).items()
        },
    }
    return fingerprint(row, PROCESS, graph=graph_hash(to_json(new.graph)), file=new.source_hash)
