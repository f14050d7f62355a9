"""Messages and signals from outside.

`correlate` reaches somebody now or is refused; `publish` leaves a message that waits for its receiver, for as long as
its time to live; `throw_signal` reaches all who wait now. A message inside a process is for the relay.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from bpm.engine.acting import KeyConflict, Refused, act, act_outside, bounded, given_reason, named
from bpm.engine.errors import NotFound
from bpm.engine.follow import follow_messages
from bpm.engine.relay import tickets
from bpm.engine.variables import checked
from bpm.expressions.typed import text_of
from bpm.semantics import commands as c
from bpm.store import ids, outbox, receipts, schedule
from bpm.store.channel import Channel
from bpm.store.ids import NIL
from bpm.store.outbox import Published
from bpm.store.outside import query
from bpm.store.receipts import Done
from bpm.store.records import CommitRecord, Incoming
from bpm.store.values import loads

# A published message waits this long when nothing is said, and at most so long.
LIVE_SECONDS = 3_600.0
LONGEST_LIFE = 366 * 86_400.0


def correlate(
    name: str,
    *,
    actor: str,
    business_key: str | None = None,
    correlation: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
    instance: UUID | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """Bring a message to who waits for it, now: the oldest ticket that fits, else a process that starts with it.

    It fits by business key, and by `correlation`: one of its values is the ticket's correlation key, or, where the
    ticket has none, all are values of process variables. With an idempotency `key` it is taken once.

    Out: the receiver's commit. Raises NotFound where nobody waits, Invalid, InvalidVariables, Refused.
    """
    named(name, "name")
    brought, asked = checked(variables), checked(correlation, what="correlation")
    called = None if business_key is None else named(business_key, "business_key")
    incoming = content = None
    if key is not None:
        incoming = _named_by(actor, key, name)
        content = receipts.content_of(["correlate", name, called, asked, brought, str(instance or "")])
        if (before := _received(incoming, actor, key, content)) is not None:
            return before
    by: dict[str, Any] = {"actor": actor, "reason": reason, "message": incoming, "key": key, "content": content}
    keys = [text_of(value) or str(value) for value in asked.values()] or None
    for found, ticket in tickets(name, business_key=called, keys=keys, variables=asked, instance=instance):
        record = _take(found, ticket, brought, by)
        if record is not None:
            return record
    if incoming is not None and (before := _received(incoming, actor, key, content)) is not None:
        # A commit whose answer was lost was still on its way when the receipt was looked for: it took the ticket.
        return before
    starts = schedule.starts_named("MESSAGE", name) if instance is None else []
    if starts:
        node, definition = starts[0].node, starts[0].definition_id
        return act(
            ids.new_instance() if incoming is None else incoming.sender,
            lambda at: c.StartInstance(at=at, node=node, variables=brought, business_key=called, trigger="message"),
            definition=definition,
            **by,
        )
    raise NotFound(f"nobody waits for the message {name}, and no process starts with it")


def publish(
    name: str,
    *,
    actor: str,
    business_key: str | None = None,
    correlation_key: str | None = None,
    variables: Mapping[str, Any] | None = None,
    ttl: float = LIVE_SECONDS,
    reason: str | None = None,
    key: str | None = None,
) -> Published:
    """Leave a message for who waits for it now or within `ttl` seconds. It changes no instance, so it is allowed in any
    transaction; with an idempotency `key` the same actor publishes it once.

    Raises Invalid, InvalidVariables, KeyConflict.
    """
    body = {"variables": checked(variables)}
    said = {
        "correlation": None if correlation_key is None else named(correlation_key, "correlation_key"),
        "business_key": None if business_key is None else named(business_key, "business_key"),
    }
    return _publish("MESSAGE", name, body, said, actor=actor, reason=reason, key=key, live_seconds=_life(ttl))


def throw_signal(
    name: str,
    *,
    actor: str,
    variables: Mapping[str, Any] | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> Published:
    """Throw a signal to every ticket that waits for it now and every process that starts with it.

    Raises Invalid, InvalidVariables, KeyConflict.
    """
    body = {"variables": checked(variables)}
    return _publish("SIGNAL", name, body, {}, actor=actor, reason=reason, key=key, live_seconds=None)


def _publish(
    kind: str,
    name: str,
    body: dict[str, Any],
    said: dict[str, str | None],
    *,
    actor: str,
    reason: str | None,
    key: str | None,
    live_seconds: float | None,
) -> Published:
    named(name, "name")
    named(actor, "actor")
    stated = given_reason(reason)
    published: list[Published] = []

    def publish(channel: Channel | None) -> Done:
        made = outbox.publish(
            kind, name, body, actor=actor, many=kind == "SIGNAL", live_seconds=live_seconds, reason=stated, key=key,
            correlation=said.get("correlation"), business_key=said.get("business_key"), channel=channel,
        )  # fmt: skip
        published[:] = [made]
        return Done(made.sequence, {"id": str(made.id), "at": made.at.isoformat()})

    asked = {"verb": "publish", "kind": kind, "name": name, "body": body, "live_seconds": live_seconds, **said}
    done = act_outside(actor, key, asked, publish)
    if done is not None and done.repeated:
        return Published(
            id=UUID(done.result["id"]), sequence=done.sequence, at=datetime.fromisoformat(done.result["at"])
        )
    follow_messages(NIL, published[0].sequence)
    return published[0]


def _take(instance: UUID, ticket: int, variables: dict[str, Any], by: dict[str, Any]) -> CommitRecord | None:
    """The ticket's instance takes the message; None where somebody else was faster. `by`: who sends it, as `act` takes
    it.
    """
    incoming: Incoming | None = by["message"]
    message = {} if incoming is None else incoming.to_json()

    def command(at: datetime) -> c.Command:
        return c.Correlate(at=at, ticket=ticket, variables=variables, message=message)

    try:
        return act(instance, command, **by)
    except (NotFound, Refused) as refused:
        if refused.code in ("not_found", "wrong_state", "duplicate", "not_running"):
            return None
        raise


def _named_by(actor: str, key: str, name: str) -> Incoming:
    """An actor's key as the name of a message: what is received under it is received once."""
    sender = ids.derived_instance("correlate", named(actor, "actor"), named(key, "key"))
    return Incoming(sender=sender, version=1, ordinal=1, kind="MESSAGE", name=name)


def _received(incoming: Incoming, actor: str, key: str | None, content: str | None) -> CommitRecord | None:
    """What was taken under that key before: from its receipt, or when that has expired from the receiver's row."""
    asked = {"sender": incoming.sender, "version": incoming.version, "ordinal": incoming.ordinal}
    rows = query(None, "received_by", asked | {"actor": actor, "key": key})
    if not rows:
        return None
    thread, version, at, kept, result = rows[0]
    if kept is None:
        return CommitRecord(
            sequence=0, thread_id=thread, version=version, run_id=NIL, at=at, command="Correlate", repeated=True
        )
    if kept != content:
        raise KeyConflict("the idempotency key was used for another message")
    return CommitRecord.from_result(loads(result), repeated=True)


def _life(ttl: float) -> float:
    return bounded(ttl, "ttl", LONGEST_LIFE)
