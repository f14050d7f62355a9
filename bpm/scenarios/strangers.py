"""Names in a scenario that its models do not have. None of them fails it: what is called without its model may have
them. But a mock of a misspelt activity never answers, and what does not exist is never passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bpm.graph.topics import topics_of
from bpm.scenarios.deployment import deploy
from bpm.scenarios.model import Scenario, Step

# The expectations that speak of activities, and those that speak of topics.
OF_ACTIVITIES = ("waiting", "passed", "passed_once", "passed_times", "not_passed", "end_events")
OF_TOPICS = ("trace", "trace_multiset")


def strangers(scenario: Scenario, folder: Path) -> list[str]:
    """Each as a sentence, in the order of the file; none where the models cannot be deployed."""
    deployment = deploy([folder / model for model in scenario.models], strict=scenario.strict)
    if deployment.refusals:
        return []
    nodes = [node for process in deployment.processes.values() for node in process.nodes.values()]
    activities = {node.id for node in nodes}
    topics = topics_of(deployment.processes.values())
    found: dict[str, None] = {}
    for where, kind, name in _named(scenario):
        if kind == "activity" and name not in activities:
            found[f"{where}: no model has {name}"] = None
        if kind == "topic" and topics is not None and name not in topics:
            found[f"{where}: no task of the models has the topic {name}"] = None
    return list(found)


def _named(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """(where, activity or topic, name) of all that the scenario names."""
    for key in scenario.mocks:
        of_topic = key.startswith("topic:")
        yield "mocks", "topic" if of_topic else "activity", key.removeprefix("topic:")
    for number, step in enumerate(scenario.steps, start=1):
        yield from _of_step(f"step {number}", step)
    yield from _expected("expect", scenario.expect)


def _of_step(where: str, step: Step) -> Iterator[tuple[str, str, str]]:
    if step.kind == "expect":
        yield from _expected(where, step.arguments)
    elif step.kind != "expect_error":
        # What must be refused may be refused because of its name.
        for kind in ("activity", "topic"):
            if step.arguments.get(kind):
                yield where, kind, step.arguments[kind]


def _expected(where: str, expectations: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for keys, kind in ((OF_ACTIVITIES, "activity"), (OF_TOPICS, "topic")):
        for key in keys:
            for name in expectations.get(key, ()):
                yield f"{where}.{key}", kind, name
