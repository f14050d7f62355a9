"""Events of archived instances as the trace reads them: rows of the view of all events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from bpm.audit.archive import catalog
from bpm.store.values import dumps


@dataclass(frozen=True, slots=True)
class Archived:
    """What archives have of an instance."""

    definition_id: UUID | None
    started_at: datetime
    rows: list[dict[str, Any]]


def find_archived(instance: UUID) -> Archived | None:
    """The archived events of an instance; None where none of it is archived alone. OSError: an archive is not there."""
    parts = catalog.parts_with(instance)
    if not parts:
        return None
    commits, events = catalog.rows_of(instance, parts)
    own = [commit for commit in commits if commit["thread_id"] == str(instance)]
    first = min(own or commits, key=lambda commit: commit["sequence"])
    definition = first["process_def_id"]
    rows = [_row(event) for event in events]
    return Archived(UUID(definition) if definition else None, datetime.fromisoformat(first["at"]), rows)


def topics_of(rows: Iterable[dict[str, Any]]) -> dict[UUID, str]:
    """Topics by task."""
    return {row["entity_id"]: row["payload"]["topic"] for row in rows if row["event_type"] == "TASK_CREATED"}


def ordered(
    *sources: Iterable[dict[str, Any]], newest_first: bool, after: Sequence[int] | None
) -> Iterator[dict[str, Any]]:
    """The rows of several sources in order, each once, from a place on."""
    once = {(row["commit_sequence"], row["ordinal"], row["entity"]): row for rows in sources for row in rows}
    for place in sorted(once, reverse=newest_first):
        if after is None or (place[:2] < tuple(after) if newest_first else place[:2] > tuple(after)):
            yield once[place]


def _row(event: dict[str, Any]) -> dict[str, Any]:
    """As a statement gives it: times and ids as such, the value of a variable as JSON text."""
    found = event | {"at": datetime.fromisoformat(event["at"])}
    for name in ("entity_id", "token_id"):
        found[name] = UUID(event[name]) if event[name] else None
    if event["event_type"] == "VARIABLE_SET":
        found["value"] = dumps(event["value"])
    return found
