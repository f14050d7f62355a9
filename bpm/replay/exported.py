"""Exported histories: a file of JSON Lines that replays without a database.

    {"history": 1, ...}                                    the head: the version of this form
    {"definition": ID, "key": KEY, "version": 1, "graph": {...}}       before its first instance
    {"definition": ID, "key": KEY, "version": 1, "decisions": {...}}   a decision, before the first that evaluates it
    {"instance": UUID, "definition": ID, "sequence": 7, "version": 3, "command": ..., "format": 1, "events": [...]}

A line a commit, in the order of the log; the lines of an instance stand together. A commit names the format of its
events' payloads, so that files of every released version are read for ever (`upcast`). Keys beyond these are for people
and other programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, groupby
from typing import Any

from bpm.decisions import Evaluator
from bpm.decisions import from_json as decisions_from_json
from bpm.graph import Process, from_json
from bpm.replay.history import Recorded
from bpm.replay.upcast import UnknownFormat

# The form of the file itself; raised when a line is written otherwise.
FORM = 1

type Numbered = tuple[int, Mapping[str, Any]]


class UnreadableHistory(Exception):
    """A line that is no part of an exported history; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One instance of a file. `commits` is read as it is iterated, and is lost when the next instance is asked for.

    `library` holds the decisions of the file by the id of their definition, `others` its processes, for instances that
    were migrated.
    """

    instance: str
    key: str
    version: int | None
    process: Process
    commits: Iterator[Recorded]
    library: Mapping[str, Evaluator] = field(default_factory=dict)
    others: Mapping[str, Process] = field(default_factory=dict)


def head(**said: Any) -> dict[str, Any]:
    """The first line of a file."""
    return {"history": FORM, **said}


def definition(id: str, key: str, version: int | None, graph: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a definition; `graph` is `bpm.graph.to_json`'s."""
    return {"definition": id, "key": key, "version": version, "graph": dict(graph)}


def decision(id: str, key: str, version: int | None, decisions: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a decision's definition; `decisions` is `bpm.decisions.to_json`'s."""
    return {"definition": id, "key": key, "version": version, "decisions": dict(decisions)}


def commit(instance: str, definition: str, recorded: Recorded, *, format: int, **said: Any) -> dict[str, Any]:
    """The line of a commit. `said`: what else is known of it."""
    return {"instance": instance, "definition": definition, "format": format, **recorded.to_json(), **said}


def read_histories(lines: Iterable[str]) -> Iterator[History]:
    """The instances of a file, in its order. Raises UnreadableHistory, also while commits are iterated."""
    processes: dict[str, tuple[str, int | None, Process]] = {}
    library: dict[str, Evaluator] = {}
    for instance, group in groupby(_commits(lines, processes, library), key=lambda numbered: numbered[1]["instance"]):
        rest = iter(group)
        number, first = next(rest)
        known = processes.get(first.get("definition", ""))
        if known is None:
            raise UnreadableHistory(f"line {number}: there is no definition {first.get('definition')} before it")
        key, version, process = known
        commits = _recorded((number, first), rest)
        yield History(
            instance=instance, key=key, version=version, process=process, commits=commits, library=library,
            others=_Others(processes),
        )  # fmt: skip


class _Others(Mapping[str, Process]):
    """The processes of the file, also those that are met later."""

    def __init__(self, processes: Mapping[str, tuple[str, int | None, Process]]) -> None:
        self._processes = processes

    def __getitem__(self, id: str) -> Process:
        return self._processes[id][2]

    def __iter__(self) -> Iterator[str]:
        return iter(self._processes)

    def __len__(self) -> int:
        return len(self._processes)


# Made once: reading a line takes less time than making what reads it.
_DECODER = json.JSONDecoder(parse_float=Decimal)


def _commits(
    lines: Iterable[str], processes: dict[str, tuple[str, int | None, Process]], library: dict[str, Evaluator]
) -> Iterator[Numbered]:
    """The lines of commits; definitions on the way are kept."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = _DECODER.decode(line)
        except ValueError as problem:
            raise UnreadableHistory(f"line {number}: {problem}") from None
        match found:
            case {"instance": str(), "events": list()}:
                yield number, found
            case {"definition": str(id), "key": str(key), "graph": dict(graph)}:
                try:
                    processes[id] = (key, found.get("version"), from_json(graph))
                except (AttributeError, KeyError, TypeError, ValueError) as problem:
                    raise UnreadableHistory(f"line {number}: no graph of this version: {problem!r}") from None
            case {"definition": str(id), "key": str(), "decisions": dict(decisions)}:
                try:
                    library[id] = Evaluator(decisions_from_json(decisions))
                except ValueError as problem:
                    raise UnreadableHistory(f"line {number}: no decisions of this version: {problem}") from None
            case {"history": form}:
                if form != FORM:
                    raise UnreadableHistory(f"line {number}: a file of form {form}; form {FORM} can be read")
            case _:
                raise UnreadableHistory(f"line {number}: neither a definition nor a commit of a history")


def _recorded(first: Numbered, rest: Iterator[Numbered]) -> Iterator[Recorded]:
    for number, line in chain((first,), rest):
        try:
            yield Recorded.from_json(line, format=line["format"])
        except UnknownFormat as problem:
            raise UnreadableHistory(f"line {number}: {problem}") from None
        except (KeyError, TypeError, ValueError) as problem:
            raise UnreadableHistory(f"line {number}: no commit: {problem!r}") from None
