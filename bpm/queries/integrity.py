"""What is known of history's being whole: broken invariants that were noted, and the newest seals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from bpm.models import EngineEvent, Seal
from bpm.queries.paging import Count, Page, count_up_to, page

VIOLATION = "ENGINE_VIOLATION"
# For so many days a violation marks the cockpit red, as it counts in the metric.
LATELY = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that did not hold. `rule`: what should hold; `message`: what was found."""

    id: int
    at: datetime
    code: str
    rule: str
    message: str
    instance_id: UUID | None
    definition: str
    sequence: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealRow:
    """A link of the chain."""

    number: int
    epoch: int
    kind: str
    commits: int
    events: int
    state_commands: int
    last_sequence: int
    hash: str
    sealed_at: datetime


def list_violations(
    *, instance_id: UUID | None = None, after: str | None = None, size: int | None = None
) -> Page[Violation]:
    """Violations, those noted last first. Raises BadCursor."""
    rows = _violations()
    if instance_id is not None:
        rows = rows.filter(payload__contains={"instance": str(instance_id)})
    return page(rows, ("-at", "id"), _violation, after=after, size=size)


def violations_of_late() -> Count:
    """How many were noted in the last days, counted no further than a badge shows."""
    return count_up_to(_violations().filter(at__gt=timezone.now() - timedelta(days=LATELY)), 999)


def list_seals(*, after: str | None = None, size: int | None = None) -> Page[SealRow]:
    """Seals, the newest first. Raises BadCursor."""
    return page(Seal.objects.defer("leaves", "body", "tables"), ("-number",), _seal, after=after, size=size)


def _violations() -> Any:
    return EngineEvent.objects.filter(instance_id=None, event_type=VIOLATION)


def _violation(row: EngineEvent) -> Violation:
    said = row.payload
    return Violation(
        id=row.id,
        at=row.at,
        code=said.get("code", ""),
        rule=said.get("rule", ""),
        message=said.get("message", ""),
        instance_id=_uuid(said.get("instance")),
        definition=said.get("definition", ""),
        sequence=said.get("sequence"),
    )


def _uuid(text: Any) -> UUID | None:
    try:
        return UUID(text)
    except (TypeError, ValueError, AttributeError):
        return None


def _seal(row: Seal) -> SealRow:
    names = ("number", "epoch", "kind", "commits", "events", "state_commands", "last_sequence", "hash", "sealed_at")
    return SealRow(**{name: getattr(row, name) for name in names})
