"""What cannot be done blocks nothing else and becomes an incident.

A fault of a step that no later try would be spared (DETERMINISTIC) is reported at once. Whatever else fails is left to
the next round. What is overdue must have failed before, maybe with the process that tried it: so history notes each try
(ENGINE_RECOVERY) before it is made, and after TRIES of them it is reported instead.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import structlog

from bpm.engine.step import DETERMINISTIC, Refused, step
from bpm.semantics.commands import ReportIncident
from bpm.store import schedule
from bpm.store.records import CommitRecord

log = structlog.get_logger(__name__)

ENGINE = "engine"
# How often something overdue is tried before it is given up.
TRIES = 5
TEXT_LIMIT = 2_000


def given_up(kind: str, id: UUID, *, instance: UUID, token: int, since: datetime) -> bool:
    """Note that something overdue is to be tried; True where it was tried often enough and must not be."""
    return schedule.note_try(kind, id, instance=instance, token=token, since=since, most=TRIES) >= TRIES


def too_often(what: str) -> str:
    """What the incident says of something that was given up."""
    return f"{what} in {TRIES} tries: each time the process ended, or the database did not take it"


def in_words(fault: BaseException) -> str:
    """A fault as an incident says it."""
    return f"{type(fault).__name__}: {fault}"[:TEXT_LIMIT].replace("\x00", "")


def report(
    instance: UUID, token: int, text: str, *, beside: str | None = None, cause: int | None = None
) -> CommitRecord | None:
    """Open an incident: of an ACTIVE token, or `beside` an event that came and could not be taken. None where there is
    one already or nothing waits any more, and where not even this can be done.
    """
    try:
        return step(
            instance,
            lambda at: ReportIncident(at=at, token=token, text=text, beside=beside),
            actor=ENGINE,
            cause=cause,
        )
    except Refused as refused:
        log.debug("not reported", instance=str(instance), token=token, why=refused.message)
    except DETERMINISTIC:
        log.exception("not even an incident can be opened", instance=str(instance), token=token)
    return None
