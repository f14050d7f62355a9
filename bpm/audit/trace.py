"""The trace of an instance: what happened in it, in commit order, each event with who, why and from which cause.

Read from history alone, so that it also answers for instances whose runtime rows have been swept away. `at >= started`
keeps the months before the instance out of every statement.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection

from bpm.audit.archived_trace import find_archived, ordered, topics_of

LARGEST_PAGE = 1000
STREAMED_AT_ONCE = 1000

COLUMNS = (
    "commit_sequence", "ordinal", "thread_version", "at", "event_type", "entity", "entity_id", "token_id", "node_id",
    "from_state", "to_state", "reason", "worker_id", "error", "scope", "name", "value", "payload", "caused_by", "actor",
    "stated_reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One event of history, as people and programs read it."""

    at: datetime
    type: str
    commit_sequence: int
    ordinal: int
    instance_version: int | None
    entity: str
    entity_id: UUID | None = None
    token_id: UUID | None = None
    node: str | None = None
    node_name: str | None = None
    from_state: str | None = None
    to_state: str | None = None
    reason: str | None = None
    topic: str | None = None
    worker: str | None = None
    error: str | None = None
    actor: str = ""
    stated_reason: str | None = None
    caused_by: int | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """JSON values; what an event does not have is left out."""
        shown = {
            "at": self.at.isoformat(),
            "type": self.type,
            "node": self.node,
            "node_name": self.node_name,
            "topic": self.topic,
            "worker": self.worker,
            "error": self.error,
            "from_state": self.from_state,
            "to_state": self.to_state,
            "reason": self.reason,
            "actor": self.actor,
            "stated_reason": self.stated_reason,
            "variables": self.variables,
            "entity": self.entity,
            "entity_id": None if self.entity_id is None else str(self.entity_id),
            "token_id": None if self.token_id is None else str(self.token_id),
            "commit_sequence": self.commit_sequence,
            "ordinal": self.ordinal,
            "instance_version": self.instance_version,
            "caused_by": self.caused_by,
            "payload": self.payload,
        }
        return {name: value for name, value in shown.items() if value not in (None, {}, "")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which events: all conditions hold together, an empty one is none."""

    types: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    token: UUID | None = None
    node: str | None = None
    worker: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def has(self, row: Mapping[str, Any]) -> bool:
        """Whether a row that was read elsewhere is one of them."""
        return (
            (not self.types or row["event_type"] in self.types)
            and (not self.entities or row["entity"] in self.entities)
            and (self.token is None or row["token_id"] == self.token)
            and (not self.node or row["node_id"] == self.node)
            and (not self.worker or row["worker_id"] == self.worker)
            and (self.since is None or row["at"] >= self.since)
            and (self.until is None or row["at"] < self.until)
        )


@dataclass(frozen=True, slots=True)
class TracePage:
    """Events in the order asked for, and the cursor of the page after them (None: there is none)."""

    events: tuple[TraceEvent, ...]
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """What history says of an instance as a whole; `archived`: the rows of its events that are in archives alone."""

    definition_id: UUID | None
    started_at: datetime
    archived: list[dict[str, Any]] = field(default_factory=list)


class BadCursor(ValueError):
    """The cursor was not made by a trace."""


def find_thread(instance_id: UUID, since: datetime | None = None) -> Thread | None:
    """When the instance began and by which definition; None where history knows no such instance. Who knows from
    elsewhere `since` when it may have begun saves a look into older months.
    """
    archived = find_archived(instance_id)
    if archived is not None:
        return Thread(archived.definition_id, archived.started_at, archived.rows)
    within = "" if since is None else "AND at >= %(since)s"
    statement = f"""
        SELECT process_def_id, at FROM runtime_commit WHERE thread_id = %(instance)s {within} ORDER BY version LIMIT 1
    """  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement, {"instance": instance_id, "since": since})
        row = cursor.fetchone()
    return None if row is None else Thread(*row)


def trace(
    instance_id: UUID,
    wanted: Wanted | None = None,
    *,
    newest_first: bool = False,
    after: str | None = None,
    size: int = 100,
    thread: Thread | None = None,
) -> TracePage | None:
    """One page of the events of an instance; None where history knows no such instance. Raises BadCursor."""
    thread = thread or find_thread(instance_id)
    if thread is None:
        return None
    limit = max(1, min(size, LARGEST_PAGE))
    rows = _read(instance_id, thread, wanted or Wanted(), newest_first, _decode(after), limit + 1)
    more = len(rows) > limit
    rows = rows[:limit]
    names = _node_names(thread.definition_id, {row["node_id"] for row in rows if row["node_id"]})
    topics = topics_of(thread.archived)
    topics |= _topics(thread.started_at, {row["entity_id"] for row in rows if row["entity"] == "task"} - set(topics))
    events = tuple(_shape(row, names, topics) for row in rows)
    return TracePage(events, _encode(events[-1]) if more else None)


def stream(instance_id: UUID, wanted: Wanted | None = None, *, newest_first: bool = False) -> Iterator[TraceEvent]:
    """All events, however many, holding one page at a time."""
    thread = find_thread(instance_id)
    after: str | None = None
    while thread is not None:
        found = trace(instance_id, wanted, newest_first=newest_first, after=after, size=STREAMED_AT_ONCE, thread=thread)
        if found is None:
            return
        yield from found.events
        after = found.after
        if after is None:
            return


def last_of_tokens(instance_id: UUID, tokens: Sequence[UUID], number: int) -> dict[UUID, list[TraceEvent]]:
    """The last events of each of these tokens of an instance, the oldest first, by a fixed number of statements."""
    thread = find_thread(instance_id)
    if thread is None:
        return {}
    # Of each token by itself, from its newest version on: one that has gone round for a year has millions.
    statement = f"""
        SELECT e.* FROM unnest(%(tokens)s::uuid[]) AS w (id) CROSS JOIN LATERAL (
            SELECT {", ".join(COLUMNS)} FROM runtime_event
            WHERE thread_id = %(instance)s AND at >= %(started)s AND source = 'token_events' AND token_id = w.id
            ORDER BY row_version DESC, commit_sequence DESC, ordinal DESC LIMIT %(number)s
        ) e
    """  # noqa: S608
    asked: dict[str, Any] = {
        "instance": instance_id,
        "started": thread.started_at,
        "tokens": list(tokens),
        "number": number,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, asked)
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in cursor.fetchall()]
    wanted = set(tokens)
    archived = (row for row in thread.archived if row["entity"] == "token" and row["token_id"] in wanted)
    found: dict[UUID, list[dict[str, Any]]] = {token: [] for token in tokens}
    for row in ordered(archived, rows, newest_first=True, after=None):
        if len(found[row["token_id"]]) < number:
            found[row["token_id"]].append(row)
    nodes = {row["node_id"] for some in found.values() for row in some if row["node_id"]}
    names = _node_names(thread.definition_id, nodes)
    return {token: [_shape(row, names, {}) for row in reversed(some)] for token, some in found.items()}


def _read(
    instance_id: UUID, thread: Thread, wanted: Wanted, newest_first: bool, after: Sequence[int] | None, limit: int
) -> list[dict[str, Any]]:
    live = _read_live(instance_id, thread.started_at, wanted, newest_first, after, limit)
    if not thread.archived:
        return live
    fitting = (row for row in thread.archived if wanted.has(row))
    return list(islice(ordered(fitting, live, newest_first=newest_first, after=after), limit))


def _read_live(
    instance_id: UUID, started: datetime, wanted: Wanted, newest_first: bool, after: Sequence[int] | None, limit: int
) -> list[dict[str, Any]]:
    conditions = ["thread_id = %(instance)s", "at >= %(started)s"]
    arguments: dict[str, Any] = {"instance": instance_id, "started": started, "limit": limit}
    for name, condition, value in (
        ("types", "event_type = ANY(%(types)s)", list(wanted.types)),
        ("entities", "entity = ANY(%(entities)s)", list(wanted.entities)),
        ("token", "token_id = %(token)s", wanted.token),
        ("node", "node_id = %(node)s", wanted.node),
        ("worker", "worker_id = %(worker)s", wanted.worker),
        ("since", "at >= %(since)s", wanted.since),
        ("until", "at < %(until)s", wanted.until),
    ):
        if value:
            conditions.append(condition)
            arguments[name] = value
    if after is not None:
        conditions.append(f"(commit_sequence, ordinal) {'<' if newest_first else '>'} (%(sequence)s, %(ordinal)s)")
        arguments["sequence"], arguments["ordinal"] = after
    direction = "DESC" if newest_first else "ASC"
    # Only names of our own tables are put into the text; every value is an argument.
    statement = (
        f"SELECT {', '.join(COLUMNS)} FROM runtime_event WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY commit_sequence {direction}, ordinal {direction} LIMIT %(limit)s"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return [dict(zip(COLUMNS, row, strict=True)) for row in cursor.fetchall()]


def _node_names(definition_id: UUID | None, wanted: Iterable[str]) -> dict[str, str]:
    ids = sorted(wanted)
    if definition_id is None or not ids:
        return {}
    # One pass over the graph: asking for each node would unpack it each time.
    statement = """
        SELECT node.key, node.value->>'name'
        FROM process_definitions d, jsonb_each(d.graph->'nodes') AS node
        WHERE d.id = %s AND node.key = ANY(%s)
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, [definition_id, ids])
        return {id: " ".join(name.split()) for id, name in cursor.fetchall() if name}


