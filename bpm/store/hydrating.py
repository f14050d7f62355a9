"""Filling a projection when a program starts: all open threads, as of one moment.

History is the authority, so each thread is folded: from its base state, where one is stored, and the events that came
after. What cannot be folded (its older months are archived, or its tasks were being locked while the base state was
taken) is read from its rows, in the same snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from bpm.replay import UnknownFormat, upcast
from bpm.replay.fold import seal
from bpm.semantics import apply
from bpm.semantics.evolve import BrokenHistory
from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import State
from bpm.store import ids, reading
from bpm.store.channel import Channel
from bpm.store.errors import StoreError
from bpm.store.histories import snapshot
from bpm.store.history_rows import to_event
from bpm.store.outside import query
from bpm.store.projection import Projection, remembered
from bpm.store.rows import to_state
from bpm.store.values import dumps, loads

# More rows than this are not read at a start.
LIMIT = 1_000_000
PAGE = 200
KINDS = ("commits", "messages", "state commands", "events", "waits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hydrated:
    """What a start read: rows of history, and of how many threads. `left` did not fit into the projection's bytes, and
    are loaded when they are asked for; `unfolded` were read from their rows.
    """

    rows: int
    threads: int
    left: int
    unfolded: int


class TooMuchToHydrate(StoreError):
    """Open threads have more history since their base states than a start reads. `counts` says how much of what; each
    was counted to the limit only.
    """

    def __init__(self, threads: int, counts: Mapping[str, int], limit: int) -> None:
        self.threads, self.counts = threads, dict(counts)
        listed = ", ".join(f"{min(number, limit):,}{'+' * (number > limit)} {kind}" for kind, number in counts.items())
        super().__init__(
            f"{threads:,} open threads have more than {limit:,} rows since their base states: {listed}. Store base"
            " states (manage.py bpm snapshot), so that only what comes after them is read; export and end what need not"
            ' be open; or connect with hydrate="lazy", which reads a thread when it is asked for'
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thread:
    id: UUID
    version: int
    last_at: datetime
    definition: UUID
    run: UUID
    counters: dict[str, int]
    base: int
    after: int
    since: datetime
    rows: dict[str, list[dict[str, Any]]]

    @property
    def locks(self) -> int:
        """The highest commit of the nil thread that the base state has seen: its tasks name the last of theirs."""
        return max((task["commit_version"] for task in self.rows.get("task", ())), default=0)


def hydrate(projection: Projection, channel: Channel, *, limit: int = LIMIT) -> Hydrated:
    """Fill the projection from one snapshot. Raises TooMuchToHydrate before anything large is read."""
    with snapshot(channel) as frozen:
        # By index, whatever the statistics of a young table say; for this transaction alone.
        for setting in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin"):
            frozen.raw.execute(f"SET LOCAL {setting} = off")
        rows = _count(frozen, limit)
        threads = left = unfolded = 0
        for page in _pages(frozen):
            for thread, folded in _fold(page, frozen):
                threads += 1
                state = folded or reading.stored_state(thread.id, channel=frozen)
                unfolded += folded is None
                entry = state and remembered(
                    thread.id,
                    state,
                    last_at=thread.last_at,
                    definition=thread.definition,
                    run=thread.run,
                    run_number=thread.counters["run"],
                )
                if entry and projection.fits(entry):
                    projection.put(entry)
                else:
                    left += 1
    return Hydrated(rows=rows, threads=threads, left=left, unfolded=unfolded)


def _count(channel: Channel, limit: int) -> int:
    threads, *numbers = query(channel, "hydration_counts", {"limit": limit})[0]
    rows = sum(numbers)
    if rows > limit:
        raise TooMuchToHydrate(threads, dict(zip(KINDS, numbers, strict=True)), limit)
    return rows


def _pages(channel: Channel) -> Iterator[list[_Thread]]:
    after = ids.NIL
    while True:
        rows = query(channel, "hydration_threads", {"after": after, "limit": PAGE})
        page = [
            _Thread(
                id=id, version=version, last_at=last_at, definition=definition, run=run, counters=loads(counters),
                base=base or 0, after=sequence or 0, since=base_at or started_at, rows=_rows(state),
            )
            for (id, version, last_at, definition, run, counters, started_at, base, sequence, base_at, state) in rows
        ]  # fmt: skip
        if page:
            yield page
        if len(page) < PAGE:
            return
        after = page[-1].id


def _rows(state: str | None) -> dict[str, list[dict[str, Any]]]:
    return {} if state is None else {kind: list(found or ()) for kind, found in loads(state).items()}


def _fold(page: Sequence[_Thread], channel: Channel) -> Iterator[tuple[_Thread, State | None]]:
    """Each thread with its state; None where that cannot be folded."""
    asked = {
        "threads": dumps(
            [
                {"id": one.id, "base": one.base, "after": one.after, "locks": one.locks, "since": one.since}
                for one in page
            ]
        )
    }
    commits: dict[UUID, dict[int, int]] = {}
    for thread, sequence, version in query(channel, "hydration_commits", asked):
        commits.setdefault(thread, {})[sequence] = version
    events: dict[UUID, list[dict[str, Any]]] = {}
    for (text,) in query(channel, "hydration_events", asked):
        row = loads(text)
        events.setdefault(UUID(row["thread_id"]), []).append(row)
    tasks: dict[UUID, dict[int, int]] = {}
    for thread, number, version in query(channel, "hydration_tasks", asked):
        tasks.setdefault(thread, {})[number] = version
    for one in page:
        try:
            state = _folded(one, commits.get(one.id, {}), events.get(one.id, ()))
        except (BrokenHistory, UnknownFormat, KeyError, TypeError, ValueError):
            state = None
        yield one, state if state is not None and _agrees(state, one, tasks.get(one.id, {})) else None


def _folded(thread: _Thread, commits: Mapping[int, int], rows: Iterable[dict[str, Any]]) -> State:
    state = State(thread=str(thread.id))
    if thread.rows:
        state = to_state(thread.id, thread.base, 0, thread.rows)
    held = {task.id: task.version for task in state.tasks.values()}
    grouped = {sequence: list(found) for sequence, found in groupby(rows, key=lambda row: row["commit_sequence"])}
    for sequence in sorted({*commits, *grouped}):
        found = grouped.get(sequence, [])
        if sequence not in commits:
            # A lock, which the base state may have seen all the same.
            found = [row for row in found if row["row_version"] > held.get(ids.ordinal(row["entity_id"]), 0)]
        if found:
            for event in upcast((to_event(row) for row in found), found[0]["format"]):
                apply(state, event)
        seal(state, commits.get(sequence))
    state.counter = thread.counters["entity"]
    return state


def _agrees(state: State, thread: _Thread, tasks: Mapping[int, int]) -> bool:
    """Whether the fold came to where the thread stands."""
    if state.version != thread.version or state.instance is None:
        return False
    return tasks == {task.id: task.version for task in state.tasks.values() if not is_final("task", task.state)}
