"""Carrying out an export: choose, read, mask, write, and say in a manifest what was written."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any, cast
from uuid import UUID

from bpm.audit import chain
from bpm.audit.export.lines import json_lines
from bpm.audit.export.masking import Mask, Masking
from bpm.audit.export.ocel import ocel
from bpm.audit.export.selection import Chosen, Selection, chosen
from bpm.audit.export.tables import csv_rows, parquet_rows
from bpm.audit.export.writing import Format, MissingLibrary
from bpm.audit.export.xes import xes
from bpm.audit.histories import LiveHistory, find_histories, find_history
from bpm.audit.places import Digesting, Place
from bpm.audit.statements import ask
from bpm.store import histories, schedule
from bpm.store.channel import Channel
from bpm.store.outside import outside
from bpm.store.reading import Logged
from bpm.store.values import dumps
from bpm.store.version import ENGINE

FORMATS: Mapping[str, Format] = {
    "csv": Format(suffix=".csv", about="a row an event", open=csv_rows, cases=False),
    "parquet": Format(suffix=".parquet", about="a row an event, typed columns", open=parquet_rows, cases=False),
    "jsonl": Format(suffix=".jsonl", about="a line a commit: bpm replay reads it", open=json_lines),
    "xes": Format(suffix=".xes", about="process mining, IEEE 1849", open=xes),
    "ocel": Format(suffix=".jsonocel", about="process mining, object-centric, OCEL 2.0", open=ocel),
}
MANIFEST = ".manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export came to; `manifest` is what lies beside the file."""

    name: str
    manifest: dict[str, Any]


@dataclass(slots=True)
class _Counts:
    instances: int = 0
    commits: int = 0
    events: int = 0
    lowest: int | None = None
    highest: int | None = None

    def commit(self, commit: Logged) -> None:
        self.commits += 1
        self.lowest = min(self.lowest or commit.sequence, commit.sequence)
        self.highest = max(self.highest or commit.sequence, commit.sequence)


def export(
    selection: Selection,
    format: str,
    to: Place,
    name: str,
    *,
    masking: Masking | None = None,
    actor: str,
    reason: str | None = None,
    advance: Callable[[int], None] = lambda events: None,
    rest: Callable[[int], None] = lambda events: None,
) -> Exported:
    """Write the file and its manifest; `advance` is told the number of events as they are written, `rest` after some
    instances how many there are so far (no transaction is open then).

    A name that ends in .gz or .zst is packed. Raises NothingSuch, MissingLibrary, OSError, PlaceError, KeyError for a
    format that there is none of; then no file is there.
    """
    form, masking, counts = FORMATS[format], masking or Masking(), _Counts()
    began = schedule.now()
    # Of both at once: where the manifest cannot be, the file is not either.
    with to.writing(name + MANIFEST) as beside, to.writing(name) as raw:
        digesting = Digesting(raw)
        with _packed(cast(IO[bytes], digesting), name) as file, form.open(file, selection) as writer:
            for page in chosen(selection):
                for events in _page(page, selection, masking, writer.add, counts):
                    counts.events += events
                    advance(events)
                rest(counts.events)
        manifest = {
            "tokentrail_export": 1,
            "engine": ENGINE,
            "format": format,
            "made_at": began.isoformat(),
            "made_by": actor,
            "reason": reason,
            "selection": selection.to_json(),
            "values": masking.to_json(),
            "instances": counts.instances,
            "commits": counts.commits,
            "events": counts.events,
            "file": {"name": name, "bytes": digesting.size, "sha256": digesting.hash},
            "seals": _seals(counts),
        }
        beside.write(dumps(manifest).encode() + b"\n")
    kept = {key: manifest[key] for key in ("format", "selection", "values", "instances", "events", "file")}
    with outside(None, "Export", kept | {"to": to.address}, actor=actor, reason=reason):
        pass
    return Exported(name=name, manifest=manifest)


def _page(
    page: list[Chosen],
    selection: Selection,
    masking: Masking,
    add: Callable[[LiveHistory], Iterator[int]],
    counts: _Counts,
) -> Iterator[int]:
    """Write some instances, as of one moment."""
    archived = {one.instance: one.archived for one in page}
    with histories.snapshot() as channel:
        for instance, history, _ in find_histories(list(archived), channel=channel):
            if history is None:
                continue
            if archived[instance]:
                commits = list(history.commits)
                if not any(map(selection.touches, commits)):
                    continue
                history = replace(history, commits=iter(commits))
            counts.instances += 1
            mask = _mask(instance, masking, channel)
            yield from add(replace(history, commits=_watched(history.commits, mask, counts)))


def _mask(instance: UUID, masking: Masking, channel: Channel) -> Mask:
    """What masks an instance. Its history is read once more: a value may stand elsewhere before it has its name."""
    mask = Mask(masking)
    if masking.names and not masking.everything and (history := find_history(instance, channel=channel)) is not None:
        mask.note(history.commits)
    return mask


def _watched(commits: Iterator[Logged], mask: Mask, counts: _Counts) -> Iterator[Logged]:
    for commit in commits:
        counts.commit(commit)
        yield mask.commit(commit)


@contextlib.contextmanager
def _packed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """The file, packed as its name says."""
    if name.endswith(".gz"):
        # No time in it: the same content is the same file.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(IO[bytes], packed)
    elif name.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise MissingLibrary("zstd needs zstandard: install tokentrail[archive]") from None
        with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as stream:
            yield cast(IO[bytes], stream)
    else:
        yield file


def _seals(counts: _Counts) -> dict[str, Any]:
    """Which seals hold what was exported; `to` is None where the last of it is not sealed yet."""
    head = chain.head()
    found = {"head": head.number, "hash": head.hash}
    if counts.lowest is None or counts.highest is None:
        return found
    first, last = (ask("sealed_by", {"sequence": sequence})[0][0] for sequence in (counts.lowest, counts.highest))
    return {"from": first, "to": last, **found}
