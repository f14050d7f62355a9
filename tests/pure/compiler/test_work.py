"""What tasks are bound to: topics, inputs, headers, and what the engine computes itself."""

from __future__ import annotations

import pytest

from bpm.compiler import beans
from bpm.graph import DecisionSpec, Formula
from tests.pure.compiler.writing import codes, line, node, process


def service(attributes: str = "", inner: str = "", tag: str = "serviceTask", *, zeebe: bool = False):
    extensions = f"<extensionElements>{inner}</extensionElements>" if inner else ""
    return node(f'<{tag} id="x" {attributes}>{extensions}</{tag}>', zeebe=zeebe)


def inputs(found) -> list[tuple[str, str]]:
    return [(mapping.target, mapping.source.text) for mapping in found.inputs]


@pytest.mark.parametrize("vendor", ["camunda", "operaton", "flowable", "activiti"])
def test_one_vocabulary_for_the_family(vendor):
    found = service(f'{vendor}:type="external" {vendor}:topic="charge" {vendor}:taskPriority="${{p}}"')
    assert (found.kind, found.work.topic.text, found.work.priority.text) == ("external", "charge", "${p}")


@pytest.mark.parametrize("tag", ["serviceTask", "sendTask", "businessRuleTask", "scriptTask"])
def test_every_task_of_a_program_can_be_external(tag):
    assert service('camunda:type="external" camunda:topic="t"', tag=tag).work.topic.text == "t"


@pytest.mark.parametrize(
    ("attributes", "topic", "given"),
    [
        ('camunda:class="shop.Charge"', "shop.Charge", []),
        ('camunda:delegateExpression="${charge}"', "charge", []),
        ('camunda:delegateExpression="#{shop.charge}"', "shop.charge", []),
        (
            "camunda:expression=\"${mailer.send(order, 'now')}\"",
            "mailer.send",
            [("arg0", "${order}"), ("arg1", "${'now'}")],
        ),
        ('camunda:expression="${ a.b.c ( f(x, y), z[1] ) }"', "a.b.c", [("arg0", "${f(x, y)}"), ("arg1", "${z[1]}")]),
        ('camunda:expression="${mailer.run(execution, n)}"', "mailer.run", [("arg1", "${n}")]),
        ('camunda:expression="${mailer.ping()}"', "mailer.ping", []),
        ('camunda:expression="#{printer.printMessage}"', "printer.printMessage", []),
        ('camunda:expression="${a.b(x).c(y)}"', "a.b(x).c(y)", []),
        ('camunda:expression="${a.b(x) == 1}" camunda:resultVariable="r"', "a.b(x) == 1", []),
        ('camunda:type="mail"', "mail", []),
        ('implementation="charge-card"', "charge-card", []),
        ('implementation="##WebService" operationRef="op"', "charge", []),
        ("", "x", []),
    ],
)
def test_topics(attributes, topic, given):
    around = '<interface id="i"><operation id="op" name="charge"/></interface>'
    found = node(f'<serviceTask id="x" {attributes}/>', around)
    assert (found.kind, found.work.topic.text, inputs(found)) == ("external", topic, given)


@pytest.mark.parametrize(
    ("attributes", "written"),
    [
        ('camunda:expression="${price * 2}" camunda:resultVariable="total"', [("total", "${price * 2}")]),
        ('camunda:expression="${order.total}" camunda:resultVariable="t"', [("t", "${order.total}")]),
        ("camunda:expression=\"${execution.setVariable('a', b + 1)}\"", [("a", "${b + 1}")]),
        (
            'camunda:expression="${execution.getVariable(\'a\')}" camunda:resultVariable="b"',
            [("b", "${execution.getVariable('a')}")],
        ),
        ('camunda:expression="${1 + 1}"', []),
    ],
)
def test_what_only_computes_is_no_work(attributes, written):
    found = service(attributes)
    assert (found.kind, found.work) == ("pass", None)
    assert [(m.target, m.source.text) for m in found.outputs] == written


