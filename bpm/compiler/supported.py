"""What BPMN allows, and what of it the engine runs: one flat table.

A feature is (kind of node, trigger or mark, position). Positions of a start: process, subprocess, interrupting and
non-interrupting (event subprocess); of a boundary event: interrupting, non-interrupting; "" elsewhere. What is not in
the table is no BPMN (`trigger-misplaced`); what is False in it is BPMN that this engine does not run yet: a model that
uses it is refused with the feature's name. Source of what is allowed: BPMN 2.0.2, tables 10.84 to 10.93."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.diagnostics import Problems
from bpm.compiler.document import Document
from bpm.graph import Node, Process

type Feature = tuple[str, str, str]

FEATURES: Final[dict[Feature, bool]] = {
    # tasks
    ("pass", "", ""): True,
    ("external", "", ""): True,
    ("user", "", ""): True,
    ("receive", "", ""): True,
    ("receive", "instantiate", ""): False,
    ("call", "", ""): True,
    ("decision", "", ""): False,
    # containers
    ("subprocess", "", ""): True,
    ("subprocess", "transaction", ""): False,
    ("subprocess", "ad_hoc", ""): False,
    ("event_subprocess", "", ""): True,
    # marks of activities
    ("loop", "parallel", ""): False,
    ("loop", "sequential", ""): False,
    ("loop", "standard", ""): False,
    ("activity", "compensation", ""): False,
    # gateways
    ("exclusive", "", ""): True,
    ("parallel", "", ""): True,
    ("inclusive", "", ""): True,
    ("event_based", "", ""): True,
    ("event_based", "instantiate", ""): False,
    ("complex", "", ""): False,
    # start events
    ("start", "none", "process"): True,
    ("start", "message", "process"): True,
    ("start", "timer", "process"): True,
    ("start", "signal", "process"): False,
    ("start", "conditional", "process"): False,
    ("start", "multiple", "process"): False,
    ("start", "parallel_multiple", "process"): False,
    ("start", "none", "subprocess"): True,
    ("start", "error", "interrupting"): True,
    ("start", "message", "interrupting"): False,
    ("start", "timer", "interrupting"): False,
    ("start", "signal", "interrupting"): False,
    ("start", "escalation", "interrupting"): False,
    ("start", "conditional", "interrupting"): False,
    ("start", "compensation", "interrupting"): False,
    ("start", "multiple", "interrupting"): False,
    ("start", "parallel_multiple", "interrupting"): False,
    ("start", "message", "non-interrupting"): False,
    ("start", "timer", "non-interrupting"): False,
    ("start", "signal", "non-interrupting"): False,
    ("start", "escalation", "non-interrupting"): False,
    ("start", "conditional", "non-interrupting"): False,
    ("start", "multiple", "non-interrupting"): False,
    ("start", "parallel_multiple", "non-interrupting"): False,
    # intermediate catch events
    ("catch", "message", ""): True,
    ("catch", "timer", ""): True,
    ("catch", "signal", ""): False,
    ("catch", "conditional", ""): False,
    ("catch", "link", ""): False,
    ("catch", "multiple", ""): False,
    ("catch", "parallel_multiple", ""): False,
    # intermediate throw events
    ("throw", "none", ""): True,
    ("throw", "message", ""): False,
    ("throw", "signal", ""): False,
    ("throw", "escalation", ""): False,
    ("throw", "compensation", ""): False,
    ("throw", "link", ""): False,
    ("throw", "multiple", ""): False,
    # boundary events
    ("boundary", "error", "interrupting"): True,
    ("boundary", "timer", "interrupting"): True,
    ("boundary", "message", "interrupting"): True,
    ("boundary", "signal", "interrupting"): False,
    ("boundary", "escalation", "interrupting"): False,
    ("boundary", "conditional", "interrupting"): False,
    ("boundary", "cancel", "interrupting"): False,
    ("boundary", "compensation", ""): False,
    ("boundary", "multiple", "interrupting"): False,
    ("boundary", "parallel_multiple", "interrupting"): False,
    ("boundary", "timer", "non-interrupting"): True,
    ("boundary", "message", "non-interrupting"): True,
    ("boundary", "signal", "non-interrupting"): False,
    ("boundary", "escalation", "non-interrupting"): False,
    ("boundary", "conditional", "non-interrupting"): False,
    ("boundary", "multiple", "non-interrupting"): False,
    ("boundary", "parallel_multiple", "non-interrupting"): False,
    # end events
    ("end", "none", ""): True,
    ("end", "error", ""): True,
    ("end", "terminate", ""): True,
    ("end", "message", ""): False,
    ("end", "signal", ""): False,
    ("end", "escalation", ""): False,
    ("end", "compensation", ""): False,
    ("end", "cancel", ""): False,
    ("end", "multiple", ""): False,
}

_EVENTS: Final = ("start", "catch", "throw", "boundary", "end")


def features(process: Process, node: Node) -> Iterator[Feature]:
    """The features that a node needs."""
    if node.kind in _EVENTS:
        yield (node.kind, node.trigger.kind if node.trigger else "none", position(process, node))
        return
    mark = "ad_hoc" if node.ad_hoc else "transaction" if node.transaction else "instantiate" if node.instantiate else ""
    yield (node.kind, mark, "")
    if node.loop is not None:
        yield ("loop", node.loop.kind, "")
    if node.for_compensation:
        yield ("activity", "compensation", "")


def position(process: Process, node: Node) -> str:
    """Where an event stands, in the words of FEATURES."""
    manner = "interrupting" if node.interrupting else "non-interrupting"
    if node.kind == "boundary":
        # A compensation event is no interruption: its activity has ended (BPMN 2.0.2, 10.5.6).
        return "" if node.trigger and node.trigger.kind == "compensation" else manner
    if node.kind != "start":
        return ""
    around = process.nodes.get(node.scope)
    if around is None:
        return "process"
    return manner if around.kind == "event_subprocess" else "subprocess"


def check(process: Process, document: Document, problems: Problems) -> None:
    """Report every node that is no BPMN, or that the engine does not run."""
    for node in process.nodes.values():
        for feature in features(process, node):
            # What is not in the table is no BPMN; the rules of events say so (`rules_events`).
            if not FEATURES.get(feature, True):
                said = f"A {phrase(feature)} is not supported by this engine."
                problems.report("unsupported-feature", document.by_id.get(node.id), said, id=node.id)


def phrase(feature: Feature) -> str:
    """The feature in words: `interrupting signal boundary event`."""
    kind, mark, position = feature
    if kind == "start" and position in ("interrupting", "non-interrupting"):
        position = f"{position} event subprocess"
    if kind in _EVENTS:
        words = ("intermediate" if kind in ("catch", "throw") else "", mark, kind, "event")
        return " ".join(word for word in (position if kind == "boundary" else "", *words) if word) + (
            f" of a {position}" if kind == "start" and position != "process" else ""
        )
    special = {
        "loop": "multi-instance",
        "activity": "handler",
        "event_based": "event-based gateway",
        "call": "call activity",
    }
    if feature == ("loop", "standard", ""):
        return "standard loop"
    name = special.get(kind, kind + (" gateway" if kind in ("exclusive", "parallel", "inclusive", "complex") else ""))
    name += " task" if kind in ("external", "user", "receive", "pass") else ""
    return f"{mark.replace('_', '-')} {name.replace('_', ' ')}".strip()
