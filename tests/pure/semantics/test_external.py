"""External tasks: errors that the model makes of what a worker reports."""

from __future__ import annotations

from datetime import timedelta

from bpm.graph import Formula, LoopSpec, Process, Trigger, WorkSpec
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw

ERRORS = (
    ("EMPTY", Formula(text="${count == 0}")),
    ("AWAY", Formula(text="${externalTask.errorMessage == 'away' and externalTask.getRetries() == 3}")),
)


def graph(*errors: tuple[str, Formula]) -> Process:
    return draw(
        "start s > external A > external Z",
        "boundary b > external B",
        A={"work": WorkSpec(topic=Formula(text="A"), errors=errors or ERRORS)},
        b={"attached_to": "A", "trigger": Trigger(kind="error", code_variable="code")},
    )


def test_a_completion_can_be_an_error() -> None:
    run = Run(graph(), variables={"count": 1})
    run.work("A", count=0)
    assert run.waiting == ["B"]
    assert run.variable("code") == "EMPTY"

    other = Run(graph(), variables={"count": 1})
    other.work("A", count=2)
    assert other.waiting == ["Z"]


def test_a_failure_can_be_an_error() -> None:
    run = Run(graph(), variables={"count": 1})
    run.do(c.FailExternalTask, task=run.lock("A"), worker="w", message="slow")
    assert run.waiting == ["A"]

    again = Run(graph(), variables={"count": 1})
    again.do(c.FailExternalTask, task=again.lock("A"), worker="w", message="away")
    assert again.waiting == ["B"]
    assert again.variable("code") == "AWAY"
    (thrown,) = [event for event in again.events if event.type == "TASK_ERROR_THROWN"]
    assert thrown.payload == {"worker": "w", "code": "AWAY", "message": "away"}


def test_an_error_that_cannot_be_judged_keeps_the_completion_and_lets_the_failure_be_one() -> None:
    broken = graph(("E", Formula(text="${nobody.knows}")))
    run = Run(broken)
    run.work("A", count=1)
    assert (run.waiting, run.variable("count")) == (["A"], 1)
    assert [incident.kind for incident in run.state.incidents.values()] == ["expression"]

    other = Run(broken)
    task = other.lock("A")
    other.do(c.FailExternalTask, task=task, worker="w", message="m", retries=0)
    assert [incident.kind for incident in other.state.incidents.values()] == ["task"]


def test_retries_are_set_whether_the_task_has_failed_or_not() -> None:
    run = Run(draw("start s > external A > end e"))
    (task,) = run.state.tasks
    run.do(c.SetRetries, task=task, retries=5)
    assert (run.state.tasks[task].retries, run.state.tasks[task].state) == (5, "READY")
    run.lock("A")
    run.do(c.SetRetries, task=task, retries=1)
    assert (run.state.tasks[task].state, run.state.tasks[task].lock_owner) == ("LOCKED", "w")
    run.do(c.FailExternalTask, task=task, worker="w", message="no")
    assert run.state.tasks[task].state == "FAILED"

    run.do(c.SetRetries, task=task, retries=2)
    assert (run.state.tasks[task].retries, run.state.tasks[task].state) == (2, "READY")
    assert [one.state for one in run.state.incidents.values()] == ["RESOLVED"]
    assert run.refused(c.SetRetries, task=task, retries=0) == "invalid"
    run.work("A")
    assert run.refused(c.SetRetries, task=task, retries=1) == "not_running"


def test_a_task_that_nobody_finishes_in_time_waits_for_an_operator() -> None:
    run = Run(draw("start s > external A > end e"))
    (task,) = run.state.tasks
    run.do(c.GiveUpTask, task=task, worker="w", text="never in time")
    (incident,) = run.state.incidents.values()
    assert (run.state.tasks[task].state, incident.kind, incident.message) == ("FAILED", "task", "never in time")
    run.do(c.RetryIncident, incident=incident.id)
    run.lock("A")
    assert run.refused(c.GiveUpTask, task=task, worker="w") == "wrong_state"


def chained(run: Run, node: str, **wanted: float) -> list[tuple[str, str]]:
    """What happens to tasks when the worker of the node completes it and asks for one of those topics."""
    task = run.lock(node)
    events = run.do(c.CompleteExternalTask, task=task, worker="w", next_topics=wanted)
    return [(event.type, event.node or "") for event in events if event.type.startswith("TASK_")]


def test_who_completes_a_task_may_have_the_next_one_at_once() -> None:
    run = Run(draw("start s > external A > external B > end e"))
    assert chained(run, "A", B=30, C=5) == [("TASK_COMPLETED", "A"), ("TASK_CREATED", "B"), ("TASK_LOCKED", "B")]
    (task,) = (one for one in run.state.tasks.values() if one.node == "B")
    assert (task.state, task.lock_owner, task.lock_expire_at) == ("LOCKED", "w", run.at + timedelta(seconds=30))
    assert task.version == 1
    run.do(c.CompleteExternalTask, task=task.id, worker="w", next_topics={"B": 30})
    assert run.ended == "COMPLETED"


def test_a_topic_that_was_not_asked_for_is_left_ready() -> None:
    run = Run(draw("start s > external A > external B > end e"))
    assert chained(run, "A", A=30) == [("TASK_COMPLETED", "A"), ("TASK_CREATED", "B")]
    assert run.waiting == ["B"]


def test_what_a_later_commit_brings_is_left_to_a_fetch() -> None:
    later = Run(draw("start s > external A > external B > end e", B={"async_before": True}))
    assert chained(later, "A", B=30) == [("TASK_COMPLETED", "A"), ("TASK_CREATED", "B")]
    branches = Run(draw("start s > external A > parallel f > external B > parallel j > end e", "f > external C > j"))
    assert ("TASK_LOCKED", "B") not in chained(branches, "A", B=30, C=30)
    rounds = LoopSpec(kind="sequential", cardinality=Formula(text="${2}"))
    round_by_round = Run(draw("start s > external A > end e", A={"loop": rounds}))
    assert chained(round_by_round, "A", A=30) == [("TASK_COMPLETED", "A"), ("TASK_CREATED", "A")]


def test_a_task_that_a_condition_takes_away_in_the_same_step_is_not_given() -> None:
    run = Run(
        draw(
            "start s > external A > external B > end e",
            "boundary b > external C > end x",
            b={"attached_to": "B", "trigger": Trigger(kind="conditional", condition=Formula(text="${go == 1}"))},
        ),
        variables={"go": 1},
    )
    happened = chained(run, "A", B=30, C=30)
    assert ("TASK_CANCELLED", "B") in happened
    assert ("TASK_LOCKED", "B") not in happened
