"""The relay: what instances tell each other, and what they were told from outside, brought to its receivers.

Delivery is a commit of the receiver, which carries the message's name; a second delivery is recognised and does
nothing. Then the sender's row is closed. Both may happen twice, in any process; a message that nobody takes yet stays
where it is. A receiver that is busy or suspended is asked again later: only one whose ticket is closed or which has
ended is done with.

Messages of one sender, name and keys go first in, first out: one is passed over while an earlier one waits. A signal
waits for an earlier one at each receiver by itself, so that one that stands still holds up nobody else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings

from bpm.engine.step import DETERMINISTIC, Refused, step
from bpm.engine.trying import ENGINE, given_up, in_words, report, too_often
from bpm.semantics import commands as c
from bpm.store import definitions, ids, outbox, schedule
from bpm.store.outbox import Pending
from bpm.store.outside import query
from bpm.store.records import CommitRecord, Incoming
from bpm.store.values import dumps

log = structlog.get_logger(__name__)

# How many receivers a message is tried with, and how many one signal reaches in one go.
CANDIDATES = 20
AUDIENCE = 10_000
# A process that calls itself for ever ends here, with an incident. Setting: BPM_DEEPEST_CALL.
DEEPEST_CALL = 5_000
# Refusals of a receiver that has gone on without the message.
PAST = frozenset({"duplicate", "wrong_state", "not_found", "not_running"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What was asked before a delivery (see `delivery_facts`)."""

    cause: int | None
    earlier_waits: bool
    definition: UUID | None
    ticket_open: bool
    call_waits: bool
    pending: bool
    overdue: bool
    taken_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: the receivers' commits, and whether the message is done with."""

    records: tuple[CommitRecord, ...] = ()
    done: bool = True


def deliver(message: Pending) -> list[CommitRecord]:
    """Bring a message to its receivers; the commits that this made. Raises nothing that a receiver refuses."""
    facts = _facts(message)
    if not facts.pending or facts.earlier_waits:
        return []
    if facts.taken_by is not None:
        outbox.delivered({message.id: [facts.taken_by]}, actor=ENGINE)
        return []
    outcome = DELIVER[message.kind](message, facts)
    if outcome.done:
        outbox.delivered({message.id: [record.thread_id for record in outcome.records]}, actor=ENGINE)
    return [record for record in outcome.records if not record.repeated]


def tickets(
    name: str,
    *,
    business_key: str | None = None,
    keys: list[str] | None = None,
    variables: dict[str, Any] | None = None,
    instance: UUID | None = None,
) -> list[tuple[UUID, int]]:
    """Who waits for that message: (instance, ticket), the oldest first (see `tickets_that_fit`)."""
    asked = {
        "name": name,
        "business_key": business_key,
        "keys": keys,
        "variables": dumps(variables or {}),
        "instance": instance,
        "limit": CANDIDATES,
    }
    return [(found, ticket) for found, ticket in query(None, "tickets_that_fit", asked)]


def _facts(message: Pending) -> Facts:
    ticket = message.body.get("ticket") if message.kind == "CALL" else None
    asked = {
        "id": message.id,
        "ticket": None if ticket is None else ids.entity(message.sender, ticket),
        "overdue": schedule.OVERDUE,
    }
    rows = query(None, "delivery_facts", asked)
    if not rows:
        return Facts(None, False, None, False, False, False, False)
    cause, earlier, definition, is_open, call_waits, state, overdue, taken_by = rows[0]
    waits = earlier and message.kind == "MESSAGE"
    return Facts(cause, waits, definition, bool(is_open), call_waits, state == "PENDING", overdue, taken_by)


def _call(message: Pending, facts: Facts) -> Outcome:
    """Start the called process, under the id that belongs to the ticket; or tell the caller why not."""
    if message.target is None or not facts.ticket_open:
        return Outcome()
    body = message.body
    caller = {"thread": str(message.sender), "ticket": body["ticket"], "wants": body["wants"]}
    depth, deepest = body.get("depth", 1), int(getattr(settings, "BPM_DEEPEST_CALL", DEEPEST_CALL))
    if depth > deepest:
        return _not_called(message, facts, f"calls go {depth} levels deep, and at most {deepest} are allowed")
    caller |= {"depth": depth} if depth > 1 else {}
    if _tried_too_often(message, facts, message.target, 0):
        return _not_called(message, facts, too_often("the process could not be started"))
    try:
        definition = _called(message, facts)
        record = step(
            message.target,
            lambda at: c.StartInstance(
                at=at,
                variables=body["variables"],
                business_key=body.get("business_key"),
                caller=caller,
                trigger="call",
            ),
            actor=ENGINE,
            cause=facts.cause,
            message=message.incoming(),
            definition=definition,
        )
    except Refused as refused:
        if refused.code == "busy":
            return Outcome(done=False)
        return _not_called(message, facts, refused.message)
    except DETERMINISTIC as fault:
        log.exception("process cannot be started", process=message.name, message=str(message.id))
        return _not_called(message, facts, in_words(fault))
    return Outcome((record,))


