"""What is drawn on a diagram: open tokens, incidents and passages by node, and the flows that were taken."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.db.models.fields.json import KeyTextTransform

from bpm.models import Incident, Token, TokenEvent
from bpm.queries.replica import reading
from bpm.queries.rows import Definition, Marks

OPEN_TOKEN = ("ACTIVE", "WAITING")
# Passages are counted among this many events, heat among this many open instances: a page never reads more.
EVENTS_READ = 5_000
INSTANCES_READ = 5_000
ARRIVALS = ("TOKEN_CREATED", "TOKEN_MOVED", "TOKEN_JOINED")
# The newest open instances are read by the index of those, one state after the other. BETWEEN and the whole order keep
# the planner from walking over the instances of all other definitions instead, as it would where it takes this one for
# frequent among them; and OFFSET from reading all tokens and incidents. Tokens count where they stand themselves.
_NEWEST = """
    (SELECT id, started_at FROM process_instances
     WHERE process_def_id BETWEEN %(definition)s AND %(definition)s AND state BETWEEN '{0}' AND '{0}'
        AND ended_at IS NULL
     ORDER BY process_def_id, state, started_at DESC LIMIT %(read)s + 1)
"""
MARKS = f"""
    WITH newest AS MATERIALIZED (
        SELECT id FROM ({_NEWEST.format("RUNNING")} UNION ALL {_NEWEST.format("SUSPENDED")}) open
        ORDER BY started_at DESC LIMIT %(read)s + 1
    )
    SELECT 'instance', NULL, count(*) FROM newest
    UNION ALL
    SELECT 'token', t.node_id, count(*) FROM (SELECT id FROM newest LIMIT %(read)s) i CROSS JOIN LATERAL (
        SELECT node_id FROM tokens t WHERE t.instance_id = i.id AND t.state IN ('ACTIVE', 'WAITING') AND NOT EXISTS (
            SELECT FROM tokens c WHERE c.parent_token_id = t.id AND c.state IN ('ACTIVE', 'WAITING')
        ) OFFSET 0
    ) t
    GROUP BY t.node_id
    UNION ALL
    SELECT 'incident', n.node_id, count(*) FROM (SELECT id FROM newest LIMIT %(read)s) i CROSS JOIN LATERAL (
        SELECT node_id FROM incidents n WHERE n.instance_id = i.id AND n.state = 'OPEN' OFFSET 0
    ) n
    GROUP BY n.node_id
"""  # noqa: S608


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
    tokens: dict[str, int] = {}
    incidents: dict[str, int] = {}
    with reading() as cursor:
        cursor.execute(MARKS, {"definition": definition.id, "read": INSTANCES_READ})
        rows = cursor.fetchall()
    read = 0
    for kind, node, number in rows:
        if kind == "instance":
            read = number
        else:
            (tokens if kind == "token" else incidents)[node] = number
    return Marks(tokens=tokens, incidents=incidents, more=read > INSTANCES_READ)


def _by_node(rows: Any) -> dict[str, int]:
    return {row["node_id"]: row["n"] for row in rows.values("node_id").annotate(n=Count("id")).order_by("node_id")}
