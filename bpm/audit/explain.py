"""Why is it here: for one token or one piece of work, how it came here, what it waits for, and who can move it.

How it came is read from history; what it waits for from the rows of now. Sentences are for people; beside each stand
the commit and the ids that prove it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from bpm.audit.trace import TraceEvent, last_of_tokens
from bpm.graph import Node
from bpm.store import definitions, ids

# The last steps of the way that are told.
STEPS = 12

# Whose token a thing hangs on: a token itself, or whatever has one.
HANGS_ON = """
    SELECT id FROM tokens WHERE id = %(id)s
    UNION ALL SELECT token_id FROM external_tasks WHERE id = %(id)s
    UNION ALL SELECT token_id FROM user_tasks WHERE id = %(id)s
    UNION ALL SELECT token_id FROM timers WHERE id = %(id)s
    UNION ALL SELECT token_id FROM runtime_wait_ticket WHERE id = %(id)s
    UNION ALL SELECT token_id FROM incidents WHERE id = %(id)s
    LIMIT 1
"""
STANDS_AT = """
    SELECT t.id, t.node_id, t.state, t.commit_at, i.state, i.process_def_id
    FROM tokens t JOIN process_instances i ON i.id = t.instance_id WHERE t.id = ANY(%(tokens)s)
"""
# What tokens may wait for: statements over the open rows that hang on them, the token first.
INCIDENTS = """
    SELECT token_id, id, kind, message FROM incidents WHERE token_id = ANY(%(tokens)s) AND state = 'OPEN'
    ORDER BY ordinal
"""
TASKS = """
    SELECT token_id, id, topic, state, lock_owner, lock_expire_at, retries, retry_at FROM external_tasks
    WHERE token_id = ANY(%(tokens)s) AND state IN ('READY', 'LOCKED') ORDER BY ordinal
"""
USER_TASKS = """
    SELECT token_id, id, assignee, candidate_users, candidate_groups FROM user_tasks
    WHERE token_id = ANY(%(tokens)s) AND state IN ('READY', 'CLAIMED') ORDER BY ordinal
"""
TIMERS = """
    SELECT token_id, id, node_id, fire_at FROM timers WHERE token_id = ANY(%(tokens)s) AND state = 'SCHEDULED'
    ORDER BY fire_at
"""
TICKETS = """
    SELECT token_id, id, kind, name, correlation FROM runtime_wait_ticket
    WHERE token_id = ANY(%(tokens)s) AND state = 'OPEN' AND kind <> 'COMPENSATION' ORDER BY ordinal
"""
# Of each token some: a parent may have ten thousand.
BRANCHES = """
    SELECT w.id, b.id, b.node_id FROM unnest(%(tokens)s) AS w (id) CROSS JOIN LATERAL (
        SELECT id, node_id, ordinal FROM tokens WHERE parent_token_id = w.id AND state IN ('ACTIVE', 'WAITING')
        ORDER BY ordinal LIMIT 20
    ) b ORDER BY b.ordinal
"""
INNER = """
    SELECT w.id, b.id, b.node_id FROM unnest(%(tokens)s) AS w (id) CROSS JOIN LATERAL (
        SELECT id, node_id, ordinal FROM tokens WHERE scope_id = w.id AND state IN ('ACTIVE', 'WAITING')
        ORDER BY ordinal LIMIT 20
    ) b ORDER BY b.ordinal
"""
OPEN_TOKENS = """
    SELECT id FROM tokens WHERE instance_id = %(instance)s AND state IN ('ACTIVE', 'WAITING')
    ORDER BY ordinal LIMIT %(limit)s
