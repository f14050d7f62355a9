"""Elements to nodes: the shape of the graph."""

from __future__ import annotations

import pytest

from bpm.compiler import compile_bpmn
from bpm.compiler.lowering import LOWER
from bpm.graph import Formula
from bpm.graph.model import NODE_KINDS
from tests.pure.compiler.writing import codes, compiled, line, model, node, process


def test_an_order_process():
    found = model("order.bpmn")
    assert [str(d) for d in found.errors] == []
    order = found.processes[0]
    assert (order.id, order.name, order.version_tag) == ("order", "Order", "1.4")
    assert {node.id: node.kind for node in order.nodes.values()} == {
        "received": "start",
        "check": "external",
        "in_stock": "exclusive",
        "fulfil": "subprocess",
        "begin": "start",
        "both": "parallel",
        "pack": "user",
        "invoice": "external",
        "joined": "parallel",
        "done": "end",
        "late": "boundary",
        "remind": "call",
        "reminded": "end",
        "sold_out": "boundary",
        "refused": "end",
        "stopped": "event_subprocess",
        "on_error": "start",
        "told": "end",
        "shipped": "end",
    }
    assert list(order.scopes) == ["order", "fulfil", "stopped"]
    assert order.scopes["order"].starts == ("received",)
    assert order.scopes["order"].event_subprocesses == ("stopped",)
    assert order.scopes["fulfil"].parent == "order"
    assert order.scope_chain(order.node("pack")) == ["fulfil", "order"]
    assert order.node("fulfil").boundary == ("late", "sold_out")
    assert (order.node("late").interrupting, order.node("sold_out").interrupting) == (False, True)
    assert [flow.target for flow in order.outgoing(order.node("in_stock"))] == ["fulfil", "refused"]
    assert order.node("in_stock").default == "none_left"
    assert order.node("joined").incoming == ("packed", "invoiced")
    assert order.reads == ("amount", "customer", "stock")
    assert order.node("check").line == 12


def test_every_flow_node_of_bpmn_has_a_row():
    assert set(LOWER) == {element for elements in NODE_KINDS.values() for element in elements}


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ('<task id="x"/>', "pass"),
        ('<manualTask id="x"/>', "pass"),
        ('<userTask id="x"/>', "user"),
        ('<receiveTask id="x" messageRef="m"/>', "receive"),
        ('<exclusiveGateway id="x"/>', "exclusive"),
        ('<parallelGateway id="x"/>', "parallel"),
        ('<inclusiveGateway id="x"/>', "inclusive"),
        ('<complexGateway id="x"/>', "complex"),
        ('<callActivity id="x" calledElement="Q"/>', "call"),
        ('<intermediateThrowEvent id="x"/>', "throw"),
        ('<subProcess id="x"><startEvent id="i"/></subProcess>', "subprocess"),
        ('<transaction id="x"><startEvent id="i"/></transaction>', "subprocess"),
        ('<adHocSubProcess id="x"><task id="i"/></adHocSubProcess>', "subprocess"),
    ],
)
def test_kinds(element, kind):
    found = node(element, '<message id="m" name="M"/>')
    assert (found.kind, found.incoming, found.outgoing) == (kind, ("f0",), ("f1",))


def test_marks_of_subprocesses():
    assert node('<transaction id="x"><startEvent id="i"/></transaction>').transaction
    ad_hoc = node(
        '<adHocSubProcess id="x" cancelRemainingInstances="false"><task id="i"/>'
        '<completionCondition xsi:type="tFormalExpression">${done}</completionCondition></adHocSubProcess>'
    )
    assert (ad_hoc.ad_hoc, ad_hoc.cancel_remaining, ad_hoc.ad_hoc_completion.text) == (True, False, "${done}")


def test_asynchronous_continuations():
    assert node('<task id="x" camunda:asyncBefore="true"/>').async_before
    assert node('<task id="x" activiti:async="true"/>').async_before
    assert node('<parallelGateway id="x" operaton:asyncAfter="true"/>').async_after


