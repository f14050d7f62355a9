"""Activities, boundary events, subprocesses, errors, calls, variables."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bpm.graph import CallSpec, Formula, Mapping, Trigger, WorkSpec
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw


def timer(duration: str, kind: str = "duration") -> Trigger:
    return Trigger(kind="timer", timer_kind=kind, timer=Formula(text=duration))


def error(code: str | None = None) -> Trigger:
    return Trigger(kind="error", code=Formula(text=code) if code else None, code_variable="code")


def test_boundary_timer__interrupts_its_activity() -> None:
    graph = draw(
        "start s > external A > end e",
        "boundary b > external B > end f",
        b={"attached_to": "A", "trigger": timer("PT1H")},
    )
    run = Run(graph)

    run.wait(3600)

    assert run.waiting == ["B"]
    assert [t.state for t in run.state.tasks.values()] == ["CANCELLED", "READY"]
    run.work("B")
    assert run.ended == "COMPLETED"


def test_boundary_timer__not_interrupting_adds_a_token_and_repeats() -> None:
    graph = draw(
        "start s > external A > end e",
        "boundary b > external B > end f",
        b={"attached_to": "A", "interrupting": False, "trigger": timer("R2/PT1H", "cycle")},
    )
    run = Run(graph)

    run.wait(5 * 3600)
    assert run.waiting == ["A", "B", "B"]

    run.work("A")
    run.work("B")
    assert run.ended == "RUNNING"
    run.work("B")
    assert run.ended == "COMPLETED"


def test_boundary_timer__is_cancelled_with_its_activity() -> None:
    graph = draw(
        "start s > external A > external Z", "boundary b > end f", b={"attached_to": "A", "trigger": timer("PT1H")}
    )
    run = Run(graph)

    run.work("A")

    assert [t.state for t in run.state.timers.values()] == ["CANCELLED"]
    assert run.refused(c.FireTimer, timer=next(iter(run.state.timers))) == "wrong_state"


@pytest.mark.parametrize(("code", "caught"), [("E1", ["B"]), ("E2", ["C"])])
def test_boundary_error__its_own_code_goes_before_one_that_catches_all(code: str, caught: list[str]) -> None:
    graph = draw(
        "start s > external A",
        "boundary all > external C",
        "boundary one > external B",
        all={"attached_to": "A", "trigger": error()},
        one={"attached_to": "A", "trigger": error("E1")},
    )
    run = Run(graph)

    run.do(c.ThrowBpmnError, task=run.lock("A"), worker="w", code=code, variables={"why": "x"})

    assert run.waiting == caught
    assert (run.variable("code"), run.variable("why")) == (code, "x")


def test_error__that_nobody_catches_fails_the_instance_and_all_in_it() -> None:
    graph = draw("start s > parallel f > external A", "f > external B")
    run = Run(graph)

    run.do(c.ThrowBpmnError, task=run.lock("A"), worker="w", code="E1")

    assert run.ended == "FAILED"
    assert sorted(t.state for t in run.state.tokens.values()) == ["CANCELLED", "CANCELLED", "FAILED"]


SUB = ("start s > subprocess sub > external Z > end e", "start t > external A > end u")
INSIDE = {"sub": ("t", "A", "u")}


def test_subprocess__goes_on_when_nothing_in_it_is_open() -> None:
    run = Run(draw(*SUB, scopes=INSIDE))
    assert run.waiting == ["A"]
    scope = run.state.tokens[1]
    assert (scope.node, scope.state, run.state.tokens[2].scope) == ("sub", "WAITING", 1)

    run.work("A")

    assert run.waiting == ["Z"]


def test_subprocess__an_error_end_event_inside_goes_to_its_boundary() -> None:
    graph = draw(
        "start s > subprocess sub > end e",
        "start t > parallel f > external A",
        "f > end broken",
        "boundary b > external B",
        scopes={"sub": ("t", "f", "A", "broken")},
        b={"attached_to": "sub", "trigger": error("E")},
        broken={"trigger": Trigger(kind="error", code=Formula(text="E"))},
    )
    run = Run(graph)

    assert run.waiting == ["B"]
    assert {t.node: t.state for t in run.state.tasks.values()} == {"A": "CANCELLED", "B": "READY"}


def test_event_subprocess__of_an_error_takes_the_scope_over() -> None:
    graph = draw(
        "start s > parallel f > external A > end e",
        "f > external B > end g",
        "event_subprocess esp",
        "start t > external H > end u",
        scopes={"esp": ("t", "H", "u")},
        t={"trigger": error("E")},
    )
    run = Run(graph)

    run.do(c.ThrowBpmnError, task=run.lock("A"), worker="w", code="E")

    assert run.waiting == ["H"]
    run.work("H")
    assert run.ended == "COMPLETED"


def test_event_subprocess__a_timer_of_the_process_starts_it_beside() -> None:
    graph = draw(
        "start s > external A > end e",
        "event_subprocess esp",
        "start t > external H > end u",
        scopes={"esp": ("t", "H", "u")},
        t={"trigger": timer("PT1H"), "interrupting": False},
    )
    run = Run(graph)

    run.wait(3600)

    assert run.waiting == ["A", "H"]
    run.work("H")
    run.work("A")
    assert run.ended == "COMPLETED"


def test_terminate__ends_its_scope_only() -> None:
    graph = draw(
        "start s > subprocess sub > external Z > end e",
        "start t > parallel f > external A > end u",
        "f > external B > end stop",
        scopes={"sub": ("t", "f", "A", "u", "B", "stop")},
        stop={"trigger": Trigger(kind="terminate")},
    )
    run = Run(graph)

    run.work("B")

    assert run.waiting == ["Z"]
    assert [t.state for t in run.state.tasks.values() if t.node == "A"] == ["CANCELLED"]


def call(*, outputs: tuple[Mapping, ...] = (), inputs: tuple[Mapping, ...] = ()) -> dict[str, object]:
    return {"call": CallSpec(target=Formula(text="child"), inputs=inputs, outputs=outputs)}


def test_call__asks_by_message_and_maps_what_comes_back() -> None:
    out = Mapping(target="y", source=Formula(text="${execution.getVariable('x')}"))
    graph = draw(
        "start s > call K > external Z > end e",
        K=call(outputs=(out,), inputs=(Mapping(target="a", source=Formula(text="${b + 1}")),)),
    )
    run = Run(graph, variables={"b": 1})
    sent = run.messages[0].payload
    assert (sent["kind"], sent["name"], sent["body"]["variables"], sent["body"]["wants"]) == (
        "CALL",
        "child",
        {"a": 2},
        ["x"],
    )

    run.do(c.CallReturned, ticket=sent["body"]["ticket"], outcome="completed", variables={"x": 7})

    assert run.waiting == ["Z"]
    assert run.variable("y") == 7


def test_call__an_error_of_the_called_instance_reaches_a_boundary_without_code() -> None:
    graph = draw("start s > call K", "boundary b > external B", K=call(), b={"attached_to": "K", "trigger": error()})
    run = Run(graph)

    run.do(c.CallReturned, ticket=run.messages[0].payload["body"]["ticket"], outcome="error", code="X")

    assert run.waiting == ["B"]


def test_call__that_could_not_start_waits_with_an_incident_and_a_retry_calls_again() -> None:
    run = Run(draw("start s > call K > external Z", K=call()))

    run.do(c.CallReturned, ticket=run.messages[0].payload["body"]["ticket"], outcome="refused", text="no such process")
    assert [(i.kind, i.message) for i in run.state.incidents.values()] == [("call", "no such process")]
    run.do(c.RetryIncident, incident=next(iter(run.state.incidents)))

    assert [m.payload["kind"] for m in run.messages] == ["CALL", "CALL"]
    assert run.waiting == ["K"]


def test_call__cancelling_the_caller_tells_the_called_instance() -> None:
    run = Run(draw("start s > call K", K=call()))

    run.do(c.CancelInstance, text="not wanted")

    assert [m.payload["kind"] for m in run.messages] == ["CALL", "CANCEL"]
    assert run.ended == "CANCELLED"


def test_called__tells_its_caller_the_wanted_variables() -> None:
    run = Run(draw("start s > external A > end e"), caller={"thread": "t", "ticket": 3, "wants": ["x"]})

    run.work("A", x=1, y=2)

    body = run.messages[0].payload["body"]
    assert (body["outcome"], body["variables"]) == ("completed", {"x": 1})


def test_inputs_and_outputs__stay_with_the_activity_and_leave_by_name() -> None:
    graph = draw(
        "start s > external A > external B > end e",
        A={
            "inputs": (Mapping(target="i", source=Formula(text="${x * 2}")),),
            "outputs": (Mapping(target="o", source=Formula(text="${i + r}")),),
        },
    )
    run = Run(graph, variables={"x": 2})
    task = run.lock("A")
    local = run.state.tokens[1].local
    assert run.variable("i", local) == 4

    run.do(c.CompleteExternalTask, task=task, worker="w", variables={"i": 5, "r": 1})

    assert run.variable("o") == 6
    assert (0, "i") not in run.state.variables
    assert run.state.tokens[1].local == 0


def test_completion__survives_an_expression_that_fails_after_it() -> None:
    graph = draw("start s > external A > exclusive g", "g > external B [missing > 1]")
    run = Run(graph)
    run.work("A", x=1)

    assert run.variable("x") == 1
    assert [t.state for t in run.state.tasks.values()] == ["DONE"]
    assert [i.kind for i in run.state.incidents.values()] == ["expression"]
    run.do(c.SetVariables, variables={"missing": 2})
    run.do(c.RetryIncident, incident=next(iter(run.state.incidents)))
    assert run.waiting == ["B"]


def test_task__fails_counts_down_pauses_and_waits_for_an_operator() -> None:
    run = Run(draw("start s > external A > end e"))
    run.do(c.FailExternalTask, task=run.lock("A"), worker="w", message="timeout", retries=1, retry_after=60)
    task = next(iter(run.state.tasks))
    assert (run.state.tasks[task].state, run.state.tasks[task].retries) == ("READY", 1)
    assert run.refused(c.LockTask, task=task, worker="w", until=run.at) == "wrong_state"

    run.wait(60)
    run.do(c.FailExternalTask, task=run.lock("A"), worker="w", message="timeout")
    assert run.state.tasks[task].state == "FAILED"
    run.do(c.RetryIncident, incident=next(iter(run.state.incidents)), retries=2)
    run.work("A")

    assert run.ended == "COMPLETED"


def test_task__without_retries_waits_for_an_operator_at_its_first_failure() -> None:
    graph = draw("start s > external A", A={"work": WorkSpec(topic=Formula(text="A"), retries=Formula(text="0"))})
    run = Run(graph)

    run.do(c.FailExternalTask, task=run.lock("A"), worker="w", message="no")

    assert [i.kind for i in run.state.incidents.values()] == ["task"]


def test_task__an_error_expression_without_an_answer_leaves_the_failure_a_failure() -> None:
    work = WorkSpec(topic=Formula(text="A"), errors=(("E", Formula(text="${nowhere > 1}")),))
    run = Run(draw("start s > external A", A={"work": work}))

    run.do(c.FailExternalTask, task=run.lock("A"), worker="w", message="no", retries=0)

    assert [i.message for i in run.state.incidents.values()] == ["no"]


@pytest.mark.parametrize(
    ("worker", "later", "code"), [("other", 0, "wrong_worker"), ("w", 301, "lock_expired"), ("w", 300, "lock_expired")]
)
def test_task__only_its_worker_completes_it_in_time(worker: str, later: int, code: str) -> None:
    run = Run(draw("start s > external A > end e"))
    task = run.lock("A")
    run.at += timedelta(seconds=later)

    assert run.refused(c.CompleteExternalTask, task=task, worker=worker) == code


def test_user_task__is_claimed_and_done_by_its_person() -> None:
    run = Run(draw("start s > user U > end e"))
    task = next(iter(run.state.user_tasks))
    run.do(c.ClaimUserTask, user_task=task, user="ann")
    assert run.refused(c.ClaimUserTask, user_task=task, user="bob") == "wrong_user"

    run.do(c.CompleteUserTask, user_task=task, user="ann", variables={"ok": True})

    assert (run.ended, run.variable("ok")) == ("COMPLETED", True)


def test_suspended__nothing_moves_until_it_is_resumed() -> None:
    run = Run(draw("start s > external A > end e"))
    task = run.lock("A")
    run.do(c.SuspendInstance, text="stop")
    assert run.refused(c.CompleteExternalTask, task=task, worker="w") == "not_running"

    run.do(c.ResumeInstance)
    run.do(c.CompleteExternalTask, task=task, worker="w")

    assert run.ended == "COMPLETED"


def test_endless_loop__holds_no_step_for_ever() -> None:
    graph = draw("start s > exclusive m > pass A > m")
    run = Run.__new__(Run)
    run.process, run.at = graph, Run(draw("start s > end e")).at

    from bpm.semantics import Decided, State, decide

    decided = decide(graph, State(), c.StartInstance(at=run.at))

    assert isinstance(decided, Decided)
    assert decided.state.tokens[1].state == "ACTIVE"
    assert 100 <= len(decided.events) <= 110


def test_link_and_message_events__pass_and_wait() -> None:
    message = Trigger(kind="message", name=Formula(text="paid"), correlation=Formula(text="${order}"))
    graph = draw(
        "start s > event_based g > catch m > external A",
        "g > catch t > external B",
        m={"trigger": message},
        t={"trigger": timer("PT1H")},
    )
    run = Run(graph, variables={"order": "o1"})
    ticket = next(iter(run.state.tickets.values()))
    assert (ticket.kind, ticket.name, ticket.correlation) == ("MESSAGE", "paid", "o1")

    run.do(c.Correlate, ticket=ticket.id, variables={"sum": 3})

    assert run.waiting == ["A"]
    assert run.variable("sum") == 3
    assert [t.state for t in run.state.timers.values()] == ["CANCELLED"]
    assert run.refused(c.Correlate, ticket=ticket.id) == "duplicate"


@pytest.mark.parametrize("kind", ["external", "user"])
def test_async_after__what_waited_is_left_in_a_step_of_its_own(kind: str) -> None:
    timer = Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))
    lines = (f"start s > {kind} A > external B > end e", "boundary b > external L")
    run = Run(draw(*lines, A={"async_after": True}, b={"attached_to": "A", "trigger": timer}))
    if kind == "user":
        (task,) = run.state.user_tasks
        events = run.do(c.CompleteUserTask, user_task=task)
    else:
        task = run.lock("A")
        events = run.do(c.CompleteExternalTask, task=task, worker="w")

    # Its boundary events are over with the work, before it is left.
    assert [event.type for event in events][1:4] == ["TIMER_CANCELLED", "TOKEN_STATE_CHANGED", "TOKEN_MOVED"]
    assert run.waiting == ["B"]


def test_mappings_reach_into_objects() -> None:
    """Zeebe, BpmnVariableMappingBehavior: an input makes the object, an output keeps what it has besides."""
    inputs = tuple(Mapping(target="o", path=path, source=Formula(text="=n")) for path in (("a",), ("b", "c")))
    outputs = (Mapping(target="kept", path=("r",), source=Formula(text="=n")),)
    run = Run(draw("start s > external A > end e", A={"inputs": inputs, "outputs": outputs}),
              variables={"n": 1, "o": {"z": 0}, "kept": {"k": 5}})  # fmt: skip
    (task,) = run.state.tasks.values()
    assert run.variable("o", run.state.tokens[task.token].local) == {"a": 1, "b": {"c": 1}}
    run.work("A")
    assert run.variable("kept") == {"k": 5, "r": 1}
    assert run.variable("o") == {"z": 0}
