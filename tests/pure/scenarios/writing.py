"""Small models and scenarios, written to files, and scenarios run from text.

    order = process("order", start("s"), work("Charge"), end("e"), "s > Charge > e")

An element is a line of XML; a chain "a > b > c" is the sequence flows between them.
"""

from __future__ import annotations

import re
import textwrap
from itertools import pairwise
from pathlib import Path

from bpm.scenarios import CoreDriver, Result, read_scenarios, run_document

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="tests">'
)


def process(id: str, *parts: str, beside: str = "") -> str:
    """The XML of a process; `beside` stands next to it (messages, errors)."""
    flows = 0
    lines = [HEAD, beside, f'<process id="{id}" isExecutable="true">']
    for part in parts:
        if part.lstrip().startswith("<"):
            lines.append(part)
            continue
        nodes = re.split(r"\s*>\s*(?![^{]*\})", part.strip())
        for source, target in pairwise(nodes):
            flows += 1
            name, _, condition = target.partition("?")
            inner = (
                f'<conditionExpression xsi:type="tFormalExpression">{condition}</conditionExpression>'
                if condition
                else ""
            )
            plain = source.partition("?")[0]
            lines.append(
                f'<sequenceFlow id="{id}_{flows}" sourceRef="{plain}" targetRef="{name}">{inner}</sequenceFlow>'
            )
    return "\n".join([*lines, "</process></definitions>"])


def start(id: str, inner: str = "") -> str:
    return f'<startEvent id="{id}">{inner}</startEvent>'


def end(id: str, inner: str = "") -> str:
    return f'<endEvent id="{id}">{inner}</endEvent>'


def work(id: str, topic: str | None = None, inner: str = "") -> str:
    return f'<serviceTask id="{id}" camunda:type="external" camunda:topic="{topic or id.lower()}">{inner}</serviceTask>'


def person(id: str) -> str:
    return f'<userTask id="{id}"/>'


def call(id: str, target: str) -> str:
    inner = '<extensionElements><camunda:in variables="all"/><camunda:out variables="all"/></extensionElements>'
    return f'<callActivity id="{id}" calledElement="{target}">{inner}</callActivity>'


def gateway(kind: str, id: str, default: str = "") -> str:
    return f'<{kind}Gateway id="{id}"' + (f' default="{default}"' if default else "") + "/>"


def timer(duration: str, kind: str = "timeDuration") -> str:
    return f'<timerEventDefinition><{kind} xsi:type="tFormalExpression">{duration}</{kind}></timerEventDefinition>'


def boundary(id: str, on: str, inner: str, *, interrupting: bool = True) -> str:
    cancels = str(interrupting).lower()
    return f'<boundaryEvent id="{id}" attachedToRef="{on}" cancelActivity="{cancels}">{inner}</boundaryEvent>'


def perform(folder: Path, scenario: str, **models: str) -> list[Result]:
    """Write the models (name -> XML) and the scenario file, run it on the core, and give the results."""
    return [run_document(one, lambda: CoreDriver(folder)) for one in read_scenarios(write(folder, scenario, **models))]


def write(folder: Path, scenario: str, **models: str) -> Path:
    """Write the models and the scenario file; its path. `models:` is filled in where the scenario has none."""
    for name, xml in models.items():
        (folder / f"{name}.bpmn").write_text(xml)
    text = textwrap.dedent(scenario)
    listed = f"models: [{', '.join(f'{name}.bpmn' for name in models)}]\n"
    documents = [
        one if re.search(r"^models:", one, re.MULTILINE) else listed + one.lstrip("\n") for one in text.split("\n---\n")
    ]
    documents = [
        one if re.search(r"^name:", one, re.MULTILINE) else f"name: scenario {n}\n{one}"
        for n, one in enumerate(documents, 1)
    ]
    file = folder / "scenario.yaml"
    file.write_text("\n---\n".join(documents))
    return file


def told(results: list[Result]) -> list[str]:
    """What failed, as "step: expected / there" lines; nothing when all passed."""
    return [f"{f.step}: {f.expected} / {f.there}" for result in results for f in result.failures]
