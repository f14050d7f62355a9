"""Call activities: what passes in and out, also in loops and where outputs are mapped."""

from __future__ import annotations

from typing import Any

import pytest

from bpm.graph import CallSpec, Formula, LoopSpec, Mapping, Trigger
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw

ALL = Mapping(target="", source=Formula(), everything=True)
LINE = ("start s > call C > external Z > end e",)


def out(target: str, source: str, **said: Any) -> Mapping:
    return Mapping(target=target, source=Formula(text=source), **said)


def returns(run: Run, **variables: Any) -> None:
    """The oldest open call returns with these of its variables that it was asked for."""
    ticket = min(t.id for t in run.state.tickets.values() if t.kind == "CALL" and t.state == "OPEN")
    (body,) = [m.payload["body"] for m in run.messages if m.payload["body"].get("ticket") == ticket]
    wants = body["wants"]
    brought = {name: content for name, content in variables.items() if wants is None or name in wants}
    run.do(c.CallReturned, ticket=ticket, outcome="completed", variables=brought)


def called(**said: Any) -> dict[str, Any]:
    return {"call": CallSpec(target=Formula(text="q"), **said)}


def test_all_that_comes_back_is_not_all_that_went_in() -> None:
    graph = draw(*LINE, C=called(inputs=(ALL,), outputs=(ALL,)) | {"inputs": (out("x", "${1}"),)})
    run = Run(graph, variables={"y": 0})
    assert run.messages[0].payload["body"]["variables"] == {"x": 1, "y": 0}
    returns(run)
    assert (0, "x") not in run.state.variables
    other = Run(graph, variables={"y": 0})
    returns(other, x=5, y=6, z=7)
    assert (other.variable("y"), other.variable("z")) == (6, 7)
    assert (0, "x") not in other.state.variables


def test_what_does_not_come_back_is_null() -> None:
    graph = draw(*LINE, C=called(outputs=(out("r", "${x}"),)) | {"inputs": (out("x", "${1}"),)})
    run = Run(graph)
    returns(run)
    assert run.variable("r") is None


def test_rounds_keep_their_own_variables() -> None:
    loop = LoopSpec(
        kind="parallel",
        collection=Formula(text="${items}"),
        element_variable="item",
        output_collection="sums",
        output_element=Formula(text="${item + r}"),
    )
    graph = draw(*LINE, C=called(outputs=(out("r", "${r}", local=True),)) | {"loop": loop})
    run = Run(graph, variables={"items": [1, 2]})
    returns(run, r=10)
    returns(run, r=20)
    assert run.variable("sums") == [11, 22]
    assert (0, "r") not in run.state.variables


def test_outputs_of_zeebe_alone_leave_the_activity() -> None:
    graph = draw(
        *LINE, C=called(propagate_all_outputs=True) | {"outputs": (out("sum", "${a + b}"),), "outputs_only": True}
    )
    run = Run(graph)
    returns(run, a=1, b=2)
    assert run.variable("sum") == 3
    assert {name for scope, name in run.state.variables if scope == 0} == {"sum"}


def test_outputs_of_zeebe_ask_for_what_they_read() -> None:
    graph = draw(*LINE, C=called() | {"outputs": (out("sum", "${a + b}"),), "outputs_only": True})
    assert Run(graph).messages[0].payload["body"]["wants"] == ["a", "b"]


def test_a_failing_output_can_be_tried_again() -> None:
    graph = draw(*LINE, C=called(outputs=(out("r", "${x.y}"),)))
    run = Run(graph)
    returns(run, x=1)
    (incident,) = run.state.incidents.values()
    run.process = draw(*LINE, C=called(outputs=(out("r", "${x}"),)))
    run.do(c.RetryIncident, incident=incident.id)
    assert (run.waiting, run.variable("r")) == (["Z"], 1)


def test_how_deep_a_call_is_goes_along_with_it() -> None:
    for caller, depth in ((None, None), ({"thread": "t", "ticket": 1, "wants": None}, 2),
                          ({"thread": "t", "ticket": 1, "wants": None, "depth": 7}, 8)):  # fmt: skip
        run = Run(draw("start s > call C > end e"), caller=caller)
        assert run.messages[0].payload["body"].get("depth") == depth


@pytest.mark.parametrize("kind", ["error", "escalation"])
def test_out_mappings_are_made_before_what_is_thrown_is_caught(kind: str) -> None:
    """Camunda 7, BpmnExceptionHandler: "map variables to super executions" (OutputVariablesPropagator)."""
    caught = {"attached_to": "C", "trigger": Trigger(kind=kind), "interrupting": kind == "error"}
    graph = draw(*LINE, "boundary b > external B", C=called(outputs=(out("r", "${x}"), out("n", "${y}"))), b=caught)
    run = Run(graph)
    (ticket,) = [t.id for t in run.state.tickets.values() if t.kind == "CALL"]
    if kind == "error":
        run.do(c.CallReturned, ticket=ticket, outcome="error", code="E", variables={"x": 7})
    else:
        run.do(c.CallEscalated, ticket=ticket, code="E", returned={"x": 7})
    assert "B" in run.waiting
    assert (run.variable("r"), run.variable("n")) == (7, None)


def test_a_called_process_says_with_what_it_throws_what_its_caller_wants() -> None:
    caller = {"thread": "up", "ticket": 1, "wants": ["x"]}
    graph = draw("start s > throw t > external A", t={"trigger": Trigger(kind="escalation", code=Formula(text="E"))})
    run = Run(graph, variables={"x": 7, "z": 8}, caller=caller)
    task = run.lock("A")
    run.do(c.ThrowBpmnError, task=task, worker="w", code="E", variables={"x": 9})
    escalated, returned = [message.payload["body"] for message in run.messages]
    assert escalated["returned"] == {"x": 7}
    assert (returned["outcome"], returned["variables"]) == ("error", {"x": 9})


def test_an_error_whose_out_mapping_fails_is_an_incident_and_the_call_is_made_again() -> None:
    caught = {"attached_to": "C", "trigger": Trigger(kind="error")}
    run = Run(draw(*LINE, "boundary b > external B", C=called(outputs=(out("r", "${x.y()}"),)), b=caught))
    (ticket,) = [t.id for t in run.state.tickets.values() if t.kind == "CALL"]
    run.do(c.CallReturned, ticket=ticket, outcome="error", code="E", variables={"x": 7})
    assert run.waiting == ["C"]
    (incident,) = run.state.incidents
    run.do(c.RetryIncident, incident=incident)
    assert [m.payload["kind"] for m in run.messages] == ["CALL", "CALL"]


def test_an_escalation_whose_out_mapping_fails_is_heard_and_an_incident_stands_beside_the_call() -> None:
    caught = {"attached_to": "C", "trigger": Trigger(kind="escalation"), "interrupting": False}
    run = Run(draw(*LINE, "boundary b > external B", C=called(outputs=(out("r", "${x.y()}"),)), b=caught))
    (ticket,) = [t.id for t in run.state.tickets.values() if t.kind == "CALL"]
    run.do(c.CallEscalated, ticket=ticket, code="E", returned={"x": 7})
    assert run.waiting == ["B", "C"]
    (incident,) = run.state.incidents
    run.do(c.RetryIncident, incident=incident)
    assert run.waiting == ["B", "C"]
