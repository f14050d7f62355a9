"""Small BPMN texts for tests, and how they compile."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from bpm.compiler import Compiled, compile_bpmn
from bpm.graph import Node, Process

MODELS = Path(__file__).parent / "models"

_DEFINITIONS = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:operaton="http://operaton.org/schema/1.0/bpmn"
  xmlns:flowable="http://flowable.org/bpmn" xmlns:activiti="http://activiti.org/bpmn"
  {zeebe} targetNamespace="test" {attributes}>
{around}
<process id="P" isExecutable="true">
{content}
</process>
</definitions>
"""
_ZEEBE = 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'


def written(content: str, around: str = "", attributes: str = "", *, zeebe: bool = False) -> bytes:
    """A file with one process P of this content; `around` stands beside the process."""
    text = _DEFINITIONS.format(content=content, around=around, attributes=attributes, zeebe=_ZEEBE if zeebe else "")
    return text.encode()


def line(*elements: str) -> str:
    """Elements between a start and an end event, joined by sequence flows f0, f1, ...; each names its id first."""
    ids = ["s", *(element.split('id="', 1)[1].split('"', 1)[0] for element in elements), "e"]
    flows = "".join(
        f'<sequenceFlow id="f{n}" sourceRef="{a}" targetRef="{b}"/>' for n, (a, b) in enumerate(pairwise(ids))
    )
    return f'<startEvent id="s"/>{"".join(elements)}<endEvent id="e"/>{flows}'


def compiled(
    content: str, around: str = "", attributes: str = "", *, zeebe: bool = False, strict: bool = False
) -> Compiled:
    """The result for a process of this content."""
    return compile_bpmn(written(content, around, attributes, zeebe=zeebe), file="test.bpmn", strict=strict)


def process(content: str, around: str = "", *, zeebe: bool = False) -> Process:
    """The process of this content, which must have no errors but features that the engine does not run yet."""
    found = compiled(content, around, zeebe=zeebe)
    assert [str(d) for d in found.errors if d.code != "unsupported-feature"] == []
    return found.processes[0]


def node(element: str, around: str = "", *, zeebe: bool = False) -> Node:
    """The node of one element that stands between a start and an end event."""
    return process(line(element), around, zeebe=zeebe).nodes[element.split('id="', 1)[1].split('"', 1)[0]]


def codes(content: str, around: str = "", attributes: str = "", **how: bool) -> list[str]:
    """The codes of all findings about a process of this content."""
    return [found.code for found in compiled(content, around, attributes, **how).diagnostics]


def model(name: str) -> Compiled:
    """The result for a file of `models/`."""
    return compile_bpmn((MODELS / name).read_bytes(), file=name)