"""
GATEWAYS = ("parallel", "inclusive", "complex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the way here."""

    at: datetime
    text: str
    commit_sequence: int

    def as_json(self) -> dict[str, Any]:
        """JSON values."""
        return {"at": self.at.isoformat(), "text": self.text, "commit_sequence": self.commit_sequence}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One thing that is waited for, and who or what can bring it."""

    text: str
    mover: str
    id: UUID | None = None

    def as_json(self) -> dict[str, Any]:
        """JSON values."""
        return {"text": self.text, "mover": self.mover, "id": None if self.id is None else str(self.id)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Of one token."""

    instance_id: UUID
    token_id: UUID
    node: str
    place: str
    state: str
    since: datetime
    came: tuple[Step, ...]
    waits: tuple[Wait, ...]

    def as_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "instance_id": str(self.instance_id),
            "token_id": str(self.token_id),
            "node": self.node,
            "place": self.place,
            "state": self.state,
            "since": self.since.isoformat(),
            "came": [step.as_json() for step in self.came],
            "waits_for": [wait.as_json() for wait in self.waits],
        }

    def as_text(self) -> str:
        """For people."""
        lines = [f"The token is at {self.place}, {self.state}, since {_time(self.since)}.", "", "How it came here:"]
        lines += [f"  {_time(step.at)}  {step.text} (commit {step.commit_sequence})" for step in self.came]
        lines += ["", "What it waits for:" if self.waits else "It waits for nothing: it has ended."]
        lines += [f"  {wait.text}; {wait.mover}" for wait in self.waits]
        return "\n".join(lines)


def explain(id: UUID) -> Explanation | None:
    """Explain a token, or the token on which the task, timer, ticket or incident of that id hangs.

    None where there is no such thing among the rows of now (an instance that has been swept away is for `trace`).
    """
    found = _all(HANGS_ON, {"id": id})
    explained = explain_tokens([found[0][0]]) if found else []
    return explained[0] if explained else None


def explain_tokens(tokens: Sequence[UUID]) -> list[Explanation]:
    """Explain tokens of one instance, in their order; those that there are none of are left out. However many they
    are, it is the same number of statements.
    """
    stand = {row[0]: row[1:] for row in _all(STANDS_AT, {"tokens": list(tokens)})}
    if not stand:
        return []
    came = _came(ids.instance_of(tokens[0]), list(stand))
    waiting = [token for token, (_node, state, *_rest) in stand.items() if state == "WAITING"]
    waits: dict[UUID, list[Wait]] = {token: [] for token in stand}
    nodes = definitions.load(next(iter(stand.values()))[-1]).graph.nodes
    for statement, say in WAITING if waiting else ():
        for token, *row in _all(statement, {"tokens": waiting}):
            if say in AT_NODES:
                row[1] = _place(row[1], nodes)
            waits[token].append(say(*row))
    explained = []
    for token in tokens:
        if token not in stand:
            continue
        node, state, since, instance_state, _definition = stand[token]
        drawn = nodes.get(node)
        explained.append(
            Explanation(
                instance_id=ids.instance_of(token),
                token_id=token,
                node=node,
                place=_place(node, nodes),
                state=state,
                since=since,
                came=tuple(came.get(token, ())),
                waits=tuple(_waits(state, instance_state, drawn.kind if drawn else None, waits[token])),
            )
        )
    return explained


def _place(node: str, nodes: Mapping[str, Node]) -> str:
    """What people call the node: its name in the diagram, else its id."""
    drawn = nodes.get(node)
    return " ".join(((drawn and drawn.name) or node).split())


def open_tokens(instance: UUID, limit: int = 50) -> list[UUID]:
    """The tokens of an instance that something still happens to, the oldest first."""
    return [row[0] for row in _all(OPEN_TOKENS, {"instance": instance, "limit": limit})]


def _came(instance: UUID, tokens: Sequence[UUID]) -> dict[UUID, list[Step]]:
    """The last steps of each of the tokens, the oldest first."""
    return {
        token: [Step(at=event.at, text=_told(event), commit_sequence=event.commit_sequence) for event in events]
        for token, events in last_of_tokens(instance, tokens, STEPS).items()
    }


TOLD: dict[str, str] = {
    "TOKEN_CREATED": "it appeared at {place}",
    "TOKEN_MOVED": "it went from {origin} to {place}",
    "TOKEN_FORKED": "it split at {place} into {number} branches",
    "TOKEN_JOINED": "the branches joined at {place}, and it went on",
    "TOKEN_COMPLETED": "it ended at {place}",
    "TOKEN_FAILED": "it failed at {place}",
    "TOKEN_CANCELLED": "it was cancelled at {place}",
}


def _told(event: TraceEvent) -> str:
    place = event.node_name or event.node or "the process"
    changed = "began to wait" if event.to_state == "WAITING" else "was woken"
    sentence = TOLD.get(event.type, f"it {changed} at {{place}}").format(
        place=place, origin=event.payload.get("origin") or "where it was", number=len(event.payload.get("flows", ()))
    )
    why = f", because of {event.reason}" if event.reason and event.reason != "none" else ""
    stated = f" ({event.stated_reason})" if event.stated_reason else ""
    return f"{sentence}{why}, by {event.actor}{stated}"


