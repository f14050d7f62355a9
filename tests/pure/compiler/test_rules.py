"""Each static rule sees its breach; a plain model breaks none."""

from __future__ import annotations

import pytest

from bpm.compiler.diagnostics import FINDINGS
from bpm.compiler.rulebook import RULES
from tests.pure.compiler.writing import codes, compiled, line, model

TASK = '<task id="x"/>'
FLOW = '<sequenceFlow id="{}" sourceRef="{}" targetRef="{}"/>'
EVENT_SUB = (
    '<subProcess id="v" triggeredByEvent="true"><startEvent id="vs"><errorEventDefinition/></startEvent></subProcess>'
)
DATA = "<ioSpecification>{}<inputSet/><outputSet/></ioSpecification>"
INPUT, OUTPUT = '<dataInput id="a"/>', '<dataOutput id="o"/>'
ONE_EVENT = 'Characteristics behavior="One">'
ITEMS = '<itemDefinition id="i1" structureRef="xsd:string"/><itemDefinition id="i2" structureRef="xsd:int"/>'
MESSAGE = ITEMS + '<message id="m1" name="m" itemRef="i1"/>'
OPERATION = '<interface id="if1"><operation id="op1"><inMessageRef>m1</inMessageRef></operation></interface>'
POOLS = '<collaboration id="c"><participant id="p1" processRef="P"/><participant id="p2"/>{}</collaboration>'


def flow(id: str, source: str, target: str) -> str:
    return FLOW.format(id, source, target)


def choice(gateway: str, first: str = "", second: str = "") -> str:
    """A gateway g with flows fa and fb to two end events, which hold what is given."""
    return (
        f'<startEvent id="s"/>{gateway}<endEvent id="a"/><endEvent id="b"/>{flow("f", "s", "g")}'
        f'<sequenceFlow id="fa" sourceRef="g" targetRef="a">{first}</sequenceFlow>'
        f'<sequenceFlow id="fb" sourceRef="g" targetRef="b">{second}</sequenceFlow>'
    )


def events(behind: str, gateway: str = '<eventBasedGateway id="g"/>') -> str:
    """An event-based gateway with a timer behind it, and what is given (its id is `y`)."""
    timer = "<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition>"
    return (
        f'<startEvent id="s"/>{gateway}<intermediateCatchEvent id="t">{timer}</intermediateCatchEvent>{behind}'
        + flow("f", "s", "g")
        + flow("ft", "g", "t")
        + flow("fy", "g", "y")
    )


IF = '<conditionExpression xsi:type="tFormalExpression">${a}</conditionExpression>'
MULTI = "<multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality>{}</multiInstanceLoopCharacteristics>"
COMPENSATED = '<task id="x"/><boundaryEvent id="b" attachedToRef="x" {}><compensateEventDefinition/></boundaryEvent>{}'
UNDO = '<task id="u" isForCompensation="true"/><association id="as" sourceRef="b" targetRef="u"/>'
LINK = '<intermediate{0}Event id="{1}"><linkEventDefinition id="l{1}" name="{2}"/></intermediate{0}Event>'

