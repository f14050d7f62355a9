"""Folding: the commits of an instance to its state, with every invariant asked on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bpm.graph import Process
from bpm.replay.history import Commit
from bpm.replay.invariants import Violation, Watch
from bpm.semantics import State, apply
from bpm.semantics.changing import changed
from bpm.semantics.commands import MigrateInstance, RestartInstance
from bpm.semantics.evolve import BrokenHistory
from bpm.semantics.state import Task, Timer, Token

# Commands whose argument `definition` names the one that the instance goes on with.
CHANGES_DEFINITION = frozenset({MigrateInstance.__name__, RestartInstance.__name__})
# What an event raises that cannot be applied: a broken lifecycle, a payload that lacks something or holds nonsense.
UNFIT = (BrokenHistory, KeyError, TypeError, ValueError)
# A history that is broken in its first event is broken in every later one; more than this tells nobody anything.
MAXIMAL_VIOLATIONS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What history says: the final entities by ordinal, the variables of the process level, and what is wrong."""

    final_tokens: Mapping[int, Token]
    final_tasks: Mapping[int, Task]
    final_timers: Mapping[int, Timer]
    variables: Mapping[str, Any]
    violations: tuple[Violation, ...]
    state: State
    commits: int
    events: int


@dataclass(frozen=True, slots=True)
class ReplayEngine:
    """Replays histories of one process definition. State changes only: no worker, no database, no effect."""

    process: Process
    # Definitions by id to which instances were migrated; asked for what is needed only.
    others: Mapping[str, Process] = field(default_factory=dict)

    def replay(self, commits: Iterable[Commit], *, thread: str = "") -> ReplayResult:
        """Fold the commits of one instance, given in the order of their sequence.

        Never raises for what is in them: an event that cannot be is a violation, and is left out of the fold.
        """
        state = State(thread=thread)
        watch = Watch(self.process, state)
        violations: list[Violation] = []
        commit_count = event_count = 0
        for commit in commits:
            commit_count += 1
            event_count += len(commit.events)
            if commit.command in CHANGES_DEFINITION:
                watch.process = self.others.get(str(commit.arguments.get("definition")), watch.process)
            found = fold_commit(state, commit, watch)
            if len(violations) < MAXIMAL_VIOLATIONS:
                violations += found
        violations += watch.ended()
        return ReplayResult(
            final_tokens=state.tokens,
            final_tasks=state.tasks,
            final_timers=state.timers,
            variables={name: v.value for (scope, name), v in state.variables.items() if scope == 0 and v.present},
            violations=tuple(violations[:MAXIMAL_VIOLATIONS]),
            state=state,
            commits=commit_count,
            events=event_count,
        )


def fold_commit(state: State, commit: Commit, watch: Watch) -> list[Violation]:
    """Change the state by one commit; what is wrong with it."""
    found = watch.commit(commit)
    for ordinal, event in enumerate(commit.events):
        wrong = watch.event(event)
        try:
            apply(state, event)
        except UNFIT as problem:
            # What an invariant has named already is not said twice.
            wrong = wrong or [("broken-history", said(problem))]
        found += [Violation.of(code, commit, ordinal, event, message) for code, message in wrong]
    seal(state, commit.version)
    return found + watch.closed(commit)


def seal(state: State, version: int | None) -> None:
    """End a commit in place: the instance has that version (None: it was no step), each touched entity one more."""
    for kind, key in state.touched:
        table = state.table(kind)
        entity = table[key]
        table[key] = changed(entity, version=entity.version + 1)
    state.touched.clear()
    if version is not None:
        state.version = version


def state_at(
    process: Process,
    commits: Iterable[Commit],
    *,
    version: int | None = None,
    at: datetime | None = None,
    thread: str = "",
) -> State:
    """The state after the commit of that version, or at that time. BrokenHistory where the history cannot be folded."""
    state = State(thread=thread)
    for commit in commits:
        late = at is not None and commit.at > at
        if late or (version is not None and commit.version is not None and commit.version > version):
            break
        for event in commit.events:
            apply(state, event)
        seal(state, commit.version)
    return state


def said(problem: Exception) -> str:
    """What is wrong with the event, in words."""
    return str(problem) if isinstance(problem, BrokenHistory) else f"{type(problem).__name__}: {problem}"
