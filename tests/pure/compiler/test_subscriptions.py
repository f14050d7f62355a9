"""What a process waits for must be clear."""

from __future__ import annotations

import pytest

from tests.pure.compiler.writing import codes, line, process

AROUND = '<message id="m" name="paid"/><message id="same" name="paid"/><message id="n" name="sent"/>'
START = '<startEvent id="{}"><messageEventDefinition messageRef="{}"/></startEvent>'
HANGING = '<boundaryEvent id="{}" attachedToRef="x" cancelActivity="false">{}</boundaryEvent>'
MESSAGE = '<messageEventDefinition messageRef="{}"/>'
IF = '<conditionalEventDefinition><condition xsi:type="tFormalExpression">{}</condition></conditionalEventDefinition>'


@pytest.mark.parametrize(
    ("content", "twice"),
    [
        (START.format("a", "m") + START.format("b", "same"), True),
        (START.format("a", "m") + START.format("b", "n"), False),
        (
            line('<task id="x"/>')
            + HANGING.format("a", MESSAGE.format("m"))
            + HANGING.format("b", MESSAGE.format("same")),
            True,
        ),
        (
            line('<task id="x"/>')
            + HANGING.format("a", MESSAGE.format("m"))
            + HANGING.format("b", MESSAGE.format("n")),
            False,
        ),
        (
            line('<task id="x"/>') + HANGING.format("a", IF.format("${c}")) + HANGING.format("b", IF.format("${c}")),
            True,
        ),
        (
            line('<task id="x"/>') + HANGING.format("a", IF.format("${c}")) + HANGING.format("b", IF.format("${d}")),
            False,
        ),
        (
            line('<task id="x"/>')
            + f'<subProcess id="u" triggeredByEvent="true">{START.format("a", "m")}</subProcess>'
            + f'<subProcess id="v" triggeredByEvent="true">{START.format("b", "m")}</subProcess>',
            True,
        ),
    ],
)
def test_two_events_that_wait_for_the_same(content, twice):
    assert ("subscription-twice" in codes(content, AROUND)) is twice


@pytest.mark.parametrize(("name", "refused"), [("a-${b}", 2), ("a-${'b'}", 1), ("a-#{'b'}", 1), ("a", 0)])
def test_the_name_of_a_start_is_fixed(name, refused):
    around = f'<message id="m" name="{name}"/><signal id="g" name="{name}"/>'
    signal = '<startEvent id="b"><signalEventDefinition signalRef="g"/></startEvent>'
    found = codes(START.format("a", "m") + signal, around)
    assert found.count("name-computed") == refused


@pytest.mark.parametrize(
    "element",
    [
        '<startEvent id="s"><extensionElements>{}</extensionElements></startEvent>',
        '<subProcess id="u" triggeredByEvent="true"><extensionElements>{}</extensionElements></subProcess>',
        '<task id="t"/><boundaryEvent id="b" attachedToRef="t"><extensionElements>{}</extensionElements>'
        "</boundaryEvent>",
    ],
)
def test_inputs_where_nothing_sees_them(element):
    mapping = '<camunda:inputOutput><camunda:inputParameter name="a">1</camunda:inputParameter></camunda:inputOutput>'
    assert "unsupported-extension" in codes(element.format(mapping))


def test_what_a_message_brings_is_mapped_by_zeebe():
    mapping = '<zeebe:ioMapping><zeebe:output source="=a" target="b"/></zeebe:ioMapping>'
    inner = f'<extensionElements>{mapping}</extensionElements><messageEventDefinition messageRef="m"/>'
    start = f'<startEvent id="s">{inner}</startEvent>'
    assert [m.target for m in process(start, AROUND, zeebe=True).nodes["s"].outputs] == ["b"]