# code: [(content of the process, what stands beside it), ...]
BREACHES: dict[str, list[tuple[str, str]]] = {
    "start-incoming": [(line(TASK) + flow("n", "x", "s"), "")],
    "end-outgoing": [(line(TASK) + flow("n", "e", "x"), "")],
    "event-subprocess-flow": [
        (line(TASK) + EVENT_SUB + flow("n", "x", "v"), ""),
        (line(TASK) + EVENT_SUB + flow("n", "v", "x"), ""),
    ],
    "link-flow": [
        (line(LINK.format("Throw", "x", "a")) + LINK.format("Catch", "y", "a"), ""),
        (line(LINK.format("Catch", "x", "a")), ""),
    ],
    "flow-not-immediate": [(line(TASK) + '<sequenceFlow id="n" sourceRef="s" targetRef="e" isImmediate="false"/>', "")],
    "gateway-direction": [
        (choice('<parallelGateway id="g" gatewayDirection="Converging"/>'), ""),
        (choice('<parallelGateway id="g" gatewayDirection="Mixed"/>'), ""),
        (line('<parallelGateway id="g" gatewayDirection="Diverging"/>'), ""),
    ],
    "condition-missing": [(choice('<exclusiveGateway id="g"/>', IF), "")],
    "condition-misplaced": [(choice('<parallelGateway id="g"/>', IF), "")],
    "default-with-condition": [(choice('<exclusiveGateway id="g" default="fa"/>', IF, IF), "")],
    "condition-alone": [
        (
            f'<startEvent id="s"/>{TASK}<endEvent id="e"/>{flow("f", "s", "x")}'
            f'<sequenceFlow id="n" sourceRef="x" targetRef="e">{IF}</sequenceFlow>',
            "",
        ),
    ],
    "event-gateway-alone": [(line('<eventBasedGateway id="g"/>', '<receiveTask id="y"/>'), "")],
    "event-gateway-target": [
        (events('<task id="y"/>'), ""),
        (events(LINK.format("Catch", "y", "a")), ""),
        (events('<receiveTask id="y"/>') + flow("n", "s", "y"), ""),
    ],
    "event-gateway-mix": [
        (
            events('<receiveTask id="y"/>').replace(
                "<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition>",
                '<messageEventDefinition messageRef="m1"/>',
            ),
            MESSAGE,
        ),
    ],
    "instantiate-incoming": [(line('<receiveTask id="x" instantiate="true"/>'), "")],
    "compensation-flow": [
        (COMPENSATED.format("", UNDO) + flow("n", "b", "u"), ""),
        (COMPENSATED.format("", UNDO) + flow("n", "x", "u"), ""),
    ],
    "trigger-misplaced": [
        (line('<intermediateCatchEvent id="x"><errorEventDefinition/></intermediateCatchEvent>'), ""),
        (
            line('<intermediateThrowEvent id="x"><eventDefinitionRef>t</eventDefinitionRef></intermediateThrowEvent>'),
            '<timerEventDefinition id="t"><timeDuration>PT1S</timeDuration></timerEventDefinition>',
        ),
    ],
    "trigger-missing": [
        (line('<intermediateCatchEvent id="x"/>'), ""),
        (line(TASK) + '<boundaryEvent id="b" attachedToRef="x"/>', ""),
    ],
    "cancel-outside-transaction": [
        ('<startEvent id="s"/><endEvent id="e"><cancelEventDefinition/></endEvent>' + flow("f", "s", "e"), ""),
        (line(TASK) + '<boundaryEvent id="b" attachedToRef="x"><cancelEventDefinition/></boundaryEvent>', ""),
    ],
    "event-definition-not-reusable": [
        (
            '<startEvent id="s"><messageEventDefinition id="d" messageRef="m1"/></startEvent>'
            + '<endEvent id="e"><eventDefinitionRef>d</eventDefinitionRef></endEvent>'
            + flow("f", "s", "e"),
            MESSAGE,
        ),
    ],
    "escalation-code-missing": [
        ('<startEvent id="s"/><endEvent id="e"><escalationEventDefinition/></endEvent>' + flow("f", "s", "e"), ""),
    ],
    "error-reference-missing": [
        ('<startEvent id="s"/><endEvent id="e"><errorEventDefinition/></endEvent>' + flow("f", "s", "e"), ""),
    ],
    "compensation-handler-missing": [
        (COMPENSATED.format("", ""), ""),
        (COMPENSATED.format("", UNDO.replace('isForCompensation="true"', "")), ""),
    ],
    "compensation-interrupting": [(COMPENSATED.format('cancelActivity="false"', UNDO), "")],
    "link-pair": [(line(TASK) + LINK.format("Throw", "t", "a") + LINK.format("Catch", "c", "b"), "")],
    "link-twice": [(line(TASK) + LINK.format("Catch", "c", "a") + LINK.format("Catch", "d", "a"), "")],
    "subprocess-starts": [
        (line('<subProcess id="x"><startEvent id="i"/><startEvent id="j"/></subProcess>'), ""),
        (line(TASK) + '<subProcess id="v" triggeredByEvent="true"><task id="i"/></subProcess>', ""),
    ],
    "start-missing": [('<task id="x"/>', "")],
    "ad-hoc-content": [
        (line('<adHocSubProcess id="x"/>'), ""),
        (line('<adHocSubProcess id="x"><startEvent id="i"/><task id="j"/></adHocSubProcess>'), ""),
    ],
    "expression-informal": [(choice('<exclusiveGateway id="g"/>', IF.replace('xsi:type="tFormalExpression"', "")), "")],
    "expression-empty": [
        (
            line(
                '<intermediateCatchEvent id="x"><conditionalEventDefinition><condition/></conditionalEventDefinition>'
                "</intermediateCatchEvent>"
            ),
            "",
        ),
    ],
    "condition-not-boolean": [(choice('<exclusiveGateway id="g"/>', IF.replace("${a}", "12")), "")],
    "loop-twice": [(line(f'<task id="x"><standardLoopCharacteristics/>{MULTI.format("")}</task>'), "")],
    "behavior-event-missing": [
        (
            line(f'<task id="x">{MULTI.format("").replace("Characteristics>", ONE_EVENT, 1)}</task>'),
            "",
        ),
    ],
    "resource-twice": [
        (
            line(
                '<userTask id="x"><performer><resourceRef>r</resourceRef><resourceAssignmentExpression>'
                "<formalExpression>a"
                "</formalExpression></resourceAssignmentExpression></performer></userTask>"
            ),
            '<resource id="r"/>',
        ),
    ],
    "text-format": [(line('<task id="x"><documentation textFormat="odd">d</documentation></task>'), "")],
    "data-state-unnamed": [
        (
            line(TASK)
            + '<dataObject id="d"/><dataObjectReference id="r" dataObjectRef="d"><dataState/></dataObjectReference>',
            "",
        ),
    ],
    "property-misplaced": [(line(TASK), '<property id="p"/>')],
    "message-flow-end": [
        (line(TASK), POOLS.format('<messageFlow id="mf" sourceRef="s" targetRef="p2"/>')),
        (line(TASK), POOLS.format('<messageFlow id="mf" sourceRef="p2" targetRef="e"/>')),
    ],
    "message-flow-within-pool": [(line(TASK), POOLS.format('<messageFlow id="mf" sourceRef="p1" targetRef="x"/>'))],
    "message-flow-event": [(line(TASK), POOLS.format('<messageFlow id="mf" sourceRef="p2" targetRef="s"/>'))],
    "participants-range": [
        (
            line(TASK),
            '<collaboration id="c"><participant id="p"><participantMultiplicity minimum="3" maximum="2"/>'
            "</participant></collaboration>",
        ),
    ],
    "public-executable": [],
    "collection-differs": [
        (line(TASK) + '<dataObject id="d" isCollection="true" itemSubjectRef="i1"/>', ITEMS),
    ],
    "set-member-missing": [
        (
            line(
                '<task id="x"><ioSpecification><dataInput id="a"/><inputSet><dataInputRefs>a</dataInputRefs>'
                "<optionalInputRefs>b</optionalInputRefs></inputSet><outputSet/></ioSpecification></task>"
            ),
            "",
        ),
    ],
    "sets-not-mutual": [
        (
            line(
                '<task id="x"><ioSpecification><inputSet id="is"><outputSetRefs>os</outputSetRefs></inputSet>'
                '<outputSet id="os"/></ioSpecification></task>'
            ),
            "",
        ),
    ],
    "data-association-end": [
        (
            line(
                f'<task id="x">{DATA.format(OUTPUT)}<dataOutputAssociation id="da">'
                "<sourceRef>o</sourceRef><targetRef>s</targetRef></dataOutputAssociation></task>"
            ),
            "",
        ),
    ],
    "data-association-items": [
        (
            line(
                '<task id="x"><ioSpecification><dataInput id="a" itemSubjectRef="i1"/><inputSet/>'
                "<outputSet/></ioSpecification>"
                '<dataInputAssociation id="da"><sourceRef>d</sourceRef><targetRef>a</targetRef>'
                "</dataInputAssociation></task>"
            )
            + '<dataObject id="d" itemSubjectRef="i2"/>',
            ITEMS,
        ),
    ],
    "data-state-name": [
        (
            line(TASK) + '<dataObject id="d"/><dataObjectReference id="r" name="Order [paid]" dataObjectRef="d">'
            '<dataState name="open"/></dataObjectReference>',
            "",
        ),
    ],
    "event-data": [
        (
            line(
                '<intermediateCatchEvent id="x"><dataOutput id="o" itemSubjectRef="i2"/>'
                '<messageEventDefinition messageRef="m1"/>'
                "</intermediateCatchEvent>"
            ),
            MESSAGE,
        ),
        (
            line(
                '<intermediateCatchEvent id="x"><dataOutput id="o"/><messageEventDefinition messageRef="m1"/>'
                '<signalEventDefinition signalRef="g"/></intermediateCatchEvent>'
            ),
            MESSAGE + '<signal id="g" name="g"/>',
        ),
    ],
    "loop-data": [
        (
            line(
                '<task id="x"><multiInstanceLoopCharacteristics><loopDataInputRef>e</loopDataInputRef>'
                "</multiInstanceLoopCharacteristics></task>"
            ),
            "",
        ),
        (
            line(
                '<task id="x"><multiInstanceLoopCharacteristics><loopDataInputRef>d</loopDataInputRef>'
                "</multiInstanceLoopCharacteristics></task>"
            )
            + '<dataObject id="d" itemSubjectRef="i1"/>',
            ITEMS,
        ),
    ],
    "operation-data": [(line('<serviceTask id="x" operationRef="op1"/>'), MESSAGE + OPERATION)],
    "message-data": [
        (
            line(
                '<receiveTask id="x" messageRef="m1"><ioSpecification><dataOutput id="o"'
                ' itemSubjectRef="i2"/><inputSet/><outputSet/>'
                "</ioSpecification></receiveTask>"
            ),
            MESSAGE,
        ),
        (
            line(
                '<sendTask id="x" messageRef="m1"><ioSpecification><inputSet/><inputSet/><outputSet/>'
                "</ioSpecification></sendTask>"
            ),
            MESSAGE,
        ),
    ],
    "operation-message": [
        (
            line('<sendTask id="x" messageRef="m2" operationRef="op1"/>'),
            MESSAGE + OPERATION + '<message id="m2" name="n"/>',
        ),
    ],
    "called-without-start": [
        (
            line('<callActivity id="x" calledElement="Q"/>'),
            MESSAGE
            + '<process id="Q"><startEvent id="q"><messageEventDefinition messageRef="m1"/></startEvent></process>',
        ),
    ],
    "called-data": [
        (
            line(f'<callActivity id="x" calledElement="Q">{DATA.format(INPUT)}</callActivity>'),
            '<process id="Q"><startEvent id="q"/></process>',
        ),
    ],
    "called-wrong": [(line('<callActivity id="x" calledElement="s"/>'), "")],
    "interface-binding": [
        ("<supportedInterfaceRef>if1</supportedInterfaceRef>" + line(TASK), MESSAGE + OPERATION),
    ],
    "reference-dangling": [
        (line('<receiveTask id="x" messageRef="P"/>'), ""),
        (line(TASK), '<message id="m" name="n" itemRef="gone"/>'),
        (
            line(TASK),
            '<collaboration id="c"><participant id="p"><interfaceRef>x</interfaceRef></participant></collaboration>',
        ),
    ],
    "flow-dangling": [(line(TASK), POOLS.format('<messageFlow id="mf" sourceRef="gone" targetRef="p2"/>'))],
}
RULE_CODES = [rule.code for rule in RULES]
CASES = [(code, content, around) for code, cases in BREACHES.items() for content, around in cases]


