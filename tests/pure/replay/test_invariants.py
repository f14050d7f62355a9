"""Each invariant has a history that breaks it, and none that the engine makes breaks one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpm.replay import INVARIANTS, Recorded, ReplayEngine
from bpm.semantics import Event
from bpm.semantics import commands as c
from tests.pure.replay.recording import Recording, appended, spoil, two_branches, until
from tests.pure.semantics.drawing import draw

RUN = two_branches()
OPEN = until(RUN.commits, "TASK_COMPLETED")  # the task is done, the timer and the instance are open
TASK = next(iter(RUN.state.tasks))
TIMER = next(iter(RUN.state.timers))
LOCKED = until(RUN.commits, "TASK_LOCKED")


def failed() -> list[Recorded]:
    """A token has FAILED, and with it the instance."""
    run = Recording(draw("start s > external A > end e"))
    task = run.lock("A")
    run.do(c.ThrowBpmnError, task=task, worker="w", code="E")
    assert run.ended == "FAILED"
    return run.commits


def token_event(id: int, before: str | None, after: str) -> Event:
    return Event("TOKEN_STATE_CHANGED", id, id, "e", before, after, "retry", {"step": "leave"})


def lock(before: str) -> Event:
    return Event(
        "TASK_LOCKED", TASK, 2, "A", before, "LOCKED", "work", {"worker": "v", "until": "2030-01-01T00:05+00:00"}
    )


def merged(commits: list[Recorded], first: int) -> list[Recorded]:
    """Two commits as one."""
    one, other = commits[first], commits[first + 1]
    both = replace(one, events=(*one.events, *other.events))
    after = [replace(commit, version=commit.version and commit.version - 1) for commit in commits[first + 2 :]]
    return [*commits[:first], both, *after]


def joined_again() -> list[Recorded]:
    joined = next(event for event in RUN.events if event.type == "TOKEN_JOINED")
    return appended(until(RUN.commits, "TOKEN_JOINED"), replace(joined, from_state="ACTIVE"))


def advanced_together() -> list[Recorded]:
    """Two branches leave their start in one commit."""
    graph = draw("start s > parallel f > pass A > user U", "f > pass B > user V")
    return merged(Recording(graph).commits, 1)


def unlocked_never() -> list[Recorded]:
    """The completion that ends the lock is missing, and all else went on."""
    return spoil(RUN.commits, "TASK_COMPLETED", drop=True)


BROKEN = {
    "broken-history": spoil(RUN.commits, "TASK_CREATED", drop=True),
    "completed-token-revived": appended(RUN.commits, token_event(2, "COMPLETED", "ACTIVE")),
    "failed-token-advanced": appended(failed(), token_event(1, "FAILED", "ACTIVE")),
    "cancelled-token-advanced": appended(
        OPEN,
        Event("TOKEN_CANCELLED", 3, 3, "t", "WAITING", "CANCELLED", "cancel"),
        token_event(3, "CANCELLED", "ACTIVE"),
    ),
    "state-split": appended(OPEN, token_event(3, "ACTIVE", "WAITING")),
    "join-twice": joined_again(),
    "fork-mismatch": spoil(RUN.commits, "TOKEN_FORKED", payload={"flows": ["f_A"]}),
    "done-task-locked": appended(OPEN, lock("DONE")),
    "negative-retries": appended(
        LOCKED,
        Event("TASK_FAILED", TASK, 2, "A", "LOCKED", "FAILED", "work", {"worker": "w", "error": "x", "retries": -1}),
    ),
    "timer-twice": appended(RUN.commits, Event("TIMER_FIRED", TIMER, 3, "t", "FIRED", "FIRED", "timer")),
    "lock-without-end": unlocked_never(),
    "version-gap": [*RUN.commits[:2], *RUN.commits[3:]],
    "sequence-disorder": [RUN.commits[0], replace(RUN.commits[1], sequence=1), *RUN.commits[2:]],
    "two-tokens-advanced": advanced_together(),
    "event-after-end": appended(RUN.commits, Event("VARIABLE_SET", 0, payload={"name": "late", "value": 1})),
    "open-after-end": spoil(RUN.commits, "TIMER_FIRED", drop=True),
}


def test_every_invariant_is_broken_here():
    assert list(BROKEN) == list(INVARIANTS)


@pytest.mark.parametrize("code", INVARIANTS)
def test_a_history_that_breaks_it_is_found(code):
    graph = draw("start s > external A > end e") if code == "failed-token-advanced" else RUN.process
    found = ReplayEngine(graph).replay(BROKEN[code]).violations
    assert code in [violation.code for violation in found], [str(violation) for violation in found]


def test_a_violation_says_where_it_is():
    found = ReplayEngine(RUN.process).replay(BROKEN["done-task-locked"]).violations
    assert str(found[0]) == (
        f"done-task-locked at commit {OPEN[-1].sequence + 1}, event 0: TASK_LOCKED of task {TASK}, which is DONE"
    )
    assert found[0].event == lock("DONE")


def test_nothing_that_the_engine_does_breaks_one():
    assert ReplayEngine(RUN.process).replay(RUN.commits).violations == ()
    loop = Recording(draw("start s > inclusive m > parallel f > external A > parallel j > exclusive x > end e [*]",
                          "f > external B > j", "x > m [again]"))  # fmt: skip
    for again in (True, True, False):
        loop.work("A", again=again)
        loop.do(c.FailExternalTask, task=loop.lock("B"), worker="w", message="away", retries=1)
        loop.work("B")
    assert loop.ended == "COMPLETED"
    assert ReplayEngine(loop.process).replay(loop.commits).violations == ()
    assert ReplayEngine(draw("start s > external A > end e")).replay(failed()).violations == ()


def test_a_history_that_is_no_history_ends_in_violations_not_in_errors():
    odd = [
        Event("NO_SUCH_EVENT", 1),
        Event("TOKEN_MOVED", 99, payload={}),
        Event("TOKEN_CREATED", 7, to_state="DREAMING"),
        Event("TASK_LOCKED", TASK, payload={}),
    ]
    found = ReplayEngine(RUN.process).replay(appended(OPEN, *odd)).violations
    assert [violation.ordinal for violation in found if violation.code == "broken-history"] == [0, 1, 2, 3]


def test_violations_are_counted_to_a_bound():
    commits = [replace(RUN.commits[0], sequence=n, version=n) for n in range(1, 500)]
    assert len(ReplayEngine(RUN.process).replay(commits).violations) == 100
