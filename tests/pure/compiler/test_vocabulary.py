"""What of the vendors' words has no effect is said, all of it."""

from __future__ import annotations

import pytest

from bpm.compiler.vocabulary import ATTRIBUTES, ELEMENTS, ZEEBE_ELEMENTS
from tests.pure.compiler.writing import compiled, line, node


def findings(content: str, *, zeebe: bool = False) -> list[tuple[str, str, str]]:
    return [(d.severity, d.code, d.element) for d in compiled(content, zeebe=zeebe).diagnostics]


@pytest.mark.parametrize("name", [name for name, (use, _) in ATTRIBUTES.items() if use == "noted"])
def test_attributes_without_effect_are_noted(name):
    assert ("note", "extension-ignored", "x") in findings(line(f'<task id="x" camunda:{name}="1"/>'))


@pytest.mark.parametrize("name", [name for name, (use, _) in ATTRIBUTES.items() if use == "refused"])
def test_attributes_that_would_change_the_meaning_are_refused(name):
    assert ("error", "unsupported-extension", "x") in findings(line(f'<task id="x" flowable:{name}="1"/>'))


@pytest.mark.parametrize("name", [name for name, (use, _) in ATTRIBUTES.items() if use == "honoured"])
def test_honoured_attributes_are_not_mentioned(name):
    codes = [code for _, code, _ in findings(line(f'<task id="x" camunda:{name}="1"/>'))]
    assert {"extension-ignored", "unsupported-extension"}.isdisjoint(codes)


CODES = {"noted": "extension-ignored", "refused": "unsupported-extension", "listener": "listener-not-run"}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_of_the_family(name):
    found = findings(line(f'<task id="x"><extensionElements><operaton:{name}/></extensionElements></task>'))
    use = ELEMENTS[name][0]
    assert (CODES.get(use) in [code for _, code, _ in found]) is (use != "honoured")


@pytest.mark.parametrize("name", ZEEBE_ELEMENTS)
def test_elements_of_zeebe(name):
    held = "<zeebe:executionListener/>" if ZEEBE_ELEMENTS[name][0] == "listener" else ""
    said = f"<zeebe:{name}>{held}</zeebe:{name}>"
    found = findings(line(f'<task id="x"><extensionElements>{said}</extensionElements></task>'), zeebe=True)
    use = ZEEBE_ELEMENTS[name][0]
    assert (CODES.get(use) in [code for _, code, _ in found]) is (use != "honoured")


def test_unknown_words_are_noted():
    assert findings(line('<task id="x" camunda:wish="1"/>')) == [("note", "extension-ignored", "x")]
    assert findings(line('<task id="x"><extensionElements><flowable:wish/></extensionElements></task>')) == [
        ("note", "extension-ignored", "x")
    ]


def test_what_zeebe_says_of_priorities_conditions_and_ad_hoc_subprocesses():
    job = node(
        '<serviceTask id="x"><extensionElements><zeebe:taskDefinition type="t"/>'
        '<zeebe:jobPriorityDefinition priority="=p"/></extensionElements></serviceTask>',
        zeebe=True,
    )
    assert job.work.priority.text == "=p"
    caught = node(
        '<intermediateCatchEvent id="x"><conditionalEventDefinition><extensionElements>'
        '<zeebe:conditionalFilter variableNames="a, b" variableEvents="create"/></extensionElements>'
        "<condition>=a > 1</condition></conditionalEventDefinition></intermediateCatchEvent>",
        zeebe=True,
    )
    assert (caught.trigger.condition_variables, caught.trigger.condition_events) == (("a", "b"), ("create",))
    ad_hoc = node(
        '<adHocSubProcess id="x"><extensionElements><zeebe:adHoc activeElementsCollection="=chosen"/>'
        '</extensionElements><task id="y"/></adHocSubProcess>',
        zeebe=True,
    )
    assert ad_hoc.ad_hoc_active.text == "=chosen"