@pytest.mark.parametrize(("code", "content", "around"), CASES, ids=[code for code, _, _ in CASES])
def test_the_breach_is_seen(code, content, around):
    assert code in codes(content, around)


def test_every_rule_has_its_breach():
    assert set(BREACHES) == set(RULE_CODES)
    assert len(RULE_CODES) == len(set(RULE_CODES))
    assert set(RULE_CODES).isdisjoint(FINDINGS)


def test_public_processes_are_not_executable():
    text = '<process id="Q" isExecutable="true" processType="Public"><startEvent id="q"/></process>'
    assert "public-executable" in codes(line(TASK), text)


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.severity != "error" and rule.strict], ids=lambda rule: rule.code
)
def test_strict_compilation_refuses_what_is_a_warning_otherwise(rule):
    for content, around in BREACHES[rule.code]:
        usual, strict = compiled(content, around), compiled(content, around, strict=True)
        assert {d.severity for d in usual.diagnostics if d.code == rule.code} == {rule.severity}
        assert {d.severity for d in strict.diagnostics if d.code == rule.code} == {"error"}


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.strict], ids=lambda rule: rule.code)
def test_advice_stays_advice(rule):
    for content, around in BREACHES[rule.code]:
        strict = compiled(content, around, strict=True)
        assert {d.severity for d in strict.diagnostics if d.code == rule.code} == {"warning"}


def test_a_sound_model_breaks_no_rule():
    assert codes(line(TASK), strict=True) == []
    assert [d.code for d in model("order.bpmn").diagnostics] == []
    assert codes(choice('<exclusiveGateway id="g" default="fb" gatewayDirection="Diverging"/>', IF), strict=True) == []
    assert (
        codes(
            events(
                '<intermediateCatchEvent id="y"><signalEventDefinition signalRef="g1"/></intermediateCatchEvent>'
            ).replace("<timeDuration>", '<timeDuration xsi:type="tFormalExpression">'),
            '<signal id="g1" name="go"/>',
            strict=True,
        )
        == []
    )
    assert (
        codes(
            line(LINK.format("Catch", "y", "a")).replace('sourceRef="s" targetRef="y"', 'sourceRef="s" targetRef="t"')
            + LINK.format("Throw", "t", "a"),
            strict=True,
        )
        == []
    )
    assert codes(line(TASK) + COMPENSATED.format("", UNDO).removeprefix(TASK), strict=True) == []
    assert (
        codes(
            line(TASK, '<sendTask id="y" camunda:class="A"/>'),
            POOLS.format('<messageFlow id="mf" sourceRef="y" targetRef="p2"/>'),
            strict=True,
        )
        == []
    )