def _not_called(message: Pending, facts: Facts, why: str) -> Outcome:
    """The caller consumes the message in the called one's place."""
    ticket = message.body["ticket"]
    return _take(
        message.sender,
        ticket,
        message,
        facts,
        lambda at: c.CallReturned(at=at, ticket=ticket, outcome="refused", text=why, message=_name(message)),
        message.incoming(),
    )


def _called(message: Pending, facts: Facts) -> UUID:
    """The definition that a call means. Raises Refused."""
    body, key = message.body, message.name
    binding, said = body["binding"], body.get("version")
    found = None
    if binding == "version":
        if said is None or not str(said).isdecimal():
            raise Refused(f"{said!r} is no version of the process {key}", code="invalid")
        found = definitions.find(key, version=int(said))
    elif binding == "version_tag":
        found = definitions.find(key, version_tag=str(said))
    elif binding == "deployment" and facts.definition is not None:
        found = definitions.find_deployed_with(facts.definition, key)
    else:
        found = definitions.find(key)
    if found is None:
        which = "" if binding == "latest" else f" ({binding.replace('_', ' ')}{'' if said is None else f' {said}'})"
        raise Refused(f"there is no process {key}{which}", code="not_found")
    return found


def _result(message: Pending, facts: Facts) -> Outcome:
    body = message.body
    return _to_caller(message, facts, lambda at: c.CallReturned(
        at=at,
        ticket=body["caller"]["ticket"],
        outcome=body["outcome"],
        variables=body["variables"],
        code=body.get("code"),
        text=body.get("message") or body.get("text") or "",
        message=_name(message),
    ))  # fmt: skip


def _escalation(message: Pending, facts: Facts) -> Outcome:
    body = message.body
    return _to_caller(message, facts, lambda at: c.CallEscalated(
        at=at,
        ticket=body["caller"]["ticket"],
        code=body["code"],
        variables=body["variables"],
        returned=body.get("returned", {}),
        message=_name(message),
    ))  # fmt: skip


def _cancel(message: Pending, facts: Facts) -> Outcome:
    if message.target is None:
        return Outcome()
    if facts.call_waits:
        return Outcome(done=False)  # what is to be cancelled is only just about to be started
    text = "the calling activity was interrupted"

    def cancel(at: datetime) -> c.Command:
        return c.CancelInstance(at=at, text=text, message=_name(message))

    return _take(message.target, 0, message, facts, cancel, message.incoming())


def _to_caller(message: Pending, facts: Facts, make: Callable[[datetime], c.Command]) -> Outcome:
    """What a called instance says goes to the ticket of its call."""
    caller = message.body["caller"]
    return _take(UUID(caller["thread"]), caller["ticket"], message, facts, make, message.incoming())


def _take(
    receiver: UUID,
    ticket: int,
    message: Pending,
    facts: Facts,
    make: Callable[[datetime], c.Command],
    incoming: Incoming,
) -> Outcome:
    """A step of the receiver, at its ticket (0: none). Done with, where it takes it or is past it; where it cannot, it
    gets an incident, and the message waits.
    """
    if _tried_too_often(message, facts, receiver, ticket):
        _report(message, receiver, ticket, too_often("the message could not be taken"))
        return Outcome(done=False)
    try:
        record = step(receiver, make, actor=ENGINE, cause=facts.cause, message=incoming)
    except Refused as refused:
        log.debug("not taken", instance=str(receiver), code=refused.code)
        return Outcome(done=_past(refused))
    except DETERMINISTIC as fault:
        log.exception("message cannot be taken", instance=str(receiver), message=str(message.id))
        _report(message, receiver, ticket, in_words(fault))
        return Outcome(done=False)
    return Outcome((record,))


def _tried_too_often(message: Pending, facts: Facts, receiver: UUID, ticket: int) -> bool:
    """Whether a message that is here for long has been given up for this receiver (it has an incident, or is to get
    one), or the receiver is suspended.
    """
    if not facts.overdue:
        return False
    token, _, not_now = _place(receiver, ticket)
    return not_now or given_up("message", message.id, instance=receiver, token=token, since=message.created_at)


