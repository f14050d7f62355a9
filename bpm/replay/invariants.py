"""What must hold of every history, whatever the model. Each invariant has a code, a sentence and a check.

A `Watch` goes along a history and is asked before each commit, before each event, after each commit and at the end; it
answers with what is wrong in words. An event type that no check is about costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bpm.graph import Process
from bpm.replay.history import Commit
from bpm.semantics import Event, State
from bpm.semantics.events import EVENT_TYPES
from bpm.semantics.lifecycle import NEW_RUNS, is_final

# code -> sentence
INVARIANTS: Mapping[str, str] = {
    "broken-history": "Every event can follow the state before it.",
    "completed-token-revived": "A COMPLETED token is never ACTIVE again.",
    "failed-token-advanced": "A FAILED token is never advanced.",
    "cancelled-token-advanced": "A CANCELLED token is never advanced.",
    "state-split": "No entity is in two states at once: an event starts from the state in which the last one left it.",
    "join-twice": "A token that waits at a join is consumed once.",
    "fork-mismatch": "A fork has one branch for each flow taken, and takes only flows that leave its node.",
    "done-task-locked": "A DONE task is never LOCKED again.",
    "negative-retries": "Retries are never negative.",
    "timer-twice": "A timer fires once.",
    "lock-without-end": "Every lock has its end: by its worker, by time-out or by the task's own end.",
    "version-gap": "The versions of an instance have no gap.",
    "sequence-disorder": "The commits of an instance are in the order of their sequence.",
    "two-tokens-advanced": "One commit advances one token.",
    "event-after-end": "Nothing happens in an instance after its end, until a new run of it begins.",
    "open-after-end": "When an instance has ended, nothing in it is open.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that does not hold, and where: `ordinal` is the event's place in the commit (None: the commit's)."""

    code: str
    message: str
    sequence: int
    ordinal: int | None = None
    event: Event | None = None

    @staticmethod
    def of(code: str, commit: Commit, ordinal: int | None, event: Event | None, message: str) -> Violation:
        """A violation in that commit."""
        return Violation(code=code, message=message, sequence=commit.sequence, ordinal=ordinal, event=event)

    def __str__(self) -> str:
        place = f"commit {self.sequence}" + (f", event {self.ordinal}" if self.ordinal is not None else "")
        return f"{self.code} at {place}: {self.message}"


@dataclass(slots=True)
class Watch:
    """Asks the invariants along one history; it reads the state that is folded, and never changes it."""

    process: Process
    state: State
    _last: Commit | None = None
    # What the present commit has done so far: forks with the flows whose branch is still to come, tokens that went on.
    _forks: dict[int, list[str]] = field(default_factory=dict)
    _advanced: dict[int, None] = field(default_factory=dict)
    _locked: dict[int, int] = field(default_factory=dict)  # task -> sequence of its lock
    _joined: set[int] = field(default_factory=set)

    def commit(self, commit: Commit) -> list[Violation]:
        """What is wrong before a commit is folded."""
        self._forks.clear()
        self._advanced.clear()
        found: list[Violation] = []
        expected = self.state.version + 1
        if commit.version is not None and commit.version != expected:
            message = f"version {commit.version} follows version {self.state.version}"
            found.append(Violation.of("version-gap", commit, None, None, message))
        if self._last is not None and commit.sequence <= self._last.sequence:
            message = f"sequence {commit.sequence} follows sequence {self._last.sequence}"
            found.append(Violation.of("sequence-disorder", commit, None, None, message))
        if self._has_ended() and commit.events and commit.events[0].type not in NEW_RUNS:
            message = f"{commit.command} came after the instance was {self.state.instances[0].state}"
            found.append(Violation.of("event-after-end", commit, 0, commit.events[0], message))
        self._last = commit
        return found

    def event(self, event: Event) -> list[tuple[str, str]]:
        """(code, message) of everything that is wrong with an event, the state being that before it."""
        found: list[tuple[str, str]] = []
        known = EVENT_TYPES.get(event.type)
        if known is None:
            return found
        kind = known[0]
        if event.from_state is not None:
            before = self.state.table(kind).get(event.id)
            if before is not None and before.state != event.from_state:
                found.append(("state-split", f"{event.type} starts from {event.from_state}; it is {before.state}"))
            if before is not None and is_final(kind, before.state):
                found += _revival(kind, event, before.state)
        for check in CHECKS.get(event.type, ()):
            found += check(self, event)
        return found

    def closed(self, commit: Commit) -> list[Violation]:
        """What is wrong after a commit was folded."""
        found: list[Violation] = []
        for token, flows in self._forks.items():
            if flows:
                message = f"token {token} forked without a branch for {', '.join(flows)}"
                found.append(Violation.of("fork-mismatch", commit, None, None, message))
        if len(self._advanced) > 1:
            message = f"tokens {', '.join(map(str, self._advanced))} all took a flow"
            found.append(Violation.of("two-tokens-advanced", commit, None, None, message))
        return found

    def ended(self) -> list[Violation]:
        """What is wrong when all commits are folded and the instance has ended."""
        if self._last is None or not self._has_ended():
            return []
        found: list[Violation] = []
        for task, sequence in self._locked.items():
            message = f"task {task} was locked in commit {sequence} and never unlocked"
            found.append(Violation.of("lock-without-end", self._last, None, None, message))
        for kind in ("token", "task", "timer", "user_task", "ticket", "incident"):
            for entity in self.state.table(kind).values():
                if not is_final(kind, entity.state) and not (kind == "task" and entity.id in self._locked):
                    message = f"{kind} {entity.id} at {entity.node} is still {entity.state}"
                    found.append(Violation.of("open-after-end", self._last, None, None, message))
        return found

    def _has_ended(self) -> bool:
        instance = self.state.instance
        return instance is not None and is_final("instance", instance.state)


