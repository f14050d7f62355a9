"""Event definitions to triggers."""

from __future__ import annotations

import pytest

from bpm.compiler.document import document
from bpm.compiler.rules_events import ALLOWED, position
from bpm.compiler.triggers import DEFINITIONS
from bpm.compiler.xml import read
from tests.pure.compiler.writing import codes, line, node, process, written

AROUND = """
<message id="m" name="paid"/><message id="bare"/><signal id="sig" name="stop"/>
<error id="err" errorCode="E1" camunda:errorMessage="broken"/><error id="codeless"/>
<escalation id="esc" escalationCode="X1"/>
<timerEventDefinition id="shared"><timeDuration>PT1H</timeDuration></timerEventDefinition>
"""


def trigger(definition: str, event: str = "intermediateCatchEvent", *, zeebe: bool = False, around: str = AROUND):
    element = f'<{event} id="x">{definition}</{event}>'
    if event == "endEvent":
        content = f'<startEvent id="s"/>{element}<sequenceFlow id="f" sourceRef="s" targetRef="x"/>'
        return process(content, around, zeebe=zeebe).nodes["x"].trigger
    return node(element, around, zeebe=zeebe).trigger


def test_messages():
    found = trigger('<messageEventDefinition messageRef="m"/>')
    assert (found.kind, found.name.text, found.correlation) == ("message", "paid", None)
    assert trigger('<messageEventDefinition messageRef="bare"/>').name.text == "bare"


def test_messages_of_zeebe_have_a_correlation_key():
    around = (
        '<message id="m" name="=&quot;paid-&quot; + n"><extensionElements>'
        '<zeebe:subscription correlationKey="=order.id"/></extensionElements></message>'
    )
    found = trigger('<messageEventDefinition messageRef="m"/>', around=around, zeebe=True)
    assert (found.name.text, found.correlation.text) == ('="paid-" + n', "=order.id")


@pytest.mark.parametrize(
    ("definition", "kind", "text"),
    [
        ("<timeDate>2030-01-31T12:00:00Z</timeDate>", "date", "2030-01-31T12:00:00Z"),
        ("<timeDuration> PT10S </timeDuration>", "duration", "PT10S"),
        ("<timeCycle>R3/PT1H</timeCycle>", "cycle", "R3/PT1H"),
        ("<timeCycle>0 0 8 ? * MON</timeCycle>", "cycle", "0 0 8 ? * MON"),
        ("<timeDuration>${wait}</timeDuration>", "duration", "${wait}"),
    ],
)
def test_timers(definition, kind, text):
    found = trigger(f"<timerEventDefinition>{definition}</timerEventDefinition>")
    assert (found.kind, found.timer_kind, found.timer.text, found.quartz) == ("timer", kind, text, True)


def test_cron_counts_days_by_the_namespace_of_the_model():
    cycle = "<timerEventDefinition><timeCycle>0 0 8 * * 1</timeCycle></timerEventDefinition>"
    assert not trigger(cycle, zeebe=True).quartz


def test_signals_errors_escalations():
    assert trigger('<signalEventDefinition signalRef="sig"/>').name.text == "stop"
    ended = trigger('<errorEventDefinition errorRef="err"/>', "endEvent")
    assert (ended.code.text, ended.error_message.text) == ("E1", "broken")
    assert trigger('<escalationEventDefinition escalationRef="esc"/>', "intermediateThrowEvent").code.text == "X1"


def test_what_catches_everything_has_no_code():
    content = line('<task id="t"/>') + (
        '<boundaryEvent id="b" attachedToRef="t"><errorEventDefinition camunda:errorCodeVariable="code"'
        ' camunda:errorMessageVariable="text"/></boundaryEvent>'
    )
    found = process(content).nodes["b"].trigger
    assert (found.kind, found.code, found.code_variable, found.message_variable) == ("error", None, "code", "text")


def test_an_error_without_a_code_goes_by_its_id():
    assert trigger('<errorEventDefinition errorRef="codeless"/>', "endEvent").code.text == "codeless"
    assert trigger('<errorEventDefinition errorRef="NOWHERE"/>', "endEvent").code.text == "NOWHERE"


def test_conditions():
    found = trigger(
        '<conditionalEventDefinition camunda:variableName="a, b" camunda:variableEvents="create,update">'
        '<condition xsi:type="tFormalExpression">${a &gt; b}</condition></conditionalEventDefinition>'
    )
    assert (found.condition.text, found.condition_variables) == ("${a > b}", ("a", "b"))
    assert found.condition_events == ("create", "update")


def test_compensation_names_its_activity():
    content = line(
        '<task id="t"/>',
        '<intermediateThrowEvent id="x"><compensateEventDefinition activityRef="t"/></intermediateThrowEvent>',
    )
    assert process(content).nodes["x"].trigger.activity == "t"


def test_links_go_by_target_or_by_name():
    content = """<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="a"/><endEvent id="e"/>
    <sequenceFlow id="f2" sourceRef="s" targetRef="b"/>
    <intermediateThrowEvent id="a">
      <linkEventDefinition id="la"><target>lc</target></linkEventDefinition>
    </intermediateThrowEvent>
    <intermediateThrowEvent id="b"><linkEventDefinition id="lb" name="two"/></intermediateThrowEvent>
    <intermediateCatchEvent id="c"><linkEventDefinition id="lc"/></intermediateCatchEvent>
    <intermediateCatchEvent id="d"><linkEventDefinition id="ld" name="two"/></intermediateCatchEvent>
    <sequenceFlow id="f3" sourceRef="c" targetRef="e"/><sequenceFlow id="f4" sourceRef="d" targetRef="e"/>"""
    nodes = process(content).nodes
    assert {id: nodes[id].trigger.name.text for id in "abcd"} == {"a": "lc", "b": "two", "c": "lc", "d": "two"}


