"""What can only be seen of files that are deployed together; strict compilation; the exception."""

from __future__ import annotations

import pytest

from bpm.compiler import CompileError, check_together, compile_bpmn, compile_or_raise, supported
from tests.pure.compiler.writing import compiled, line, written

FILE = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="{space}">{inner}
<process id="{id}" isExecutable="true"><startEvent id="s"/>{nodes}</process></definitions>"""


def file(name: str, id: str, *, space: str = "a", nodes: str = "", inner: str = "", strict: bool = False):
    return compile_bpmn(FILE.format(id=id, space=space, nodes=nodes, inner=inner).encode(), file=name, strict=strict)


def found(*files) -> list[tuple[str, str, str, str]]:
    return [(d.severity, d.code, d.element, d.file) for d in check_together(files)]


def test_two_processes_of_one_id():
    one, other = file("a.bpmn", "P"), file("b.bpmn", "P", nodes='<task id="t"/>')
    assert found(one, other) == [("error", "process-duplicate", "P", "b.bpmn")]


def test_the_same_process_in_two_files():
    one = file("a.bpmn", "P")
    assert found(one, file("b.bpmn", "P", space="other")) == []
    assert found(one, file("b.bpmn", "P", space="a")) == [("warning", "process-twice", "P", "b.bpmn")]
    assert found(one, file("b.bpmn", "P", strict=True)) == [("error", "process-twice", "P", "b.bpmn")]


def test_called_processes():
    caller = file(
        "a.bpmn", "P", nodes='<callActivity id="c" calledElement="Q"/><callActivity id="d" calledElement="${q}"/>'
    )
    assert found(caller) == [("warning", "called-process-missing", "c", "a.bpmn")]
    assert found(caller, file("b.bpmn", "Q")) == []


def test_imported_files():
    model = "http://www.omg.org/spec/BPMN/20100524/MODEL"
    schema = '<import importType="http://www.w3.org/2001/XMLSchema" location="x.xsd" namespace="x"/>'
    inner = f'<import importType="{model}" location="b.bpmn" namespace="b"/>{schema}'
    assert found(file("a.bpmn", "P", inner=inner)) == [("warning", "import-missing", "", "a.bpmn")]
    assert found(file("a.bpmn", "P", inner=inner, strict=True)) == [("error", "import-missing", "", "a.bpmn")]
    assert found(file("a.bpmn", "P", inner=inner), file("models/b.bpmn", "Q", space="b")) == []


def test_strict_makes_errors_of_the_standards_warnings_only():
    content = (
        line('<task id="x" camunda:historyTimeToLive="P1D"/>')
        + '<sequenceFlow id="n" sourceRef="x" targetRef="e" isImmediate="false"/>'
    )
    usual, strict = compiled(content), compiled(content, strict=True)
    assert [(d.severity, d.code) for d in usual.diagnostics] == [
        ("warning", "flow-not-immediate"),
        ("note", "extension-ignored"),
    ]
    assert [(d.severity, d.code) for d in strict.diagnostics] == [
        ("error", "flow-not-immediate"),
        ("note", "extension-ignored"),
    ]


def test_the_exception_has_everything():
    with pytest.raises(CompileError) as caught:
        compile_or_raise(written(line('<callActivity id="x" camunda:exclusive="false"/>')), file="a.bpmn")
    assert [d.code for d in caught.value.diagnostics] == ["called-element-missing", "extension-ignored"]
    assert str(caught.value) == str(caught.value.diagnostics[0])
    assert compile_or_raise(written(line('<task id="x"/>'))).errors == ()


def test_a_feature_that_is_not_run_is_refused_by_name(monkeypatch):
    monkeypatch.setitem(supported.FEATURES, ("boundary", "signal", "interrupting"), False)
    content = (
        line('<task id="t"/>')
        + '<boundaryEvent id="b" attachedToRef="t"><signalEventDefinition signalRef="g"/></boundaryEvent>'
    )
    errors = compiled(content, '<signal id="g" name="go"/>').errors
    assert [(d.code, d.element) for d in errors] == [("unsupported-feature", "b")]
    assert "interrupting signal boundary event" in errors[0].message


PHRASES = {
    ("boundary", "timer", "non-interrupting"): "non-interrupting timer boundary event",
    ("start", "error", "interrupting"): "error start event of an interrupting event subprocess",
    ("start", "none", "process"): "none start event",
    ("catch", "signal", ""): "intermediate signal catch event",
    ("loop", "parallel", ""): "parallel multi-instance",
    ("loop", "standard", ""): "standard loop",
    ("activity", "compensation", ""): "compensation handler",
    ("subprocess", "ad_hoc", ""): "ad-hoc subprocess",
    ("complex", "", ""): "complex gateway",
    ("external", "", ""): "external task",
}


@pytest.mark.parametrize("feature", PHRASES)
def test_features_have_names(feature):
    assert supported.phrase(feature) == PHRASES[feature]
    assert feature in supported.FEATURES