def _report(message: Pending, receiver: UUID, ticket: int, text: str) -> None:
    token, node, not_now = _place(receiver, ticket)
    if node is not None and not not_now:
        report(receiver, token, f"{message.kind.lower()} {message.name}: {text}", beside=node)


def _place(receiver: UUID, ticket: int) -> tuple[int, str | None, bool]:
    """The token and event of a ticket, and whether nothing is brought there now."""
    rows = query(None, "waiting_place", {"ticket": ids.entity(receiver, ticket)}) if ticket else []
    return (ids.ordinal(rows[0][0]), rows[0][1], rows[0][2]) if rows else (0, None, False)


def _message(message: Pending, facts: Facts) -> Outcome:
    """To the oldest ticket that fits, else to a process that starts with it; else it waits."""
    keys = [] if message.correlation is None else [message.correlation]
    for instance, ticket in tickets(message.name, business_key=message.business_key, keys=keys):
        outcome = _correlate(instance, ticket, message, facts, message.incoming())
        if outcome.records or not outcome.done:
            return outcome
    for begun in schedule.starts_named("MESSAGE", message.name)[:1]:
        return _begin(begun, message, facts, ids.derived_instance("message", message.id), "message")
    return Outcome(done=False)


def _signal(message: Pending, facts: Facts) -> Outcome:
    """To every ticket and every process that starts with it, as they were open when it was thrown. Done with when each
    of them has heard it or is past it.
    """
    audience = query(None, "audience", {"id": message.id, "limit": AUDIENCE})
    outcomes = [Outcome(done=len(audience) < AUDIENCE)]
    for instance, ticket, hears in audience:
        if hears:
            outcomes.append(_correlate(instance, ticket, message, facts, message.incoming(ticket)))
        else:
            outcomes.append(Outcome(done=False))
    for begun in schedule.starts_named("SIGNAL", message.name, at=message.created_at):
        outcomes.append(_begin(begun, message, facts, ids.derived_instance("signal", message.id, begun.id), "signal"))
    records = [record for outcome in outcomes for record in outcome.records]
    return Outcome(tuple(records), all(outcome.done for outcome in outcomes))


def _correlate(instance: UUID, ticket: int, message: Pending, facts: Facts, incoming: Incoming) -> Outcome:
    """The ticket's instance takes the message, or does not wait any more; not done with where it may take it later."""
    variables = message.body.get("variables", {})

    def correlate(at: datetime) -> c.Command:
        return c.Correlate(at=at, ticket=ticket, variables=variables, message=_name(message))

    return _take(instance, ticket, message, facts, correlate, incoming)


def _begin(begun: schedule.NamedStart, message: Pending, facts: Facts, instance: UUID, trigger: str) -> Outcome:
    """Start an instance by a message or signal, under the id that belongs to both."""
    if _tried_too_often(message, facts, instance, 0):
        return Outcome(done=False)
    try:
        record = step(
            instance,
            lambda at: c.StartInstance(
                at=at,
                node=begun.node,
                variables=message.body.get("variables", {}),
                business_key=message.business_key,
                trigger=trigger,
            ),
            actor=ENGINE,
            cause=facts.cause,
            # One signal starts many: then the instance's id alone tells that it has been there.
            message=None if message.many else message.incoming(),
            key=f"message/{message.id}" if message.many else None,
            definition=begun.definition_id,
        )
    except Refused as refused:
        if refused.code != "duplicate":
            log.warning("cannot be started by a message", process=begun.key, why=refused.message)
        return Outcome(done=not _later(refused))
    except DETERMINISTIC:
        log.exception("cannot be started by a message", process=begun.key, message=str(message.id))
        return Outcome(done=False)  # it may, with another version; else it expires
    return Outcome((record,))


def _later(refused: Refused) -> bool:
    """Whether the receiver may take it at another time: it (or what it would be of) is suspended, or was busy."""
    return refused.code in ("busy", "suspended") or (refused.code == "not_running" and "SUSPENDED" in refused.message)


def _past(refused: Refused) -> bool:
    """Whether the receiver will never take it: it has it, its ticket is closed, or it has ended."""
    return refused.code in PAST and not _later(refused)


def _name(message: Pending) -> dict[str, Any]:
    return {"sender": str(message.sender), "version": message.version, "ordinal": message.ordinal}


DELIVER: dict[str, Callable[[Pending, Facts], Outcome]] = {
    "CALL": _call,
    "RESULT": _result,
    "ESCALATION": _escalation,
    "CANCEL": _cancel,
    "MESSAGE": _message,
    "SIGNAL": _signal,
}
