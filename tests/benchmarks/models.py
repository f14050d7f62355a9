"""The processes that are run, written down as short as they are."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from bpm import engine

ACTOR = "bench"
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="bench"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
)


def task(id: str, topic: str, inside: str = "") -> str:
    """A service task whose work is an external task of the topic."""
    return f'<serviceTask id="{id}" camunda:type="external" camunda:topic="{topic}">{inside}</serviceTask>'


def process(key: str, elements: str, flows: Iterable[tuple[str, str]]) -> str:
    """The whole document; flows are named f1, f2, ... in their order."""
    drawn = "".join(
        f'<sequenceFlow id="f{number}" sourceRef="{source}" targetRef="{target}"/>'
        for number, (source, target) in enumerate(flows, start=1)
    )
    return f'{HEAD}<process id="{key}" isExecutable="true">{elements}{drawn}</process></definitions>'


def loop(key: str, topic: str) -> str:
    """Two tasks that follow each other for ever: the hot path and nothing else."""
    elements = '<startEvent id="s"/>' + task("a", topic) + task("b", topic)
    return process(key, elements, [("s", "a"), ("a", "b"), ("b", "a")])


def row(key: str, topic: str, tasks: int) -> str:
    """Start, so many tasks one after the other, end."""
    names = [f"t{number}" for number in range(1, tasks + 1)]
    elements = '<startEvent id="s"/>' + "".join(task(name, topic) for name in names) + '<endEvent id="e"/>'
    return process(key, elements, zip(["s", *names], [*names, "e"], strict=True))


def fork(key: str, topic: str, branches: int) -> str:
    """Start, a parallel gateway to so many tasks, their join, end."""
    names = [f"t{number}" for number in range(1, branches + 1)]
    elements = '<startEvent id="s"/><parallelGateway id="split"/><parallelGateway id="join"/><endEvent id="e"/>'
    flows = [("s", "split"), *(("split", name) for name in names), *((name, "join") for name in names), ("join", "e")]
    return process(key, elements + "".join(task(name, topic) for name in names), flows)


def mixed(key: str, topic: str) -> str:
    """Three tasks in a row, a fork of four and its join, two tasks: nine tasks in all, four branches."""
    names = [f"t{number}" for number in range(1, 10)]
    elements = '<startEvent id="s"/><parallelGateway id="split"/><parallelGateway id="join"/><endEvent id="e"/>'
    flows = [("s", "t1"), ("t1", "t2"), ("t2", "t3"), ("t3", "split")]
    flows += [flow for name in names[3:7] for flow in (("split", name), (name, "join"))]
    flows += [("join", "t8"), ("t8", "t9"), ("t9", "e")]
    return process(key, elements + "".join(task(name, topic) for name in names), flows)


def many(key: str, topic: str) -> str:
    """Start, a task for each element of the variable `items` at once, end."""
    inside = '<multiInstanceLoopCharacteristics camunda:collection="${items}" camunda:elementVariable="item"/>'
    elements = '<startEvent id="s"/>' + task("t", topic, inside) + '<endEvent id="e"/>'
    return process(key, elements, [("s", "t"), ("t", "e")])


def waiting(key: str) -> str:
    """Start, wait until the time in the variable `until`, end."""
    timer = (
        '<intermediateCatchEvent id="w"><timerEventDefinition><timeDate xsi:type="tFormalExpression">'
        "${until}</timeDate></timerEventDefinition></intermediateCatchEvent>"
    )
    return process(key, f'<startEvent id="s"/>{timer}<endEvent id="e"/>', [("s", "w"), ("w", "e")])


def deployed(document: str) -> UUID:
    """Deploy it; the id of the definition."""
    return engine.deploy({"bench.bpmn": document.encode()}, actor=ACTOR).definitions[0].id
