"""What is drawn on a diagram: open tokens, incidents and passages by node, and the flows that were taken."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.db.models.fields.json import KeyTextTransform

from bpm.models import Incident, ProcessInstance, Token, TokenEvent
from bpm.queries.rows import Definition, Marks

OPEN_TOKEN = ("ACTIVE", "WAITING")
# Passages are counted among this many events, heat among this many open instances: a page never reads more.
EVENTS_READ = 5_000
INSTANCES_READ = 10_000
ARRIVALS = ("TOKEN_CREATED", "TOKEN_MOVED", "TOKEN_JOINED")


def standing_tokens() -> QuerySet[Token]:
    """Open tokens that stand somewhere themselves: one that forked waits for its branches and is nowhere."""
    branches = Token.objects.filter(parent_token_id=OuterRef("id"), state__in=OPEN_TOKEN)
    return Token.objects.filter(~Exists(branches), state__in=OPEN_TOKEN)


def marks_of_instance(instance_id: UUID, started_at: datetime) -> Marks:
    """Where one instance is and which way it came. `started_at` keeps older partitions of history out."""
    arrivals = (
        TokenEvent.objects.filter(instance_id=instance_id, at__gte=started_at, event_type__in=ARRIVALS)
        .order_by("commit_sequence", "ordinal")
        .values_list("node_id", KeyTextTransform("flow", "payload"))[: EVENTS_READ + 1]
    )
    passed: Counter[str] = Counter()
    flows: Counter[str] = Counter()
    number = 0
    for node, flow in arrivals:
        number += 1
        if node:
            passed[node] += 1
        if flow:
            flows[flow] += 1
    mine: dict[str, Any] = {"instance_id": instance_id}
    return Marks(
        tokens=_by_node(standing_tokens().filter(**mine)),
        incidents=_by_node(Incident.objects.filter(**mine, state="OPEN")),
        passed=dict(passed),
        flows=dict(flows),
        more=number > EVENTS_READ,
    )


def marks_of_definition(definition: Definition) -> Marks:
    """Where the newest open instances of a definition are."""
    # The key is what the index by time is for.
    instances = ProcessInstance.objects.filter(definition_key=definition.key, definition_id=definition.id)
    newest = instances.filter(ended_at=None).order_by("-started_at")
    ids = newest.values("id")[:INSTANCES_READ]
    return Marks(
        tokens=_by_node(standing_tokens().filter(instance_id__in=ids)),
        incidents=_by_node(Incident.objects.filter(instance_id__in=ids, state="OPEN")),
        more=bool(newest[INSTANCES_READ : INSTANCES_READ + 1]),
    )


def _by_node(rows: Any) -> dict[str, int]:
    return {row["node_id"]: row["n"] for row in rows.values("node_id").annotate(n=Count("id")).order_by("node_id")}
