"""What comes from outside: messages, signals, and variables that conditional start events look at."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from bpm.api.answers import caller_of, commit, key_of
from bpm.api.authentication import may
from bpm.api.schemas.given import ConditionsIn, CorrelateIn, MessageIn, SignalIn
from bpm.api.schemas.told import CommitOut, PublishedOut
from bpm.engine import conditions, messages

router = Router()


@router.post("/messages", response={202: PublishedOut}, auth=may("operate"))
def publish(request: HttpRequest, given: MessageIn) -> Any:
    """Leave a message for who waits for it now or within `ttl` seconds."""
    published = messages.publish(
        given.name,
        actor=caller_of(request).name,
        business_key=given.business_key,
        correlation_key=given.correlation_key,
        variables=given.variables,
        ttl=given.ttl,
        reason=given.reason,
        key=key_of(request),
    )
    return Status(202, published)


@router.post("/messages/correlate", response=CommitOut, auth=may("operate"))
def correlate(request: HttpRequest, given: CorrelateIn) -> Any:
    """Bring a message to who waits for it now, or start the process that begins with it; 404 where nobody does."""
    record = messages.correlate(
        given.name,
        actor=caller_of(request).name,
        business_key=given.business_key,
        correlation=given.correlation,
        variables=given.variables,
        instance=given.instance_id,
        reason=given.reason,
        key=key_of(request),
    )
    return commit(record)


@router.post("/signals", response={202: PublishedOut}, auth=may("operate"))
def throw_signal(request: HttpRequest, given: SignalIn) -> Any:
    """Throw a signal to all who wait for it now and to every process that starts with it."""
    published = messages.throw_signal(
        given.name,
        actor=caller_of(request).name,
        variables=given.variables,
        reason=given.reason,
        key=key_of(request),
    )
    return Status(202, published)


@router.post("/conditions/evaluate", response=list[CommitOut], auth=may("operate"))
def evaluate_conditions(request: HttpRequest, given: ConditionsIn) -> Any:
    """Start an instance at every conditional start event whose condition holds with these variables."""
    records = conditions.evaluate_conditions(
        given.variables,
        actor=caller_of(request).name,
        process=given.process,
        business_key=given.business_key,
        reason=given.reason,
        key=key_of(request),
    )
    return [commit(record) for record in records]
