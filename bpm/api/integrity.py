"""Whether history is whole: seals, archives, invariants that did not hold."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router

from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.told import ArchiveOut, PageOut, SealsOut, VerifiedOut, ViolationOut
from bpm.audit import chain, sealing
from bpm.audit.archive import catalog
from bpm.audit.shortly import verify_within
from bpm.queries import integrity

router = Router()

# So long a request verifies.
SECONDS = 25.0


@router.get("/seals", response=SealsOut, auth=may("view"))
def list_seals(request: HttpRequest, after: str | None = None, size: int = Query(50, ge=1, le=200)) -> Any:
    """The chain's head, how far it is behind the present, and a page of seals, the newest first."""
    page = integrity.list_seals(after=after, size=size)
    head, behind = chain.head(), sealing.delay()
    return {
        "head": None if head.sealed_at is None else head,
        "delay_seconds": behind.seconds,
        "oldest_transaction_seconds": behind.oldest_transaction,
        "items": page.items,
        "after": page.after,
    }


@router.post("/seals/verify", response=VerifiedOut, auth=may("audit"))
def verify(request: HttpRequest) -> Any:
    """Recompute the whole chain from the rows as they are now. What takes too long for a request is refused:
    `manage.py bpm verify-seals` takes its time.
    """
    found = verify_within(SECONDS)
    if found is None:
        raise Problem("takes_too_long", f"reading all that is sealed takes longer than {SECONDS:.0f} s")
    return {"seals": found.seals, "rows": found.rows, "intact": not found.findings, "findings": found.findings}


@router.get("/archives", response=list[ArchiveOut], auth=may("view"))
def list_archives(request: HttpRequest) -> Any:
    """The months that were archived: where their files are, how many rows are in them and how many stayed."""
    return [archived(part) for part in catalog.parts()]


@router.get("/violations", response=PageOut[ViolationOut], auth=may("view"))
def list_violations(
    request: HttpRequest,
    instance_id: UUID | None = None,
    after: str | None = None,
    size: int = Query(50, ge=1, le=200),
) -> Any:
    """Invariants that did not hold, those noted last first."""
    return integrity.list_violations(instance_id=instance_id, after=after, size=size)


def archived(part: catalog.Part) -> dict[str, Any]:
    """An archived part for people: its counts without the places of its blocks."""
    tables = part.manifest["tables"]
    return {
        "month": part.month,
        "part": part.part,
        "address": part.address,
        "format": part.format,
        "rows": {name: table["rows"] for name, table in tables.items()},
        "stayed": part.kept,
    }