def test_a_task_definition_of_zeebe():
    found = service(
        "",
        '<zeebe:taskDefinition type="charge" retries="=n"/><zeebe:taskHeaders><zeebe:header key="k"'
        ' value="v"/></zeebe:taskHeaders>'
        '<zeebe:ioMapping><zeebe:input source="=order.total" target="amount"/><zeebe:output source="=ok"'
        ' target="paid"/></zeebe:ioMapping>',
        zeebe=True,
    )
    assert (found.work.topic.text, found.work.retries.text, found.work.headers) == ("charge", "=n", (("k", "v"),))
    assert inputs(found) == [("amount", "=order.total")]
    assert [(m.target, m.source.text) for m in found.outputs] == [("paid", "=ok")]


def test_inputs_outputs_and_their_values():
    found = service(
        'camunda:type="external" camunda:topic="t" camunda:resultVariable="r"',
        '<camunda:inputOutput><camunda:inputParameter name="a"> ${x} </camunda:inputParameter>'
        '<camunda:inputParameter name="empty"/>'
        '<camunda:inputParameter name="l"><camunda:list><camunda:value>1</camunda:value>'
        "<camunda:value>${y}</camunda:value></camunda:list>"
        '</camunda:inputParameter><camunda:inputParameter name="m"><camunda:map><camunda:entry'
        ' key="k">v</camunda:entry>'
        '<camunda:entry key="n"><camunda:list/></camunda:entry></camunda:map></camunda:inputParameter>'
        '<camunda:inputParameter name="f"><camunda:script scriptFormat="feel">x + 1</camunda:script>'
        "</camunda:inputParameter>"
        '<camunda:outputParameter name="o">${z}</camunda:outputParameter></camunda:inputOutput>',
    )
    a, empty, listed, mapped, computed = (mapping.source for mapping in found.inputs)
    assert (a.text, empty.text, empty.language) == ("${x}", "null", "feel")
    assert (listed.kind, [item.text for item in listed.items]) == ("list", ["1", "${y}"])
    assert (mapped.kind, mapped.keys, mapped.items[0].text, mapped.items[1].kind) == ("map", ("k", "n"), "v", "list")
    assert (computed.text, computed.language) == ("x + 1", "feel")
    assert (found.outputs[0].target, found.work.result_variable) == ("o", "r")


def test_fields_become_inputs():
    found = service(
        'camunda:class="a.B"',
        '<camunda:field name="to" stringValue="a@b.c"/><camunda:field name="text">'
        "<camunda:expression>${t}</camunda:expression>"
        "</camunda:field>",
    )
    assert inputs(found) == [("to", "a@b.c"), ("text", "${t}")]


def test_connectors():
    found = service(
        "",
        "<camunda:connector><camunda:connectorId>http-connector</camunda:connectorId><camunda:inputOutput>"
        '<camunda:inputParameter name="url">http://x</camunda:inputParameter>'
        '<camunda:outputParameter name="answer">${response}</camunda:outputParameter></camunda:inputOutput>'
        "</camunda:connector>",
    )
    assert (found.work.topic.text, inputs(found)) == ("http-connector", [("url", "http://x")])
    assert [m.target for m in found.outputs] == ["answer"]


def test_retries_headers_and_errors():
    found = node(
        '<serviceTask id="x" camunda:type="external" camunda:topic="t"><extensionElements>'
        "<camunda:failedJobRetryTimeCycle>R3/PT10S</camunda:failedJobRetryTimeCycle>"
        '<camunda:properties><camunda:property name="p" value="1"/></camunda:properties>'
        '<camunda:errorEventDefinition errorRef="err" expression="${full}"/></extensionElements></serviceTask>',
        '<error id="err" errorCode="FULL"/>',
    )
    assert (found.work.retry_cycle, found.work.headers) == ("R3/PT10S", (("p", "1"),))
    assert [(code, formula.text) for code, formula in found.work.errors] == [("FULL", "${full}")]


@pytest.mark.parametrize(("format", "topic"), [('scriptFormat="JavaScript"', "script:javascript"), ("", "script")])
def test_scripts_are_work(format, topic):
    found = node(f'<scriptTask id="x" {format}><script>x = 1;</script></scriptTask>')
    assert (found.kind, found.work.topic.text, found.work.headers[0]) == ("external", topic, ("script", "x = 1;"))