def test_a_multi_instance():
    found = node(
        '<userTask id="x"><multiInstanceLoopCharacteristics isSequential="true" camunda:collection="people"'
        ' camunda:elementVariable="person"><completionCondition>${nrOfCompletedInstances == 2}</completionCondition>'
        "</multiInstanceLoopCharacteristics></userTask>"
    )
    assert (found.loop.kind, found.loop.element_variable) == ("sequential", "person")
    assert found.loop.collection == Formula(kind="variable", text="people")
    assert found.loop.completion_condition.text == "${nrOfCompletedInstances == 2}"


def test_a_multi_instance_of_zeebe():
    found = node(
        '<serviceTask id="x"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements>'
        "<multiInstanceLoopCharacteristics><extensionElements>"
        '<zeebe:loopCharacteristics inputCollection="=items" inputElement="item" outputCollection="results"'
        ' outputElement="=result"/></extensionElements></multiInstanceLoopCharacteristics></serviceTask>',
        zeebe=True,
    )
    loop = found.loop
    assert (loop.kind, loop.collection.text, loop.element_variable) == ("parallel", "items", "item")
    assert (loop.output_collection, loop.output_element.text, loop.output_variable) == ("results", "=result", "result")


def test_mappings_of_zeebe_reach_into_objects():
    said = '<zeebe:ioMapping><zeebe:input source="=a" target="order.item.name"/></zeebe:ioMapping>'
    (found,) = node(f'<userTask id="x"><extensionElements>{said}</extensionElements></userTask>', zeebe=True).inputs
    assert (found.target, found.path) == ("order", ("item", "name"))


def test_a_multi_instance_over_data_of_the_standard():
    found = process(
        line(
            '<task id="x"><ioSpecification><dataInput id="in1" name="orders"/><inputSet/><outputSet/></ioSpecification>'
            "<multiInstanceLoopCharacteristics><loopDataInputRef>in1</loopDataInputRef>"
            '<inputDataItem id="one" name="order"/></multiInstanceLoopCharacteristics></task>'
        )
    ).nodes["x"]
    assert found.loop.collection == Formula(kind="variable", text="orders")
    assert found.loop.element_variable == "order"


def test_a_standard_loop():
    found = node(
        '<task id="x"><standardLoopCharacteristics testBefore="true" loopMaximum="3">'
        "<loopCondition>${again}</loopCondition></standardLoopCharacteristics></task>"
    )
    assert (found.loop.kind, found.loop.test_before, found.loop.loop_maximum) == ("standard", True, 3)
    assert found.loop.loop_condition.text == "${again}"


def test_compensation_is_linked_by_its_association():
    found = process(
        line('<task id="book"/>')
        + '<boundaryEvent id="b" attachedToRef="book"><compensateEventDefinition/></boundaryEvent>'
        '<task id="undo" isForCompensation="true"/><association id="a" sourceRef="b" targetRef="undo"/>'
    )
    assert found.nodes["book"].compensation_handler == "undo"
    assert found.nodes["undo"].for_compensation


def test_inclusive_joins_know_what_reaches_them():
    found = process(
        '<startEvent id="s"/><inclusiveGateway id="split"/><task id="a"/><task id="b"/><inclusiveGateway id="join"/>'
        '<endEvent id="e"/><sequenceFlow id="f0" sourceRef="s" targetRef="split"/>'
        '<sequenceFlow id="fa" sourceRef="split" targetRef="a"/><sequenceFlow id="fb" sourceRef="split" targetRef="b"/>'
        '<sequenceFlow id="ja" sourceRef="a" targetRef="join"/><sequenceFlow id="jb" sourceRef="b" targetRef="join"/>'
        '<sequenceFlow id="f1" sourceRef="join" targetRef="e"/>'
    )
    assert found.reach == {"join": {"ja": ("s", "split", "a"), "jb": ("s", "split", "b")}}


