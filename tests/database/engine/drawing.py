"""Models for tests, written in a line: nodes as (kind, id, ...) and flows as "a -> b -> c"."""

from __future__ import annotations

from itertools import pairwise

HEAD = (
    '<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="test">'
)


def start(id: str = "start", inner: str = "") -> str:
    return f'<bpmn:startEvent id="{id}">{inner}</bpmn:startEvent>'


def end(id: str = "end", inner: str = "") -> str:
    return f'<bpmn:endEvent id="{id}">{inner}</bpmn:endEvent>'


def service(id: str, topic: str = "", inner: str = "", attributes: str = "") -> str:
    named = f'id="{id}" camunda:type="external" camunda:topic="{topic or id}"'
    return f"<bpmn:serviceTask {named} {attributes}>{inner}</bpmn:serviceTask>"


def user(id: str, attributes: str = "") -> str:
    return f'<bpmn:userTask id="{id}" {attributes}/>'


def parallel(id: str) -> str:
    return f'<bpmn:parallelGateway id="{id}"/>'


def exclusive(id: str) -> str:
    return f'<bpmn:exclusiveGateway id="{id}"/>'


def call(id: str, target: str, inner: str = "", attributes: str = "") -> str:
    extensions = f"<bpmn:extensionElements>{inner}</bpmn:extensionElements>"
    return f'<bpmn:callActivity id="{id}" calledElement="{target}" {attributes}>{extensions}</bpmn:callActivity>'


def boundary(id: str, at: str, inner: str, *, interrupting: bool = True) -> str:
    cancels = "true" if interrupting else "false"
    return f'<bpmn:boundaryEvent id="{id}" attachedToRef="{at}" cancelActivity="{cancels}">{inner}</bpmn:boundaryEvent>'


def catch(id: str, inner: str) -> str:
    return f'<bpmn:intermediateCatchEvent id="{id}">{inner}</bpmn:intermediateCatchEvent>'


def throw(id: str, inner: str) -> str:
    return f'<bpmn:intermediateThrowEvent id="{id}">{inner}</bpmn:intermediateThrowEvent>'


def duration(text: str) -> str:
    return f"<bpmn:timerEventDefinition><bpmn:timeDuration>{text}</bpmn:timeDuration></bpmn:timerEventDefinition>"


def cycle(text: str) -> str:
    return f"<bpmn:timerEventDefinition><bpmn:timeCycle>{text}</bpmn:timeCycle></bpmn:timerEventDefinition>"


def message(ref: str) -> str:
    return f'<bpmn:messageEventDefinition messageRef="{ref}"/>'


def signal(ref: str) -> str:
    return f'<bpmn:signalEventDefinition signalRef="{ref}"/>'


def error(ref: str = "") -> str:
    return f'<bpmn:errorEventDefinition errorRef="{ref}"/>' if ref else "<bpmn:errorEventDefinition/>"


def flows(*chains: str, **conditions: str) -> str:
    """ "a -> b -> c" as flows a_b and b_c; a_b="${x}" gives one a condition."""
    found = []
    for chain in chains:
        for source, target in pairwise(part.strip() for part in chain.split("->")):
            id = f"{source}_{target}"
            asked = conditions.get(id)
            inner = f"<bpmn:conditionExpression>{asked}</bpmn:conditionExpression>" if asked else ""
            found.append(
                f'<bpmn:sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">{inner}</bpmn:sequenceFlow>'
            )
    return "".join(found)


def model(*parts: str, id: str = "p", before: str = "") -> bytes:
    """A file with one process. `before`: messages, signals and errors."""
    body = "".join(parts)
    return (
        f'{HEAD}{before}<bpmn:process id="{id}" isExecutable="true">{body}</bpmn:process></bpmn:definitions>'.encode()
    )
