"""Whatever a file says, the compiler answers with findings and never raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from bpm.compiler import check_together, compile_bpmn
from bpm.compiler.document import BPMN
from bpm.compiler.lowering import LOWER
from bpm.compiler.triggers import DEFINITIONS
from bpm.graph import from_json, to_json
from tests.pure.compiler.writing import MODELS, line, written

TEXTS = [(MODELS / name).read_bytes() for name in ("order.bpmn", "pools.bpmn")] + [
    written(line(*(f'<{tag} id="{tag}"/>' for tag in LOWER if tag not in ("startEvent", "endEvent", "boundaryEvent")))),
    written("".join(f'<intermediateCatchEvent id="{tag}"><{tag}/></intermediateCatchEvent>' for tag in DEFINITIONS)),
]
TAGS = [
    *LOWER,
    *DEFINITIONS,
    "sequenceFlow",
    "association",
    "multiInstanceLoopCharacteristics",
    "process",
    "dataObject",
]
VALUES = [
    "",
    "received",
    "order",
    "${",
    "=1 +",
    "true",
    "a b",
    "x:y",
    "\u00e9",
    "R0/",
    "-1",
    "${execution.getVariable(x)}",
]


def mutate(data: bytes, draw: st.DataObject) -> bytes:
    """The file with a few random changes: elements removed, doubled, moved or renamed, attributes changed."""
    root = etree.fromstring(data)
    for _ in range(draw.draw(st.integers(1, 6))):
        elements = [item for item in root.iter() if isinstance(item.tag, str) and item is not root]
        if not elements:
            break
        element = draw.draw(st.sampled_from(elements))
        change = draw.draw(st.sampled_from(["remove", "double", "move", "rename", "attribute", "drop", "text"]))
        parent = element.getparent()
        if change == "remove":
            parent.remove(element)
        elif change == "double":
            parent.append(etree.fromstring(etree.tostring(element)))
        elif change == "move":
            target = draw.draw(st.sampled_from(elements))
            if element not in target.iterancestors() and target is not element:
                target.append(element)
        elif change == "rename":
            element.tag = f"{{{BPMN}}}{draw.draw(st.sampled_from(TAGS))}"
        elif change == "text":
            element.text = draw.draw(st.sampled_from(VALUES))
        elif element.attrib:
            name = draw.draw(st.sampled_from(sorted(element.attrib)))
            if change == "drop":
                del element.attrib[name]
            else:
                element.set(name, draw.draw(st.sampled_from(VALUES)))
    return etree.tostring(root)


@given(data=st.data(), text=st.sampled_from(TEXTS), strict=st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_broken_model_is_described(data, text, strict):
    found = compile_bpmn(mutate(text, data), file="broken.bpmn", strict=strict)
    check_together([found, found])
    for process in found.processes:
        assert from_json(to_json(process)) == process
    assert all(d.severity in ("error", "warning", "note") and d.message for d in found.diagnostics)
    assert all(d.line > 0 for d in found.diagnostics)


@given(st.binary(max_size=200))
def test_any_bytes_are_answered(data):
    assert compile_bpmn(data).errors


@pytest.mark.parametrize("text", TEXTS)
def test_every_truncation_is_answered(text):
    for end in range(0, len(text), 97):
        compile_bpmn(text[:end])