def _revival(kind: str, event: Event, before: str) -> list[tuple[str, str]]:
    """An event about something that has ended: some kinds have an invariant of their own, all have their lifecycle."""
    code = REVIVALS.get((kind, before))
    if code is None or (code == "done-task-locked" and event.type != "TASK_LOCKED"):
        return []
    return [(code, f"{event.type} of {kind} {event.id}, which is {before}")]


# (kind, final state) -> the invariant that an event about it breaks
REVIVALS: Mapping[tuple[str, str], str] = {
    ("token", "COMPLETED"): "completed-token-revived",
    ("token", "FAILED"): "failed-token-advanced",
    ("token", "CANCELLED"): "cancelled-token-advanced",
    ("task", "DONE"): "done-task-locked",
    ("timer", "FIRED"): "timer-twice",
}


def _moved(watch: Watch, event: Event) -> list[tuple[str, str]]:
    # Only what a token does of itself: an interruption or an event that comes moves tokens, too.
    if event.reason == "flow":
        watch._advanced[event.id] = None
    return []


def _forked(watch: Watch, event: Event) -> list[tuple[str, str]]:
    watch._advanced[event.id] = None
    flows = list(event.payload["flows"])
    watch._forks[event.id] = flows
    node = watch.process.nodes.get(event.node or "")
    foreign = [flow for flow in flows if node is None or flow not in node.outgoing]
    return [("fork-mismatch", f"{', '.join(foreign)} does not leave {event.node}")] if foreign else []


def _created(watch: Watch, event: Event) -> list[tuple[str, str]]:
    if event.reason != "fork":
        return []
    flow = event.payload.get("flow")
    # In a loop the branches become an ancestor's, so the fork is found by its flow, not by the parent.
    for flows in watch._forks.values():
        if flow in flows:
            flows.remove(flow)
            return []
    return [("fork-mismatch", f"token {event.id} is a branch by {flow}, which no fork of this commit took")]


def _joined(watch: Watch, event: Event) -> list[tuple[str, str]]:
    again = [token for token in event.payload["joined"] if token != event.id and token in watch._joined]
    watch._joined.update(token for token in event.payload["joined"] if token != event.id)
    return [("join-twice", f"token {token} was joined before") for token in again]


def _retries(watch: Watch, event: Event) -> list[tuple[str, str]]:
    left = event.payload.get("retries", 0)
    return [("negative-retries", f"task {event.id} is left with {left} retries")] if left < 0 else []


def _locked(watch: Watch, event: Event) -> list[tuple[str, str]]:
    earlier = watch._locked.get(event.id)
    watch._locked[event.id] = watch._last.sequence if watch._last else 0
    if earlier is None:
        return []
    return [("lock-without-end", f"task {event.id} is locked again; its lock of commit {earlier} never ended")]


def _unlocked(watch: Watch, event: Event) -> list[tuple[str, str]]:
    watch._locked.pop(event.id, None)
    return []


type Check = Callable[[Watch, Event], list[tuple[str, str]]]

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "TOKEN_CREATED": (_created,),
    "TOKEN_MOVED": (_moved,),
    "TOKEN_FORKED": (_forked,),
    "TOKEN_JOINED": (_joined,),
    "TASK_CREATED": (_retries,),
    "TASK_LOCKED": (_locked,),
    "TASK_UNLOCKED": (_unlocked,),
    "TASK_TIMED_OUT": (_unlocked,),
    "TASK_COMPLETED": (_unlocked,),
    "TASK_ERROR_THROWN": (_unlocked,),
    "TASK_CANCELLED": (_unlocked,),
    "TASK_FAILED": (_retries, _unlocked),
    "TASK_RETRIED": (_retries, _unlocked),
    "TASK_RETRIES_SET": (_retries,),
}
