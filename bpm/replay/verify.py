"""Deciding again: each recorded command, on the state folded so far, must give the recorded events."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bpm.decisions import Evaluator
from bpm.graph import Process
from bpm.replay.fold import CHANGES_DEFINITION, UNFIT, said, seal
from bpm.replay.history import Commit
from bpm.semantics import Decided, Event, Need, Refusal, State, decide
from bpm.semantics import commands as c
from bpm.semantics.evolve import apply


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first place where deciding again parts from history.

    `recorded` and `decided` are the events at `ordinal` of the commit (None: there is none on that side); `reason` says
    in words what is different.
    """

    sequence: int
    version: int | None
    command: str
    ordinal: int
    recorded: Event | None
    decided: Event | None
    reason: str

    def __str__(self) -> str:
        place = f"commit {self.sequence} (version {self.version}, {self.command}), event {self.ordinal}"
        return f"{place}: {self.reason}"


def verify(
    process: Process,
    commits: Iterable[Commit],
    *,
    thread: str = "",
    library: Mapping[str, Evaluator] | None = None,
    others: Mapping[str, Process] | None = None,
) -> Divergence | None:
    """Re-decide the history of one instance with this version of the engine and of the process; None when all agree.

    `thread` is the instance's id as expressions see it, `library` holds the compiled decisions by the id of their
    definition; it is asked for what is needed only. So are `others`, the definitions by id to which the instance was
    migrated; what is not among them is decided on the process given. Commits that are no steps (locks) are folded.
    """
    state = State(thread=thread)
    for commit in commits:
        if commit.command in CHANGES_DEFINITION:
            process = (others or {}).get(str(commit.arguments.get("definition")), process)
        divergence = None if commit.version is None else _decide_again(process, state, commit, library or {})
        if divergence is not None:
            return divergence
        for ordinal, event in enumerate(commit.events):
            try:
                apply(state, event)
            except UNFIT as problem:
                return _divergence(commit, ordinal, event, None, said(problem))
        seal(state, commit.version)
    return None


def _decide_again(
    process: Process, state: State, commit: Commit, library: Mapping[str, Evaluator]
) -> Divergence | None:
    first = commit.events[0] if commit.events else None
    try:
        command = c.from_json(commit.command, dict(commit.arguments), commit.at)
    except (KeyError, TypeError, ValueError) as problem:
        return _divergence(commit, 0, first, None, f"the command cannot be read: {type(problem).__name__} {problem}")
    decision = decide(process, state, command)
    while isinstance(decision, Need) and (models := {id: library[id] for id in _models(decision) if id in library}):
        state.library.update(models)
        decision = decide(process, state, command)
    match decision:
        case Refusal(code, message):
            return _divergence(commit, 0, first, None, f"the command is refused now ({code}): {message}")
        case Need(keys):
            return _divergence(commit, 0, first, None, f"an answer is not in the log: {keys}")
        case Decided(events, _):
            return _first_difference(commit, events)


def _models(need: Need) -> list[str]:
    """The definitions of decisions that are missing."""
    return [key[1] for key in need.keys if key[0] == "model"]


def _first_difference(commit: Commit, decided: Sequence[Event]) -> Divergence | None:
    recorded = commit.events
    for ordinal in range(max(len(recorded), len(decided))):
        was = recorded[ordinal] if ordinal < len(recorded) else None
        now = decided[ordinal] if ordinal < len(decided) else None
        if was != now:
            return _divergence(commit, ordinal, was, now, _difference(was, now))
    return None


def _difference(was: Event | None, now: Event | None) -> str:
    if was is None or now is None:
        there, said = (now, "decided now, not recorded") if was is None else (was, "recorded, not decided now")
        return f"{there.type} {there.id} is {said}" if there else "nothing"
    if (was.type, was.id) != (now.type, now.id):
        return f"{was.type} {was.id} is recorded, {now.type} {now.id} decided now"
    fields = [f.name for f in dataclasses.fields(was) if getattr(was, f.name) != getattr(now, f.name)]
    told = (f"{name} is {getattr(was, name)!r} recorded, {getattr(now, name)!r} decided now" for name in fields)
    return f"{was.type} {was.id}: {'; '.join(told)}"


def _divergence(commit: Commit, ordinal: int, recorded: Event | None, decided: Event | None, reason: str) -> Divergence:
    return Divergence(
        sequence=commit.sequence,
        version=commit.version,
        command=commit.command,
        ordinal=ordinal,
        recorded=recorded,
        decided=decided,
        reason=reason,
    )
