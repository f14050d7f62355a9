"""The document of a commit: everything that one flush writes, made of the events decided and the entities touched."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from bpm.semantics import Decided
from bpm.semantics.commands import Command
from bpm.semantics.events import FORMAT
from bpm.semantics.later import locks_given
from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import State
from bpm.store import arguments, history_rows, ids
from bpm.store.records import Incoming
from bpm.store.rows import to_row
from bpm.store.version import ENGINE


def document(
    thread: UUID,
    command: Command,
    decided: Decided,
    after: State,
    *,
    run: UUID,
    run_number: int,
    new_run: bool = False,
    definition: UUID,
    actor: str,
    reason: str | None = None,
    key: str | None = None,
    content: str | None = None,
    cause: int | None = None,
    message: Incoming | None = None,
    foreseen: bool = False,
) -> dict[str, Any]:
    """The document that `bpm_flush` takes. `after` is the sealed state, `content` the hash of a command with a key,
    `new_run` says that it opens the run. What was `foreseen` gets its time from the database, and so do the locks that
    it gives.
    """
    instance = after.instances[0]
    found: dict[str, Any] = {
        "thread": str(thread),
        "run": str(run),
        "version": after.version,
        "definition": str(definition),
        "at": None if foreseen else moment(command.at),
        "command": type(command).__name__,
        "arguments": arguments.encode(command, decided.events),
        "actor": actor,
        "stated_reason": reason,
        "key": key,
        "caused_by": cause,
        "counters": {"entity": after.counter, "run": run_number},
        "engine_version": ENGINE,
        "format": FORMAT,
        "events": len(decided.events),
        "state": instance.state,
        "ended": is_final("instance", instance.state),
        "new_run": new_run,
    }
    for kind, entity_key in decided.state.touched:
        found.setdefault(kind, []).append(to_row(thread, kind, after.table(kind)[entity_key]))
    found |= history_rows.to_rows(thread, decided.events, after)
    sent = history_rows.messages(thread, decided.events)
    if sent:
        found["message"] = sent
    if message is not None:
        found["received"] = message.row(thread)
    for place, lasting in locks_given(decided.events, command.at).items() if foreseen else ():
        lasts = lasting // timedelta(microseconds=1)
        given = decided.events[place]
        found["task"] = [row | {"lasts": lasts} if row["ordinal"] == given.id else row for row in found["task"]]
        told = found["external_task_events"]
        found["external_task_events"] = [row | {"lasts": lasts} if row["ordinal"] == place else row for row in told]
    if key is not None:
        found["receipt"] = {"id": str(ids.derived(thread, "receipt", actor, key)), "content": content}
    return found


def moment(at: datetime) -> str:
    """A time as PostgreSQL reads it back without loss."""
    return at.isoformat()