def _waits(state: str, instance_state: str, kind: str | None, found: Sequence[Wait]) -> Iterator[Wait]:
    if instance_state == "SUSPENDED":
        yield Wait(text=_("the instance to be resumed"), mover=_("an operator resumes it"))
    if state == "ACTIVE":
        yield Wait(text=_("the engine to advance it"), mover=_("the engine does, at once or by its schedulers"))
    if state != "WAITING":
        return
    yield from found
    if not found and kind in GATEWAYS:
        yield Wait(text=_("the other branches of the gateway"), mover=_("tokens that can still come here"))
    elif not found:
        yield Wait(text=_("what history does not say"), mover=_("see the trace of the instance"))


def _incident(id: UUID, kind: str, message: str) -> Wait:
    text = _("an operator: {message}").format(message=message or kind)
    return Wait(id=id, text=text, mover=_("an operator retries the incident"))


def _task(
    id: UUID,
    topic: str,
    state: str,
    worker: str | None,
    until: datetime | None,
    retries: int,
    retry_at: datetime | None,
) -> Wait:
    if state == "LOCKED":
        text = _("{worker} to finish {topic}").format(worker=worker, topic=topic)
        if until is None:
            return Wait(id=id, text=text, mover=_("{worker} holds the lock").format(worker=worker))
        mover = _("{worker} holds the lock until {until}").format(worker=worker, until=_time(until))
        return Wait(id=id, text=text, mover=mover)
    if retry_at is None:
        text = _("a worker for {topic}").format(topic=topic)
    else:
        text = _("a worker for {topic}, not before {moment}").format(topic=topic, moment=_time(retry_at))
    return Wait(id=id, text=text, mover=_("any worker of the topic; retries left: {retries}").format(retries=retries))


def _user_task(id: UUID, assignee: str | None, users: Any, groups: Any) -> Wait:
    if assignee:
        return Wait(id=id, text=_("a person"), mover=_("{user} completes the task").format(user=assignee))
    candidates = ", ".join([*_listed(users), *_listed(groups)])
    mover = _("one of {candidates} claims it").format(candidates=candidates) if candidates else _("anybody claims it")
    return Wait(id=id, text=_("a person"), mover=mover)


def _timer(id: UUID, node: str, fire_at: datetime) -> Wait:
    return Wait(id=id, text=f"{_time(fire_at)} ({node})", mover=_("the engine's timers"))


def _ticket(id: UUID, kind: str, name: str, correlation: str | None) -> Wait:
    said = _("the message {name} with the key {key}") if correlation else _("the message {name}")
    texts = {
        "MESSAGE": (said.format(name=name, key=correlation), _("whoever sends it")),
        "SIGNAL": (_("the signal {name}").format(name=name), _("whoever throws it")),
        "CALL": (_("the called process {name}").format(name=name), _("the called instance, when it ends")),
        "LOOP": (_("the rounds of its loop"), _("each round, when it ends")),
        "CONDITION": (_("a condition"), _("whoever sets a variable that makes it true")),
    }
    text, mover = texts.get(kind, (f"{kind.lower()} {name}", _("the engine")))
    return Wait(id=id, text=text, mover=mover)


def _branch(id: UUID, node: str) -> Wait:
    return Wait(
        id=id, text=_("its branch at {place}").format(place=node), mover=_("that branch, when it ends or joins")
    )


def _inner(id: UUID, node: str) -> Wait:
    text = _("what goes on in it, at {place}").format(place=node)
    return Wait(id=id, text=text, mover=_("that token, when it ends"))


WAITING: tuple[tuple[str, Callable[..., Wait]], ...] = (
    (INCIDENTS, _incident),
    (TASKS, _task),
    (USER_TASKS, _user_task),
    (TICKETS, _ticket),
    (TIMERS, _timer),
    (BRANCHES, _branch),
    (INNER, _inner),
)


# Of these the column after the id says a node.
AT_NODES = (_timer, _branch, _inner)


def _listed(value: Any) -> list[str]:
    """A JSON array, which a raw statement may give as text."""
    found = json.loads(value) if isinstance(value, str) else value
    return [str(item) for item in found or ()]


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _all(statement: str, arguments: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return cursor.fetchall()
