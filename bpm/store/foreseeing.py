"""What a step can be decided on before its thread's version row is locked, so that it takes one round trip.

A process that made the thread's last commit, or starts the thread, knows all that the step needs but for two things,
which only the lock tells: the time, and whether anything has happened since. So the step is decided on what is taken to
be so; `bpm_settle` locks, looks whether it is, and writes, or writes nothing. Taken to be so:

- the thread stands at the commit that is remembered;
- it is later than that commit, and as early as the decision holds (`Decided.holds_until`);
- the task that a worker answers for is locked by it: it is remembered so, or was READY and has been locked since.

Whatever is not plain then (a refusal, something missing, a decision that names the time or changes other tasks, which
workers lock meanwhile) is decided under the lock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from bpm.semantics import Decided, decide
from bpm.semantics.changing import changed
from bpm.semantics.commands import Command, CompleteExternalTask, FailExternalTask, StartInstance, ThrowBpmnError
from bpm.semantics.state import Task
from bpm.store.definitions import Definition
from bpm.store.wanting import Asked, Begun, begun_anew, begun_with

# What a worker says of a task that it holds.
ANSWERS = (CompleteExternalTask, FailExternalTask, ThrowBpmnError)
# Before any commit: what a start is decided for. Its year is one that every calendar has.
_BEFORE = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What a step begins with: what the thread is taken to be since its commit of that `version` (0: it is not there),
    made at `last_at`. `task` is taken to be locked by `worker`.
    """

    begun: Begun
    version: int = 0
    last_at: datetime | None = None
    task: Task | None = None
    worker: str | None = None

    @property
    def at(self) -> datetime:
        """The time for which the step is decided: any that has passed when it is locked."""
        return self.last_at or _BEFORE


def foreseen(about: Asked) -> Foreseen | None:
    """What the step can be decided on; None where too little is remembered, or somebody else was there lately."""
    held, command = about.held, about.command
    if held is None:
        begun = begun_anew(about.wanted) if isinstance(command, StartInstance) else None
        return None if begun is None else Foreseen(begun=begun)
    if not held.undisturbed or not held.answers(about.question):
        return None
    state, task, worker = held.state, None, None
    if isinstance(command, ANSWERS):
        worker = command.worker
        task = _as_locked(state.tasks[command.task], worker)
        if task is None:
            return None
        state = state.copy()
        state.put("task", task)
    elif hasattr(command, "task"):
        return None
    return Foreseen(
        begun=begun_with(held, state, about.wanted),
        version=held.version,
        last_at=held.last_at,
        task=task,
        worker=worker,
    )


def _as_locked(task: Task, worker: str) -> Task | None:
    """The task as it is while the worker holds it."""
    if task.state == "READY":
        return changed(task, state="LOCKED", version=task.version + 1, lock_owner=worker)
    return task if task.lock_owner == worker else None


def decided_beforehand(process: Definition, seen: Foreseen, command: Command) -> Decided | None:
    """The decision, where it is plain and holds for some time."""
    try:
        decision = decide(process.graph, seen.begun.state, command)
    except Exception:
        return None  # it fails again, for all to see, or else what was taken to be so is not
    if not isinstance(decision, Decided) or decision.holds_until == command.at or _changes_locks(seen, decision):
        return None
    return decision


def _changes_locks(seen: Foreseen, decision: Decided) -> bool:
    """Whether it changes other tasks that were there, which workers may have locked or lost since."""
    own = seen.task and seen.task.id
    return any(kind == "task" and key != own and key in seen.begun.state.tasks for kind, key in decision.state.touched)
