"""Listeners are steps of their own, or refused."""

from __future__ import annotations

import pytest

from bpm.compiler import compile_bpmn
from bpm.graph import Process

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">'
)
FLOWS = (
    '<sequenceFlow id="f1" sourceRef="s" targetRef="a">{flow}</sequenceFlow>'
    '<sequenceFlow id="f2" sourceRef="a" targetRef="e"/>'
)


def on(event: str, said: str = 'class="a.B"', element: str = "executionListener") -> str:
    return f'<extensionElements><camunda:{element} event="{event}" {said}/></extensionElements>'


def compiled(
    inside: str = "", *, activity: str = "task", flow: str = "", start: str = "", end: str = "", process: str = "",
    ignore: tuple[str, ...] = (),
):  # fmt: skip
    body = (
        f'<startEvent id="s">{start}</startEvent><{activity} id="a">{inside}</{activity}>'
        f'<endEvent id="e">{end}</endEvent>{FLOWS.format(flow=flow)}'
    )
    text = f'{HEAD}<process id="p" isExecutable="true">{process}{body}</process></definitions>'
    return compile_bpmn(text.encode(), ignore=ignore)


def path(graph: Process) -> list[str]:
    """The nodes on the way from the start; listeners with their topic."""
    found, at = [], "s"
    while True:
        node = graph.nodes[at]
        found.append(f"{at} ({node.work.topic.text})" if node.work else at)
        if not node.outgoing:
            return found
        (flow,) = graph.outgoing(node)
        assert node.outgoing == (flow.id,) and flow.source == at and flow.id in graph.nodes[flow.target].incoming
        assert flow.target in graph.scopes[node.scope].nodes
        at = flow.target


@pytest.mark.parametrize(
    ("model", "way"),
    [
        ({"inside": on("start")}, ["s", "a:start:1 (a.B)", "a", "e"]),
        ({"inside": on("end")}, ["s", "a", "a:end:1 (a.B)", "e"]),
        ({"flow": on("take")}, ["s", "f1:take:1 (a.B)", "a", "e"]),
        ({"start": on("start")}, ["s", "s:start:1 (a.B)", "a", "e"]),
        ({"start": on("end")}, ["s", "s:end:1 (a.B)", "a", "e"]),
        ({"end": on("end")}, ["s", "a", "e:end:1 (a.B)", "e"]),
        ({"process": on("start")}, ["s", "s:p:start:1 (a.B)", "a", "e"]),
        ({"inside": on("create", element="taskListener"), "activity": "userTask"}, ["s", "a:create:1 (a.B)", "a", "e"]),
        ({"inside": on("complete", element="taskListener")}, ["s", "a", "a:complete:1 (a.B)", "e"]),
        ({"inside": on("start", 'delegateExpression="${audit}"')}, ["s", "a:start:1 (audit)", "a", "e"]),
        ({"inside": on("start", 'expression="${audit.log(x)}"')}, ["s", "a:start:1 (audit.log)", "a", "e"]),
        (
            {"inside": "<extensionElements><zeebe:executionListeners>"
             '<zeebe:executionListener eventType="start" type="t"/>'
             '<zeebe:executionListener eventType="end" type="u"/></zeebe:executionListeners></extensionElements>'},
            ["s", "a:start:1 (t)", "a", "a:end:2 (u)", "e"],
        ),
        (
            {"inside": '<extensionElements><camunda:executionListener event="start">'
             '<camunda:script scriptFormat="groovy">'
             "x</camunda:script></camunda:executionListener></extensionElements>"},
            ["s", "a:start:1 (script:groovy)", "a", "e"],
        ),
    ],
)  # fmt: skip
def test_each_is_work_at_its_place(model, way):
    found = compiled(**model)
    assert found.errors == ()
    assert path(found.processes[0]) == way
    assert any(one.code == "listener-as-task" for one in found.diagnostics)


def test_several_stay_in_their_order():
    inside = "".join(f'<camunda:executionListener event="{event}" class="{name}"/>' for event, name in
                     (("start", "A"), ("end", "X"), ("start", "B"), ("end", "Y")))  # fmt: skip
    found = compiled(f"<extensionElements>{inside}</extensionElements>")
    topics = [step.partition("(")[2].strip(")") for step in path(found.processes[0]) if "(" in step]
    assert topics == ["A", "B", "X", "Y"]


def listeners(event: str, *classes: str) -> str:
    found = "".join(f'<camunda:executionListener event="{event}" class="{name}"/>' for name in classes)
    return f"<extensionElements>{found}</extensionElements>"


@pytest.mark.parametrize("model", [
    {"start": listeners("start", "A", "B", "C")},
    {"end": listeners("end", "A", "B", "C")},
    {"flow": listeners("take", "A", "B", "C")},
    {"process": listeners("start", "A", "B"), "start": listeners("start", "C")},
    {"process": listeners("start", "A"), "start": listeners("start", "B", "C")},
])  # fmt: skip
def test_several_stay_in_their_order_wherever_they_are_placed(model):
    found = compiled(**model)
    topics = [step.partition("(")[2].strip(")") for step in path(found.processes[0]) if "(" in step]
    assert (found.errors, topics) == ((), ["A", "B", "C"])


def test_what_only_sets_a_variable_is_computed():
    found = compiled(on("start", """expression="${execution.setVariable('x', 1)}\""""))
    node = found.processes[0].nodes["a:start:1"]
    assert (node.kind, node.outputs[0].target) == ("pass", "x")


LOOP = "<multiInstanceLoopCharacteristics><loopCardinality>3</loopCardinality></multiInstanceLoopCharacteristics>"


@pytest.mark.parametrize(
    "model",
    [
        {"inside": on("start") + LOOP},
        {"process": on("end")},
        {"inside": on("assignment", element="taskListener"), "activity": "userTask"},
        {"inside": on("create", 'expression="${task.setName(1)}"', "taskListener"), "activity": "userTask"},
        {"inside": on("start", "")},
    ],
)
def test_what_has_no_place_is_refused_unless_that_is_accepted(model):
    found = compiled(**model)
    assert [one.code for one in found.errors] == ["listener-not-run"]
    accepted = compiled(**model, ignore=("listener-not-run",))
    assert accepted.errors == () and path(accepted.processes[0]) == ["s", "a", "e"]
    assert [one.severity for one in accepted.diagnostics if one.code == "listener-not-run"] == ["warning"]