def test_data_objects_with_a_value_are_variables():
    found = process(
        line('<task id="x"/>') + '<dataObject id="d1" name="limit" itemSubjectRef="xsd:int"><extensionElements>'
        "<flowable:value>5</flowable:value></extensionElements></dataObject>"
        '<dataObject id="d2" name="greeting" itemSubjectRef="xsd:string"><extensionElements>'
        "<flowable:value>hi</flowable:value></extensionElements></dataObject>"
    )
    assert found.scopes["P"].data == (("limit", "5"), ("greeting", '"hi"'))


def test_several_pools_are_several_processes():
    found = model("pools.bpmn")
    assert [process.id for process in found.processes] == ["shop", "supplier"]
    assert [(d.code, d.element) for d in found.diagnostics] == [("process-not-executable", "customer")]


@pytest.mark.parametrize(
    ("content", "around", "expected"),
    [
        ('<task name="nameless"/>', "", {"id-missing", "start-missing"}),
        (line('<task id="x"/>') + '<task id="x"/>', "", {"id-duplicate"}),
        ('<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="gone"/>', "", {"reference-missing"}),
        (
            line('<subProcess id="x"><startEvent id="i"/></subProcess>')
            + '<sequenceFlow id="f" sourceRef="x" targetRef="i"/>',
            "",
            {"reference-wrong", "start-incoming"},
        ),
        (line('<task id="x" default="f9"/>'), "", {"reference-wrong"}),
        (
            line('<task id="x"/>') + '<boundaryEvent id="b" attachedToRef="s"><errorEventDefinition/></boundaryEvent>',
            "",
            {"reference-wrong", "reference-dangling"},
        ),
        (line('<callActivity id="x"/>'), "", {"called-element-missing"}),
        (line('<callActivity id="x" calledElement="Q" camunda:calledElementBinding="newest"/>'), "", {"value-wrong"}),
        (line('<task id="x"><multiInstanceLoopCharacteristics/></task>'), "", {"collection-missing"}),
        (line('<choreographyTask id="x"/>'), "", {"unsupported-element", "reference-missing"}),
    ],
)
def test_what_is_reported(content, around, expected):
    assert set(codes(content, around)) - {"unsupported-feature"} == expected


def test_all_problems_come_at_once_with_element_and_line():
    found = compiled('<startEvent id="s"/>\n<callActivity id="c"/>\n<sequenceFlow id="f" sourceRef="s" targetRef="x"/>')
    assert [(d.code, d.severity, d.element, d.line, d.file) for d in found.errors] == [
        ("called-element-missing", "error", "c", 9, "test.bpmn"),
        ("reference-missing", "error", "f", 10, "test.bpmn"),
    ]
    assert str(found.errors[0]).startswith("test.bpmn:9: error called-element-missing: c: The call activity ")


def test_what_is_no_bpmn_is_said_so():
    assert [d.code for d in compile_bpmn(b"<html/>").errors] == ["not-bpmn"]
    assert [d.code for d in compile_bpmn(b"<definitions/>").errors] == ["not-bpmn"]
    assert [d.code for d in compile_bpmn(b"<a>").errors] == ["xml-malformed"]


def test_executable_or_not():
    said = '<process id="{}" {}><startEvent id="s{}"/></process>'
    head = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">'
    body = said.format("A", 'isExecutable="true"', 1) + said.format("B", "", 2)
    found = compile_bpmn((head + body + said.format("C", 'isExecutable="false"', 3) + "</definitions>").encode())
    assert [process.id for process in found.processes] == ["A", "B"]
    assert [(d.code, d.element) for d in found.diagnostics] == [
        ("process-executable-assumed", "B"),
        ("process-not-executable", "C"),
    ]
    none = compile_bpmn((head + said.format("C", 'isExecutable="false"', 3) + "</definitions>").encode())
    assert (none.processes, none.errors) == ((), ())
    assert "no-executable-process" in [d.code for d in none.diagnostics]
