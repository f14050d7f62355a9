"""The histories of instances, wherever they lie: in the database, in archives, or in both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

from bpm.audit.archive import catalog
from bpm.audit.statements import ask
from bpm.semantics import State
from bpm.store import definitions, histories, reading
from bpm.store.channel import Channel
from bpm.store.definitions import Definition
from bpm.store.reading import Logged

# Commits of small instances that are read together.
TOGETHER = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveHistory:
    """One instance with the definition it began as. `commits` is read as it is iterated, a page at a time; of an
    instance that is archived, all at once.
    """

    instance: UUID
    definition: Definition
    commits: Iterator[Logged]


def find_history(instance: UUID, *, channel: Channel | None = None) -> LiveHistory | None:
    """The instance's history; None where history knows no such instance. OSError where its archive is not there."""
    commits = _commits(instance, channel)
    if commits is None:
        return None
    return _found(instance, commits, channel)


def find_histories(
    instances: Sequence[UUID], *, states: bool = False, channel: Channel | None = None
) -> Iterator[tuple[UUID, LiveHistory | None, State | None]]:
    """Each of these instances with its history and, where wanted, the state that its rows have now (None: they are
    swept). Small ones are read together; a large one by pages.
    """
    at_hand = {row[0]: row[1:] for row in ask("threads_at_hand", {"threads": list(instances)}, channel=channel)}
    for group in _groups(instances, at_hand):
        small = {id: at_hand[id][1] for id in group if _is_small(at_hand.get(id))}
        read = histories.many(list(small), min(small.values()), channel=channel) if small else {}
        stored = histories.stored_states(list(small), channel=channel) if small and states else {}
        for id in group:
            if id in read:
                yield id, _found(id, read[id], channel), stored.get(id)
            else:
                state = reading.stored_state(id, channel=channel) if states else None
                yield id, find_history(id, channel=channel), state


def _groups(instances: Sequence[UUID], at_hand: Mapping[UUID, tuple[int, Any, bool]]) -> Iterator[list[UUID]]:
    """Instances whose commits are a bounded number together."""
    group: list[UUID] = []
    commits = 0
    for id in instances:
        commits += at_hand[id][0] if id in at_hand else 0
        if group and commits > TOGETHER:
            yield group
            group, commits = [], at_hand[id][0] if id in at_hand else 0
        group.append(id)
    if group:
        yield group


def _is_small(known: tuple[int, Any, bool] | None) -> bool:
    if known is None:
        return False
    commits, began, archived = known
    return commits <= histories.PAGE and began is not None and not archived


def _found(instance: UUID, commits: Iterator[Logged], channel: Channel | None) -> LiveHistory | None:
    first = next(commits, None)
    if first is None or first.definition_id is None:
        return None
    definition = definitions.load(first.definition_id, channel=channel)
    return LiveHistory(instance=instance, definition=definition, commits=chain((first,), commits))


def _commits(instance: UUID, channel: Channel | None) -> Iterator[Logged] | None:
    archived = catalog.parts_with(instance, channel=channel)
    since = histories.started(instance, channel=channel)
    if not archived:
        return None if since is None else histories.stream_history(instance, since, channel=channel)
    commits, events = catalog.rows_of(instance, archived)
    live_commits, live_events = histories.rows(instance, channel=channel)
    # What stayed in the database is in the archive as well.
    by_number = {row["sequence"]: row for row in (*commits, *live_commits)}
    by_place = {
        (row["commit_sequence"], row["ordinal"], row["entity"]): row
        for row in (*events, *live_events)
        if row["entity"] != "message" or row["event_type"] == "MESSAGE_SENT"
    }
    return histories.assemble(instance, by_number.values(), by_place.values())


def pages(
    *, instance: UUID | None = None, key: str | None = None, sample: int | None = None, size: int = 100
) -> Iterable[list[UUID]]:
    """Which instances, page by page: one, those of a definition's key, some at random, or all.

    KeyError for a key of which no definition is known.
    """
    if instance is not None:
        return [[instance]]
    if sample is not None:
        found = histories.sample_of_threads(sample)
        return [found[start : start + size] for start in range(0, len(found), size)]
    if key is None:
        return histories.pages_of_threads(size=size)
    versions = histories.versions_of_key(key)
    if not versions:
        raise KeyError(f"there is no process definition {key}")
    return histories.pages_of_threads(definitions=[id for id, _ in versions], size=size)
