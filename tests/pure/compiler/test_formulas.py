"""Which language a text is in, what is wrong with it, and what a process reads."""

from __future__ import annotations

import pytest

from tests.pure.compiler.writing import codes, compiled, line, process


def flow(condition: str, around: str = "") -> str:
    return (
        '<startEvent id="s"/><exclusiveGateway id="g" default="no"/><endEvent id="e"/>'
        '<sequenceFlow id="f" sourceRef="s" targetRef="g"/><sequenceFlow id="no" sourceRef="g" targetRef="e"/>'
        f'<sequenceFlow id="yes" sourceRef="g" targetRef="e">{condition}</sequenceFlow>{around}'
    )


def conditional(text: str, language: str = "") -> str:
    said = f'language="{language}"' if language else ""
    return flow(f'<conditionExpression xsi:type="tFormalExpression" {said}>{text}</conditionExpression>')


@pytest.mark.parametrize(
    ("text", "language", "source", "read_as"),
    [
        ("${a == 1}", "", "${a == 1}", None),
        ("  #{a}\n", "", "#{a}", None),
        ("=a = 1", "", "=a = 1", None),
        ("true", "", "true", "feel"),
        ("a &gt; 1", "", "a > 1", "feel"),
        ("a &gt; 1", "http://www.w3.org/1999/XPath", "a > 1", "feel"),
        ("${a}", "http://www.w3.org/1999/XPath", "${a}", None),
        ("a = 1", "feel", "a = 1", "feel"),
        ("=a = 1", "https://www.omg.org/spec/DMN/20191111/FEEL/", "a = 1", "feel"),
        ("a == 1", "juel", "${a == 1}", "juel"),
        ("${a == 1}", "JUEL", "${a == 1}", "juel"),
        ("never an expression, this", "", "never an expression, this", None),
    ],
)
def test_the_language_of_a_condition(text, language, source, read_as):
    found = process(conditional(text, language)).flows["yes"].condition
    assert (found.text, found.language) == (source, read_as)


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [
        ("a &gt; 1", "", "read-as-feel"),
        ("yes, unless it rains", "", "text-not-expression"),
        ("", "", "expression-missing"),
        ("${a ==}", "", "expression-broken"),
        ("=1 +", "", "expression-broken"),
        ("a == 1", "groovy", "unsupported-language"),
        ("return a", "http://www.java.com/java", "unsupported-language"),
    ],
)
def test_what_is_reported(text, language, code):
    found = [d for d in compiled(conditional(text, language)).diagnostics if d.code == code]
    assert [d.element for d in found] == ["yes"]


def test_names_of_data_may_have_spaces():
    condition = '<conditionExpression xsi:type="tFormalExpression">Vacation Approval = "Approved"</conditionExpression>'
    data = '<dataObject id="d" name="Vacation Approval"/>'
    assert codes(flow(condition, data)) == ["read-as-feel"]
    assert process(flow(condition, data)).reads == ("Vacation Approval",)


def test_what_a_process_reads():
    task = (
        '<serviceTask id="x" camunda:type="external" camunda:topic="${topic}"><extensionElements><camunda:inputOutput>'
        '<camunda:inputParameter name="i"><camunda:list><camunda:value>${a.b}</camunda:value>'
        "</camunda:list></camunda:inputParameter>"
        '<camunda:inputParameter name="j">plain $5</camunda:inputParameter>'
        "</camunda:inputOutput></extensionElements></serviceTask>"
    )
    found = process(
        line(
            task,
            '<callActivity id="c" calledElement="q"><extensionElements><camunda:in source="d" target="e"/>'
            "</extensionElements></callActivity>",
        )
    )
    assert (found.reads, found.dynamic) == (("a", "d", "topic"), False)


def test_a_computed_name_may_be_any():
    found = process(conditional("${execution.getVariable(name)}"))
    assert (found.reads, found.dynamic) == (("name",), True)