def _topics(started: datetime, wanted: Iterable[UUID | None]) -> dict[UUID, str]:
    """A task's topic is said once, when the task is created."""
    ids = [id for id in wanted if id is not None]
    if not ids:
        return {}
    statement = """
        SELECT task_id, payload->>'topic' FROM external_task_events
        WHERE task_id = ANY(%s) AND row_version = 1 AND event_type = 'TASK_CREATED' AND at >= %s
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, [ids, started])
        return dict(cursor.fetchall())


def _shape(row: dict[str, Any], names: dict[str, str], topics: dict[UUID, str]) -> TraceEvent:
    payload = _plain(row["payload"]) or {}
    variables: dict[str, Any] = {}
    if row["entity"] == "variable":
        variables = {row["name"]: _plain(row["value"]) if row["event_type"] == "VARIABLE_SET" else None}
    return TraceEvent(
        at=row["at"],
        type=row["event_type"],
        commit_sequence=row["commit_sequence"],
        ordinal=row["ordinal"],
        instance_version=row["thread_version"],
        entity=row["entity"],
        entity_id=row["entity_id"],
        token_id=row["token_id"],
        node=row["node_id"],
        node_name=names.get(row["node_id"]),
        from_state=row["from_state"],
        to_state=row["to_state"],
        reason=row["reason"],
        topic=topics.get(row["entity_id"]) if row["entity"] == "task" else None,
        worker=row["worker_id"] or payload.get("worker"),
        error=row["error"] or payload.get("error"),
        actor=row["actor"],
        stated_reason=row["stated_reason"],
        caused_by=row["caused_by"],
        variables=variables,
        payload=payload,
    )


def _plain(value: Any) -> Any:
    """Django leaves jsonb of a raw statement as text. Numbers stay exact."""
    return json.loads(value, parse_float=Decimal) if isinstance(value, str) else value


def _encode(event: TraceEvent) -> str:
    return base64.urlsafe_b64encode(f"{event.commit_sequence}.{event.ordinal}".encode()).decode().rstrip("=")


def _decode(cursor: str | None) -> tuple[int, int] | None:
    if not cursor:
        return None
    try:
        sequence, ordinal = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split(".")
        return int(sequence), int(ordinal)
    except (binascii.Error, ValueError) as error:
        raise BadCursor("the cursor was not made by a trace") from error
