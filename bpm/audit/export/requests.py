"""Exports that are asked for and carried out later, by a worker, with progress: for those that take a while.

A request is a row; whoever takes it says from time to time that it lives, and a row whose taker has fallen silent is
taken anew. Files go to the folder or URL of the setting BPM_EXPORT_TO.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings

from bpm.audit.export.masking import Masking
from bpm.audit.export.running import FORMATS, export
from bpm.audit.export.selection import Selection, chosen
from bpm.audit.places import Place, place
from bpm.audit.statements import ask
from bpm.store import ids
from bpm.store.errors import KeyConflict
from bpm.store.values import dumps, loads

log = structlog.get_logger(__name__)

# Seconds between two signs of life, and after how many without one a request is taken anew.
SIGN = 2.0
SILENCE = 300.0
# Bytes of a file that are read at once.
PIECE = 64 * 1024


class NoPlace(RuntimeError):
    """The setting BPM_EXPORT_TO is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it stands. `events`: written so far."""

    id: UUID
    asked_by: str
    format: str
    selection: dict[str, Any]
    name: str
    state: str
    events: int
    manifest: dict[str, Any] | None
    error: str | None
    asked_at: datetime


def ask_export(
    selection: Selection,
    format: str,
    *,
    masking: Masking | None = None,
    packed: bool = True,
    actor: str,
    reason: str | None = None,
    key: str | None = None,
) -> Request:
    """Ask for an export; with the same key again it is the one that was asked for.

    Raises NothingSuch, KeyError for a format that there is none of, NoPlace, KeyConflict.
    """
    _place()
    next(iter(chosen(selection)), None)  # a definition or state that there is none of is refused at once
    id = ids.new_instance() if key is None else ids.derived(ids.NIL, "export", actor, key)
    suffix = FORMATS[format].suffix + (".gz" if packed and format != "parquet" else "")
    asked = {
        "id": id,
        "actor": actor,
        "reason": reason,
        "format": format,
        "selection": dumps(selection.to_json()),
        "masking": dumps((masking or Masking()).to_json()),
        "name": f"{id}{suffix}",
    }
    if not ask("add_export", asked) and not ask("is_export", asked):
        raise KeyConflict("the idempotency key was used for something else")
    return get_export(id)


def get_export(id: UUID) -> Request:
    """A request. KeyError where there is none."""
    rows = ask("export_request", {"id": id})
    if not rows:
        raise KeyError(f"there is no export {id}")
    return _request(rows[0])


def is_set_up() -> bool:
    """Whether there is a place that exports go to."""
    return bool(getattr(settings, "BPM_EXPORT_TO", None))


def read_file(export: Request) -> Iterator[bytes]:
    """The file of an export that is done, piece by piece. Raises NoPlace, FileNotFoundError at once, OSError later."""
    where = place(_place())
    if not where.exists(export.name):
        raise FileNotFoundError(f"{export.name} is not in {where.address}")
    return _pieces(where, export.name)


def _pieces(where: Place, name: str) -> Iterator[bytes]:
    with where.reading(name) as file:
        while piece := file.read(PIECE):
            yield piece


def list_exports(limit: int = 100) -> list[Request]:
    """The newest requests."""
    return [_request(row) for row in ask("export_requests", {"limit": limit})]


def run_waiting() -> dict[str, int]:
    """Carry out the oldest request that waits; for the schedule. One that fails is marked so, with why."""
    rows = ask("take_export", {"silence": SILENCE})
    if not rows:
        return {}
    id, actor, reason, format, selection, masking, name, version = rows[0]
    signs = _Signs(id, version)
    try:
        done = export(
            Selection.from_json(loads(selection)),
            format,
            place(_place()),
            name,
            masking=_masking(loads(masking)),
            actor=actor,
            reason=reason,
            rest=signs.give,
        )
    except Exception as problem:
        log.exception("export failed", export=str(id))
        signs.end("FAILED", error=f"{type(problem).__name__}: {problem}"[:2000])
        return {"exports_failed": 1}
    signs.end("DONE", manifest=done.manifest)
    return {"exports": 1}


class Overtaken(RuntimeError):
    """Somebody else has taken the request: this process was silent for too long."""


class _Signs:
    """Says that an export lives, and how far it is."""

    def __init__(self, id: UUID, version: int) -> None:
        self._id, self._version = id, version
        self._last = time.monotonic()
        self._events = 0

    def give(self, events: int) -> None:
        """So many events are written."""
        self._events = events
        if time.monotonic() - self._last >= SIGN:
            self._last = time.monotonic()
            self._update("RUNNING", None, None)

    def end(self, state: str, *, manifest: Mapping[str, Any] | None = None, error: str | None = None) -> None:
        """It is over."""
        if manifest is not None:
            self._events = manifest["events"]
        self._update(state, manifest, error)

    def _update(self, state: str, manifest: Mapping[str, Any] | None, error: str | None) -> None:
        asked = {
            "id": self._id,
            "version": self._version,
            "state": state,
            "done": self._events,
            "manifest": None if manifest is None else dumps(manifest),
            "error": error,
        }
        if not ask("sign_export", asked):
            raise Overtaken(f"export {self._id} was taken by somebody else")
        self._version += 1


def _place() -> str:
    found = getattr(settings, "BPM_EXPORT_TO", None)
    if not found:
        raise NoPlace("exports need the setting BPM_EXPORT_TO: a folder or a URL")
    return str(found)


def _masking(said: Mapping[str, Any]) -> Masking:
    return Masking(names=frozenset(said.get("masked", ())), everything=said.get("variables") == "left out")


def _request(row: tuple[Any, ...]) -> Request:
    id, actor, format, selection, name, state, done, manifest, error, at = row
    return Request(
        id=id,
        asked_by=actor,
        format=format,
        selection=loads(selection),
        name=name,
        state=state,
        events=done,
        manifest=None if manifest is None else loads(manifest),
        error=error,
        asked_at=at,
    )
