"""Many histories, however long: instances by pages, and of each its commits by pages, all of one snapshot if wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from bpm.replay import upcast
from bpm.semantics import State
from bpm.store import ids
from bpm.store.arguments import decode
from bpm.store.channel import Channel, django_channel
from bpm.store.history_rows import to_event
from bpm.store.outside import query
from bpm.store.reading import Logged
from bpm.store.rows import to_state
from bpm.store.values import loads, moment

# Commits read at once; what an instance holds at a time does not grow with its history.
PAGE = 500
# Before the first page of a history.
BEGINNING = (0, -1)
_LAST = (1 << 63) - 1
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
# Pages of the table of threads that a sample of so many instances is taken from are about so many times more.
_SURPLUS = 3.0


@contextlib.contextmanager
def snapshot(channel: Channel | None = None) -> Iterator[Channel]:
    """Everything read in the block is of one moment. In a caller's transaction it is of that one."""
    channel = channel or django_channel()
    if channel.joined:
        yield channel
        return
    channel.send(("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", None))
    try:
        yield channel
    finally:
        with contextlib.suppress(Exception):
            channel.send(("ROLLBACK", None))


def started(thread: UUID, *, channel: Channel | None = None) -> datetime | None:
    """The time of the instance's first commit that is still in the database; None where there is none."""
    at: datetime | None = query(channel, "start_of_thread", {"thread": thread})[0][0]
    return at


def beginning(thread: UUID, *, channel: Channel | None = None) -> Logged | None:
    """The commit that started the instance; None where there is none in the database (any more)."""
    since = started(thread, channel=channel)
    if since is None:
        return None
    asked: dict[str, Any] = {"thread": thread, "since": since}
    commits = _read(channel, "own_commits", asked | {"after": 0, "limit": 1})
    if not commits or commits[0]["version"] != 1:
        return None
    events = _read(channel, "events_between", asked | {"after": -1, "until": commits[0]["sequence"]})
    return next(assemble(thread, commits, events))


def stream_history(thread: UUID, since: datetime, *, channel: Channel | None = None) -> Iterator[Logged]:
    """The instance's commits in order, each with its events, locks at their place; one page is held at a time."""
    after: tuple[int, int] | None = BEGINNING
    while after is not None:
        page, after = history_page(thread, since, after, channel=channel)
        yield from page


def history_page(
    thread: UUID, since: datetime, after: tuple[int, int], *, channel: Channel | None = None
) -> tuple[Iterator[Logged], tuple[int, int] | None]:
    """The commits that follow (a version, a sequence), locks at their place; and after what the next page begins, None
    where there is none.
    """
    version, sequence = after
    asked: dict[str, Any] = {"thread": thread, "since": since}
    commits = _read(channel, "own_commits", asked | {"after": version, "limit": PAGE})
    last = len(commits) < PAGE
    until = _LAST if last else commits[-1]["sequence"]
    following = None if last else (commits[-1]["version"], until)
    events = _read(channel, "events_between", asked | {"after": sequence, "until": until})
    foreign = sorted({row["commit_sequence"] for row in events} - {row["sequence"] for row in commits})
    if foreign:
        commits += _read(channel, "commits_numbered", {"sequences": foreign, "since": since})
    return assemble(thread, commits, events), following