def test_scripts_in_feel_and_juel_are_computed():
    feel = node(
        '<scriptTask id="x" scriptFormat="feel" camunda:resultVariable="y"><script>= x + 1</script></scriptTask>'
    )
    assert (feel.kind, feel.outputs[0].source.text, feel.outputs[0].source.language) == ("pass", "x + 1", "feel")
    zeebe = node(
        '<scriptTask id="x"><extensionElements><zeebe:script expression="=a + b" resultVariable="c"/>'
        "</extensionElements></scriptTask>",
        zeebe=True,
    )
    assert [(m.target, m.source.text) for m in zeebe.outputs] == [("c", "=a + b")]


def test_decisions():
    found = node(
        '<businessRuleTask id="x" camunda:decisionRef="risk" camunda:resultVariable="r"'
        ' camunda:mapDecisionResult="singleEntry"/>'
    )
    assert found.kind == "decision"
    assert found.decision == DecisionSpec(target=Formula(text="risk"), result_variable="r", mapping="singleEntry")
    pinned = node(
        '<businessRuleTask id="x" camunda:decisionRef="${name}" camunda:decisionRefBinding="version"'
        ' camunda:decisionRefVersion="2"/>'
    )
    assert pinned.decision == DecisionSpec(
        target=Formula(text="${name}"), binding="version", version=Formula(text="2"), mapping="resultList"
    )
    zeebe = node(
        '<businessRuleTask id="x"><extensionElements><zeebe:calledDecision decisionId="risk"'
        ' resultVariable="r"/></extensionElements>'
        "</businessRuleTask>",
        zeebe=True,
    )
    assert zeebe.decision == DecisionSpec(target=Formula(text="risk"), result_variable="r")


@pytest.mark.parametrize(
    "said",
    [
        'camunda:mapDecisionResult="everything"',
        'camunda:decisionRefBinding="newest"',
        'camunda:decisionRefBinding="version"',
    ],
)
def test_decisions_bound_wrongly(said):
    assert "value-wrong" in codes(line(f'<businessRuleTask id="x" camunda:decisionRef="risk" {said}/>'))


def test_a_message_that_a_worker_sends():
    content = '<endEvent id="x"><messageEventDefinition camunda:type="external" camunda:topic="mail"/></endEvent>'
    found = process(f'<startEvent id="s"/>{content}<sequenceFlow id="f" sourceRef="s" targetRef="x"/>').nodes["x"]
    assert (found.kind, found.trigger.kind, found.work.topic.text) == ("end", "message", "mail")


@pytest.mark.parametrize(
    ("element", "code"),
    [
        ('<serviceTask id="x"/>', "implementation-missing"),
        ('<serviceTask id="x" camunda:type="external"/>', "topic-missing"),
        ('<serviceTask id="x" camunda:expression="${a.b(execution)}"/>', "argument-dropped"),
        ('<serviceTask id="x" camunda:expression="${a.b(c)} and more"/>', "expression-as-topic"),
        ('<serviceTask id="x" camunda:expression="${a.b(c +)}"/>', "expression-broken"),
        ('<scriptTask id="x"/>', "script-missing"),
        (
            '<serviceTask id="x" camunda:class="A"><extensionElements><camunda:inputOutput>'
            '<camunda:inputParameter name="a">'
            '<camunda:script scriptFormat="groovy">1</camunda:script></camunda:inputParameter>'
            "</camunda:inputOutput></extensionElements>"
            "</serviceTask>",
            "unsupported-language",
        ),
    ],
)
def test_what_is_reported(element, code):
    assert code in codes(line(element))


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", []),
        ("a", ["a"]),
        ("a, b", ["a", "b"]),
        ("'a, b', c", ["'a, b'", "c"]),
        (r"'it\'s, ', b", [r"'it\'s, '", "b"]),
        ("f(a, b), [c, d], {e: f}", ["f(a, b)", "[c, d]", "{e: f}"]),
    ],
)
def test_arguments_are_split_at_top_level_commas(text, arguments):
    assert list(beans.split_arguments(text)) == arguments