def test_several_definitions_and_shared_ones():
    both = '<messageEventDefinition messageRef="m"/><signalEventDefinition signalRef="sig"/>'
    assert [part.kind for part in trigger(both).parts] == ["message", "signal"]
    parallel = node(f'<intermediateCatchEvent id="x" parallelMultiple="true">{both}</intermediateCatchEvent>', AROUND)
    assert parallel.trigger.kind == "parallel_multiple"
    assert trigger("<eventDefinitionRef>shared</eventDefinitionRef>").timer.text == "PT1H"


def test_what_a_throw_sends_along():
    found = trigger(
        '<signalEventDefinition signalRef="sig"><extensionElements><camunda:in source="a" target="b"/>'
        '<camunda:in sourceExpression="${c}" target="d"/><camunda:in variables="all"/></extensionElements>'
        "</signalEventDefinition>",
        "intermediateThrowEvent",
    )
    assert [(m.target, m.source.text, m.everything) for m in found.payload] == [
        ("b", "a", False),
        ("d", "${c}", False),
        ("", "", True),
    ]


@pytest.mark.parametrize(
    ("definition", "code"),
    [
        ("<messageEventDefinition/>", "message-missing"),
        ('<messageEventDefinition messageRef="nowhere"/>', "message-missing"),
        ("<signalEventDefinition/>", "signal-missing"),
        ("<timerEventDefinition/>", "timer-missing"),
        ("<timerEventDefinition><timeDuration>soon</timeDuration></timerEventDefinition>", "timer-broken"),
        ("<timerEventDefinition><timeDuration/></timerEventDefinition>", "timer-missing"),
        (
            "<timerEventDefinition><timeDuration>PT1S</timeDuration><timeDate>2030-01-01</timeDate>"
            "</timerEventDefinition>",
            "timer-several",
        ),
        ("<conditionalEventDefinition/>", "expression-missing"),
        ("<eventDefinitionRef>nowhere</eventDefinitionRef>", "reference-missing"),
        ("", "trigger-missing"),
    ],
)
def test_what_an_event_must_say(definition, code):
    found = codes(line(f'<intermediateCatchEvent id="x">{definition}</intermediateCatchEvent>'))
    assert code in found


@pytest.mark.parametrize("definition", ["<timerEventDefinition/>", "<signalEventDefinition/>"])
def test_a_start_that_waits_for_nothing_never_happens(definition):
    flow = '<sequenceFlow id="f" sourceRef="s" targetRef="e"/>'
    content = f'<startEvent id="s">{definition}</startEvent><endEvent id="e"/>{flow}'
    assert "start-never" in codes(content)


CONTAINERS = {
    "process": "{}",
    "subProcess": '<subProcess id="sub">{}</subProcess>',
    "event": '<subProcess id="sub" triggeredByEvent="true">{}</subProcess>',
}
POSITIONS = {
    ("process", '<startEvent id="x">{}</startEvent>'): "start event of a process",
    ("subProcess", '<startEvent id="x">{}</startEvent>'): "start event of a subprocess",
    ("event", '<startEvent id="x">{}</startEvent>'): "interrupting start event of an event subprocess",
    (
        "event",
        '<startEvent id="x" isInterrupting="false">{}</startEvent>',
    ): "non-interrupting start event of an event subprocess",
    ("process", '<intermediateCatchEvent id="x">{}</intermediateCatchEvent>'): "intermediate catch event",
    ("process", '<intermediateThrowEvent id="x">{}</intermediateThrowEvent>'): "intermediate throw event",
    ("process", '<task id="t"/><boundaryEvent id="x" attachedToRef="t">{}</boundaryEvent>'): "boundary event",
    (
        "process",
        '<task id="t"/><boundaryEvent id="x" attachedToRef="t" cancelActivity="false">{}</boundaryEvent>',
    ): "non-interrupting boundary event",
    ("process", '<endEvent id="x">{}</endEvent>'): "end event",
}


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("place", POSITIONS)
def test_every_definition_in_every_position(place, definition):
    container, event = place
    content = CONTAINERS[container].format(event.format(f'<{definition} id="d"/>'))
    where = POSITIONS[place]
    if not (where == "non-interrupting boundary event" and definition == "compensateEventDefinition"):
        element = document(read(written(content))).by_id["x"]
        assert position(element) == where
        allowed = definition.removesuffix("EventDefinition") in ALLOWED[where]
        assert ("trigger-misplaced" in codes(content)) is not allowed


@pytest.mark.parametrize(("said", "found"), [("", False), ('waitForCompletion="false"', True)])
def test_that_compensation_is_waited_for_is_said_where_the_model_says_otherwise(said, found):
    definition = f'<compensateEventDefinition {said} activityRef="t"/>'
    throw = f'<intermediateThrowEvent id="x">{definition}</intermediateThrowEvent>'
    assert ("element-ignored" in codes(line('<task id="t"/>', throw))) == found
