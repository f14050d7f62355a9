"""Where processes start: start events, instantiating receive tasks and gateways, nodes without incoming flow."""

from __future__ import annotations

import pytest

from bpm.graph import Formula, Mapping, Process, Trigger
from bpm.semantics import commands as c
from bpm.semantics.starts import beginnings
from tests.pure.semantics.drawing import Run, draw


def message(name: str) -> Trigger:
    return Trigger(kind="message", name=Formula(text=name))


ORDERED, PAID = {"trigger": message("ordered")}, {"trigger": message("paid")}
SEVERAL = draw("start s > external A > end e", "start m > external B > end f", m=ORDERED)
RECEIVE = draw("receive r > external A > end e", r=ORDERED | {"instantiate": True})


def behind(*, parallel: bool) -> Process:
    gateway = {"instantiate": True, "parallel_events": parallel}
    return draw(
        "event_based g > catch one > external A", "g > receive two > external B", g=gateway, one=ORDERED, two=PAID
    )


def test_each_start_event_starts_by_itself() -> None:
    assert Run(SEVERAL).waiting == ["A"]
    assert Run(SEVERAL, node="m", trigger="message").waiting == ["B"]


def test_a_receive_task_can_start_a_process() -> None:
    run = Run(RECEIVE, node="r", trigger="message", variables={"x": 1})
    assert (run.waiting, run.variable("x")) == (["A"], 1)
    assert not run.state.tickets


@pytest.mark.parametrize(("event", "waiting"), [("one", ["A"]), ("two", ["B"])])
def test_an_event_behind_a_gateway_can_start_a_process(event: str, waiting: list[str]) -> None:
    run = Run(behind(parallel=False), node=event, trigger="message")
    assert run.waiting == waiting
    assert [e.payload["origin"] for e in run.events if e.type == "TOKEN_MOVED"] == ["g", event]


def test_a_parallel_gateway_waits_for_its_other_events() -> None:
    run = Run(behind(parallel=True), node="one", trigger="message")
    assert run.waiting == ["A", "two"]
    run.work("A")
    run.do(c.Correlate, ticket=next(iter(run.state.tickets)))
    run.work("B")
    assert run.ended == "COMPLETED"


def test_a_start_that_needs_several_events_waits_for_the_rest() -> None:
    parts = (message("ordered"), Trigger(kind="signal", name=Formula(text="go")))
    graph = draw("start s > external A", s={"trigger": Trigger(kind="parallel_multiple", parts=parts)})
    run = Run(graph, node="s", trigger="signal", name="go")
    assert run.waiting == ["s"]
    (ticket,) = run.state.tickets.values()
    assert (ticket.kind, ticket.name) == ("MESSAGE", "ordered")
    run.do(c.Correlate, ticket=ticket.id)
    assert run.waiting == ["A"]


def test_without_a_start_event_every_node_without_incoming_flow_begins() -> None:
    graph = draw("external A > parallel j > end e", "external B > j", "boundary b > external C", "external U",
                 b={"attached_to": "A", "trigger": Trigger(kind="error")}, U={"for_compensation": True})  # fmt: skip
    run = Run(graph)
    assert run.waiting == ["A", "B"]
    run.work("A")
    run.work("B")
    assert run.ended == "COMPLETED"


def test_a_subprocess_without_a_start_event_begins_so_too() -> None:
    graph = draw("start s > subprocess sub > external Z", "external A", "external B", scopes={"sub": ("A", "B")})
    run = Run(graph)
    assert run.waiting == ["A", "B"]
    run.work("A")
    run.work("B")
    assert run.waiting == ["Z"]


def test_beginnings_are_what_can_start_a_process_without_its_key() -> None:
    assert [(node.id, part.kind) for node, part in beginnings(SEVERAL)] == [("m", "message")]
    assert [node.id for node, _ in beginnings(RECEIVE)] == ["r"]
    assert [node.id for node, _ in beginnings(behind(parallel=False))] == ["one", "two"]


@pytest.mark.parametrize(
    ("graph", "node"),
    [
        (SEVERAL, "A"),
        (SEVERAL, "nowhere"),
        (RECEIVE, None),
        (draw("start s > end e", "start t > end f"), None),
        (draw("external A > external B > A"), None),
    ],
)
def test_what_cannot_start_is_refused(graph: Process, node: str | None) -> None:
    run = Run.__new__(Run)
    run.process, run.at, run.state = graph, Run(SEVERAL).at, Run(SEVERAL).state.__class__(thread="i")
    assert run.refused(c.StartInstance, node=node) == "invalid"


def test_a_start_that_maps_outputs_lets_nothing_else_into_the_process() -> None:
    mapped = (Mapping(target="sum", source=Formula(text="${a + b}")),)
    graph = draw("start m > external A > end f", m=ORDERED | {"outputs": mapped, "outputs_only": True})
    run = Run(graph, node="m", trigger="message", variables={"a": 1, "b": 2})
    assert {name: one.value for (scope, name), one in run.state.variables.items() if scope == 0} == {"sum": 3}


@pytest.mark.parametrize("kind", ["timer", "message", "signal", "conditional"])
def test_by_its_key_a_process_starts_at_its_only_start_event(kind: str) -> None:
    """Camunda 7, BpmnParse.selectInitial: "if there is a single start event, select it as initial, regardless of it's
    type"."""
    assert Run(draw("start s > external A", s={"trigger": Trigger(kind=kind)})).waiting == ["A"]


def test_by_its_key_a_process_starts_at_its_timer_rather_than_at_a_message() -> None:
    """Camunda 7, BpmnParse.selectInitial, which counts none and timer start events as one."""
    graph = draw("start s > external A", "start m > external B", s={"trigger": Trigger(kind="timer")}, m=ORDERED)
    assert Run(graph).waiting == ["A"]
