"""Deployments: process and decision definitions stored together, in one commit of the nil thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from bpm.store import decisions, definitions, ids
from bpm.store.channel import Channel
from bpm.store.decisions import DecisionDefinition, NewDecisions
from bpm.store.definitions import Definition, NewDefinition
from bpm.store.outside import outside


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
    }
    with outside(channel, "Deploy", about, actor=actor, reason=reason) as commit:
        return Stored(
            deployment=deployment,
            sequence=commit.sequence,
            definitions=definitions.store(processes, deployment, commit, actor=actor),
            decisions=decisions.store(tables, deployment, commit, actor=actor),
        )
