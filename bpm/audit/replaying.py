"""Replaying what is recorded: every invariant asked, decided again if wanted, compared with the rows that are stored.

History and rows are read in one snapshot, so that an instance that is moving at the moment is judged as it was at one
moment. Small instances are read some at a time; of a large one a page of its history is held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from bpm.audit.histories import find_histories
from bpm.decisions import Evaluator
from bpm.graph import Process
from bpm.replay import Commit, ReplayEngine, UnknownFormat, UnreadableHistory, compare, read_histories, verify
from bpm.semantics import State
from bpm.store import histories
from bpm.store.decisions import Library
from bpm.store.definitions import Graphs

# Codes beside those of `bpm.replay.INVARIANTS`.
CODES = {
    "unknown-instance": "History knows the instance.",
    "unreadable": "The history can be read by this version.",
    "rows-differ": "The stored rows are what history says.",
    "decided-otherwise": "Each command, decided again, gives the recorded events.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong with an instance: an invariant's code or one of CODES, and where."""

    code: str
    message: str
    sequence: int | None = None

    def __str__(self) -> str:
        return self.message if self.sequence is None else f"commit {self.sequence}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What replaying one instance came to."""

    instance: str
    definition: str = ""
    commits: int = 0
    events: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Summary:
    """Adds up outcomes."""

    instances: int = 0
    commits: int = 0
    events: int = 0
    broken: int = 0
    codes: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        """One more."""
        self.instances += 1
        self.commits += outcome.commits
        self.events += outcome.events
        self.broken += bool(outcome.problems)
        self.codes.update(problem.code for problem in outcome.problems)


def replay_stored(instances: Sequence[UUID], *, again: bool = False) -> list[Outcome]:
    """Replay these instances of the database and compare each with its rows, where they are still kept; `again`:
    decide each command again, too.
    """
    outcomes = []
    with histories.snapshot() as channel:
        library, others = Library(channel), Graphs(channel)
        for instance, history, stored in find_histories(instances, states=True, channel=channel):
            if history is None:
                outcomes.append(_failed(str(instance), "unknown-instance", "history knows no such instance"))
                continue
            key, process = history.definition.key, history.definition.graph
            outcomes.append(
                _replay(
                    str(instance),
                    key,
                    process,
                    history.commits,
                    again=again,
                    stored=stored,
                    library=library,
                    others=others,
                )
            )
    return outcomes


def replay_lines(lines: Iterable[str], *, again: bool = False) -> Iterator[Outcome]:
    """Replay the instances of an exported file; no database is needed. Raises UnreadableHistory."""
    for history in read_histories(lines):
        yield _replay(
            history.instance, history.key, history.process, history.commits, again=again, library=history.library,
            others=history.others,
        )  # fmt: skip


def replay_text(lines: Sequence[str], *, again: bool = False) -> list[Outcome]:
    """The same for a piece of a file. Never raises: what cannot be read is an outcome."""
    found: list[Outcome] = []
    try:
        found.extend(replay_lines(lines, again=again))
    except UnreadableHistory as problem:
        found.append(_failed("?", "unreadable", str(problem)))
    return found


def compare_stored(instances: Sequence[UUID], *, process: Process | None = None) -> list[Outcome]:
    """Where this engine, or this other version of their definition, would part from what these instances did."""
    found = []
    with histories.snapshot() as channel:
        library, others = Library(channel), Graphs(channel)
        for instance, history, _ in find_histories(instances, channel=channel):
            if history is None:
                found.append(_failed(str(instance), "unknown-instance", "history knows no such instance"))
                continue
            key, graph = history.definition.key, process or history.definition.graph
            found.append(_decide_again(str(instance), key, graph, history.commits, library, others))
    return found


def compare_lines(lines: Iterable[str], *, process: Process | None = None) -> Iterator[Outcome]:
    """The same for an exported file."""
    for history in read_histories(lines):
        graph = process or history.process
        yield _decide_again(history.instance, history.key, graph, history.commits, history.library, history.others)


def _replay(
    instance: str,
    key: str,
    process: Process,
    commits: Iterable[Commit],
    *,
    again: bool,
    stored: State | None = None,
    library: Mapping[str, Evaluator],
    others: Mapping[str, Process],
) -> Outcome:
    kept: list[Commit] = []
    if again:
        kept = commits = list(commits)
    try:
        result = ReplayEngine(process, others).replay(commits, thread=instance)
    except UnknownFormat as problem:
        return _failed(instance, "unreadable", str(problem), definition=key)
    problems = [Problem(code=found.code, message=found.message, sequence=found.sequence) for found in result.violations]
    if stored is not None:
        problems += [Problem(code="rows-differ", message=said) for said in compare(stored, result.state)]
    if again and not problems:
        problems += _decide_again(instance, key, process, kept, library, others).problems
    return Outcome(
        instance=instance,
        definition=key,
        commits=result.commits,
        events=result.events,
        problems=tuple(problems),
    )


def _decide_again(
    instance: str,
    key: str,
    process: Process,
    commits: Iterable[Commit],
    library: Mapping[str, Evaluator],
    others: Mapping[str, Process],
) -> Outcome:
    counted = _Counted(commits)
    try:
        parted = verify(process, counted, thread=instance, library=library, others=others)
    except UnknownFormat as problem:
        return _failed(instance, "unreadable", str(problem), definition=key)
    problems = []
    if parted is not None:
        said = f"version {parted.version}, {parted.command}, event {parted.ordinal}: {parted.reason}"
        problems.append(Problem(code="decided-otherwise", message=said, sequence=parted.sequence))
    return Outcome(
        instance=instance,
        definition=key,
        commits=counted.commits,
        events=counted.events,
        problems=tuple(problems),
    )


class _Counted:
    """Counts what passes through."""

    def __init__(self, commits: Iterable[Commit]) -> None:
        self._commits = commits
        self.commits = self.events = 0

    def __iter__(self) -> Iterator[Commit]:
        for commit in self._commits:
            self.commits += 1
            self.events += len(commit.events)
            yield commit


def _failed(instance: str, code: str, message: str, *, definition: str = "") -> Outcome:
    return Outcome(instance=instance, definition=definition, problems=(Problem(code=code, message=message),))
