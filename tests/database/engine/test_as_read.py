"""A value is the same whether the process still has it or has read it back: keys in the database's order, its numbers.
An expression sees the difference, and replay would decide otherwise than was decided.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bpm import bean, engine
from bpm.audit.replaying import replay_stored
from bpm.engine.step import MEMORY

COMPUTED = {
    "entries of a context": ("{zz: 1, a: 2}", "for entry in get entries(x) return entry.key", ["a", "zz"]),
    "a context as text": ("{zz: 1, a: {y: 1, b: 2}}", "string(x)", "{a: {b: 2, y: 1}, zz: 1}"),
    "a number that is whole": ("6 / 4 * 2", "string(x)", "3"),
    "a small number": ("1.500 * 1", "string(x)", "1.5"),
    "a list of them": ("[{zz: 1, a: 2}]", "for entry in get entries(x[1]) return entry.key", ["a", "zz"]),
}


@bean("figures.of")
def figures(number: int) -> dict[str, object]:
    return {"zz": number, "a": {"y": 1, "b": 2}}


def script(id: str, expression: str, variable: str) -> str:
    said = f'<zeebe:script expression="={expression}" resultVariable="{variable}"/>'
    return f'<scriptTask id="{id}"><extensionElements>{said}</extensionElements></scriptTask>'


def two_steps(first: str, second: str, between: str = "") -> bytes:
    """One expression is computed into x, and after a person's work another one of x into y. `between`: what the
    person's task says.
    """
    nodes = ["s", "one", "before", "two", "after", "e"]
    flows = "".join(f'<sequenceFlow id="{a}_{b}" sourceRef="{a}" targetRef="{b}"/>' for a, b in pairwise(nodes))
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"'
        ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'
        ' targetNamespace="tests"><process id="p" isExecutable="true">'
        f'<startEvent id="s"/>{first}<userTask id="before">{between}</userTask>{second}<userTask id="after"/>'
        f'<endEvent id="e"/>{flows}'
        "</process></definitions>"
    ).encode()


def go_through(world, forgets: bool) -> Any:
    """What y is at the end, which history must prove."""
    instance = world.start()
    if forgets:
        MEMORY.forget(instance)
    engine.complete_user_task(world.only("user_tasks", instance, state="READY"), actor="ann")
    (outcome,) = replay_stored([instance], again=True)
    assert outcome.problems == ()
    return world.variables(instance)["y"]


@pytest.mark.parametrize("forgets", [False, True], ids=["remembered", "read back"])
@pytest.mark.parametrize("name", COMPUTED)
def test_what_was_computed(world, name, forgets):
    first, second, expected = COMPUTED[name]
    world.deploy(two_steps(script("one", first, "x"), script("two", second, "y")))
    assert go_through(world, forgets) == expected


def test_what_a_bean_gives_is_seen_as_replay_sees_it(world):
    """Within the step that asks it, too: its answer stands in the log."""
    asked = '<camunda:outputParameter name="x">${figures.of(1)}</camunda:outputParameter>'
    told = f"<extensionElements><camunda:inputOutput>{asked}</camunda:inputOutput></extensionElements>"
    world.deploy(two_steps(script("one", "1", "x"), script("two", "string(x)", "y"), told))
    assert go_through(world, forgets=False) == "{a: {b: 2, y: 1}, zz: 1}"