def rows(thread: UUID, *, channel: Channel | None = None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(commits, events) of the instance that are in the database, at once."""
    asked: dict[str, Any] = {"thread": thread, "since": _LONG_AGO}
    commits = _read(channel, "own_commits", asked | {"after": 0, "limit": None})
    events = _read(channel, "events_between", asked | {"after": -1, "until": _LAST})
    foreign = sorted({row["commit_sequence"] for row in events} - {row["sequence"] for row in commits})
    if foreign:
        commits += _read(channel, "commits_numbered", {"sequences": foreign, "since": _LONG_AGO})
    return commits, events


def many(threads: Sequence[UUID], since: datetime, *, channel: Channel | None = None) -> dict[UUID, Iterator[Logged]]:
    """The commits of each of these instances, which are small: all of them are read at once."""
    asked: dict[str, Any] = {"threads": list(threads), "since": since}
    commits: dict[str, list[dict[str, Any]]] = {str(thread): [] for thread in threads}
    events: dict[str, list[dict[str, Any]]] = {str(thread): [] for thread in threads}
    own = set()
    for row in _read(channel, "commits_of_threads", asked):
        own.add(row["sequence"])
        commits[row["thread_id"]].append(row)
    foreign: dict[int, list[str]] = {}
    for row in _read(channel, "events_of_threads", asked):
        events[row["thread_id"]].append(row)
        if row["commit_sequence"] not in own:
            foreign.setdefault(row["commit_sequence"], []).append(row["thread_id"])
    if foreign:
        for row in _read(channel, "commits_numbered", {"sequences": list(foreign), "since": since}):
            for thread in set(foreign[row["sequence"]]):
                commits[thread].append(row)
    return {thread: assemble(thread, commits[str(thread)], events[str(thread)]) for thread in threads}


def stored_states(threads: Sequence[UUID], *, channel: Channel | None = None) -> dict[UUID, State]:
    """The states of these instances, whole, from their runtime rows; of one that was swept there is none."""
    found = {}
    for thread, text in query(channel, "whole_states", {"threads": list(threads)}):
        rows = loads(text)
        header = rows.pop("header")
        held = {kind: list(some or ()) for kind, some in rows.items()}
        found[thread] = to_state(thread, header["version"], header["counters"]["entity"], held)
    return found


def assemble(thread: UUID, commits: Iterable[Mapping[str, Any]], events: Iterable[dict[str, Any]]) -> Iterator[Logged]:
    """Rows of the log and of the view of all events, in any order, as the commits of the instance.

    Raises UnknownFormat for events that a newer version wrote.
    """
    grouped: dict[int, list[dict[str, Any]]] = {}
    for row in events:
        grouped.setdefault(row["commit_sequence"], []).append(row)
    for commit in sorted(commits, key=lambda commit: commit["sequence"]):
        rows = sorted(grouped.get(commit["sequence"], ()), key=lambda row: row["ordinal"])
        yield _logged(thread, commit, rows)


def _logged(thread: UUID, row: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> Logged:
    owner = _id(row["thread_id"])
    values = {event["ordinal"]: event["value"] for event in rows if event["entity"] == "variable"}
    return Logged(
        sequence=row["sequence"],
        version=row["version"] if owner == thread else None,
        command=row["command"],
        at=moment(row["at"]),
        arguments=decode(row["arguments"], values),
        events=tuple(upcast((to_event(event) for event in rows), row["format"])),
        thread_id=owner,
        run_id=_id(row["run_id"]),
        definition_id=_id(row["process_def_id"]) if row["process_def_id"] else None,
        actor=row["actor"],
        reason=row["stated_reason"],
        key=row["key"],
        caused_by=row["caused_by"],
        engine_version=row["engine_version"],
        format=row["format"],
    )


@lru_cache(maxsize=4096)
def _id(text: str) -> UUID:
    """The commits of an instance name the same few again and again."""
    return UUID(text)


def _read(channel: Channel | None, name: str, asked: Mapping[str, Any]) -> list[Any]:
    return [loads(text) for (text,) in query(channel, name, asked)]


def pages_of_threads(
    *, definitions: Sequence[UUID] | None = None, size: int = 200, channel: Channel | None = None
) -> Iterator[list[UUID]]:
    """The ids of all instances, or of those that began as one of the definitions, page by page."""
    after = ids.NIL
    while True:
        asked: dict[str, Any] = {"after": after, "limit": size}
        if definitions is None:
            rows = query(channel, "threads_after", asked)
        else:
            rows = query(channel, "threads_of_definitions", asked | {"definitions": list(definitions)})
        found = [row[0] for row in rows]
        if found:
            yield found
        if len(found) < size:
            return
        after = found[-1]


def sample_of_threads(number: int, *, channel: Channel | None = None) -> list[UUID]:
    """So many instances at random (fewer where there are fewer)."""
    estimated = max(estimate_of_threads(channel=channel), 1)
    wanted = min(100.0, 100.0 * _SURPLUS * number / estimated)
    found: list[UUID] = []
    for percent in dict.fromkeys((wanted, 100.0)):
        # A part of a small table may have been none of its pages.
        if not found:
            asked = {"percent": percent, "limit": number}
            found = [row[0] for row in query(channel, "threads_sampled", asked)]
    return found


def estimate_of_threads(*, channel: Channel | None = None) -> int:
    """About how many instances there are."""
    tuples, size = query(channel, "threads_estimated")[0]
    # Never analysed: some 90 rows go on a page.
    return int(tuples) or size // 8192 * 90


def versions_of_key(key: str, *, channel: Channel | None = None) -> list[tuple[UUID, int]]:
    """(id, version) of a key's definitions, newest first."""
    return [(row[0], row[1]) for row in query(channel, "definitions_of_key", {"key": key})]
