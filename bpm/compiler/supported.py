"""What BPMN allows, and what of it the engine runs: one flat table.

A feature is (kind of node, trigger or mark, position). Positions of a start: process, subprocess, interrupting and
non-interrupting (event subprocess); of a boundary event: interrupting, non-interrupting; "" elsewhere. What is not in
the table is no BPMN (`rules_events` says so); what is False in it is BPMN that this engine does not run yet: a model
that uses it is refused with the feature's name. Source of what is allowed: BPMN 2.0.2, tables 10.84 to 10.93."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.diagnostics import Problems
from bpm.compiler.document import Document
from bpm.graph import Node, Process, Trigger

type Feature = tuple[str, str, str]

FEATURES: Final[dict[Feature, bool]] = {
    # tasks
    ("pass", "", ""): True,
    ("external", "", ""): True,
    ("user", "", ""): True,
    ("receive", "", ""): True,
    ("receive", "instantiate", ""): True,
    ("call", "", ""): True,
    ("decision", "", ""): True,
    ("send", "", ""): True,
    # containers
    ("subprocess", "", ""): True,
    ("subprocess", "transaction", ""): True,
    ("subprocess", "ad_hoc", ""): True,
    ("event_subprocess", "", ""): True,
    # marks of activities
    ("loop", "parallel", ""): True,
    ("loop", "sequential", ""): True,
    ("loop", "standard", ""): True,
    ("activity", "compensation", ""): True,
    # gateways
    ("exclusive", "", ""): True,
    ("parallel", "", ""): True,
    ("inclusive", "", ""): True,
    ("event_based", "", ""): True,
    ("event_based", "instantiate", ""): True,
    ("complex", "", ""): True,
    # start events
    ("start", "none", "process"): True,
    ("start", "message", "process"): True,
    ("start", "timer", "process"): True,
    ("start", "signal", "process"): True,
    ("start", "conditional", "process"): True,
    ("start", "multiple", "process"): True,
    ("start", "parallel_multiple", "process"): True,
    ("start", "none", "subprocess"): True,
    ("start", "error", "interrupting"): True,
    ("start", "message", "interrupting"): True,
    ("start", "timer", "interrupting"): True,
    ("start", "signal", "interrupting"): True,
    ("start", "escalation", "interrupting"): True,
    ("start", "conditional", "interrupting"): True,
    ("start", "compensation", "interrupting"): True,
    ("start", "multiple", "interrupting"): True,
    ("start", "parallel_multiple", "interrupting"): True,
    ("start", "message", "non-interrupting"): True,
    ("start", "timer", "non-interrupting"): True,
    ("start", "signal", "non-interrupting"): True,
    ("start", "escalation", "non-interrupting"): True,
    ("start", "conditional", "non-interrupting"): True,
    ("start", "multiple", "non-interrupting"): True,
    ("start", "parallel_multiple", "non-interrupting"): True,
    # intermediate catch events
    ("catch", "message", ""): True,
    ("catch", "timer", ""): True,
    ("catch", "signal", ""): True,
    ("catch", "conditional", ""): True,
    ("catch", "link", ""): True,
    ("catch", "multiple", ""): True,
    ("catch", "parallel_multiple", ""): True,
    # intermediate throw events
    ("throw", "none", ""): True,
    ("throw", "message", ""): True,
    ("throw", "signal", ""): True,
    ("throw", "escalation", ""): True,
    ("throw", "compensation", ""): True,
    ("throw", "link", ""): True,
    ("throw", "multiple", ""): True,
    # boundary events
    ("boundary", "error", "interrupting"): True,
    ("boundary", "timer", "interrupting"): True,
    ("boundary", "message", "interrupting"): True,
    ("boundary", "signal", "interrupting"): True,
    ("boundary", "escalation", "interrupting"): True,
    ("boundary", "conditional", "interrupting"): True,
    ("boundary", "cancel", "interrupting"): True,
    ("boundary", "compensation", ""): True,
    ("boundary", "multiple", "interrupting"): True,
    ("boundary", "parallel_multiple", "interrupting"): True,
    ("boundary", "timer", "non-interrupting"): True,
    ("boundary", "message", "non-interrupting"): True,
    ("boundary", "signal", "non-interrupting"): True,
    ("boundary", "escalation", "non-interrupting"): True,
    ("boundary", "conditional", "non-interrupting"): True,
    ("boundary", "multiple", "non-interrupting"): True,
    ("boundary", "parallel_multiple", "non-interrupting"): True,
    # end events
    ("end", "none", ""): True,
    ("end", "error", ""): True,
    ("end", "terminate", ""): True,
    ("end", "message", ""): True,
    ("end", "signal", ""): True,
    ("end", "escalation", ""): True,
    ("end", "compensation", ""): True,
    ("end", "cancel", ""): True,
    ("end", "multiple", ""): True,
}

EVENTS: Final = ("start", "catch", "throw", "boundary", "end")


def features(process: Process, node: Node) -> Iterator[Feature]:
    """The features that a node needs."""
    if node.kind in EVENTS:
        trigger = node.trigger or Trigger()
        for kind in (trigger.kind, *(part.kind for part in trigger.parts)):
            yield (node.kind, kind, position(process, node))
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
    """Report every feature of the process that the engine does not run."""
    for node in process.nodes.values():
        for feature in features(process, node):
            # What is not in the table is no BPMN; the rules of events say so (`rules_events`).
            if not FEATURES.get(feature, True):
                said = f"{article(phrase(feature)).capitalize()} is not supported by this engine."
                problems.report("unsupported-feature", document.by_id.get(node.id), said, id=node.id)


def article(words: str) -> str:
    """The words with "a" or "an" before them."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def phrase(feature: Feature) -> str:
    """The feature in words: `interrupting signal boundary event`."""
    kind, mark, position = feature
    if kind == "start" and position in ("interrupting", "non-interrupting"):
        position = f"{position} event subprocess"
    if kind in EVENTS:
        words = ("intermediate" if kind in ("catch", "throw") else "", mark, kind, "event")
        return " ".join(word for word in (position if kind == "boundary" else "", *words) if word) + (
            f" of {article(position)}" if kind == "start" and position != "process" else ""
        )
    special = {
        "loop": "multi-instance",
        "activity": "handler",
        "event_based": "event-based gateway",
        "call": "call activity",
        "decision": "decision task",
    }
    if feature == ("loop", "standard", ""):
        return "standard loop"
    name = special.get(kind, kind + (" gateway" if kind in ("exclusive", "parallel", "inclusive", "complex") else ""))
    name += " task" if kind in ("external", "user", "receive", "pass", "send") else ""
    said = "instantiating" if mark == "instantiate" else mark.replace("_", "-")
    return f"{said} {name.replace('_', ' ')}".strip()
