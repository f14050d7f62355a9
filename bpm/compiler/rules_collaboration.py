"""Rules of pools and message flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.document import child, tag
from bpm.compiler.rules import ACTIVITIES, CATCHING, THROWING, Breach, Index, Rule, around, named
from bpm.compiler.xml import Element

# Choreographies show the same messages from outside; they are not judged here.
_CHOREOGRAPHY: Final = ("choreographyTask", "subChoreography", "callChoreography")
_SENDERS: Final = (*_CHOREOGRAPHY, *ACTIVITIES, *THROWING, "participant")
_RECEIVERS: Final = (*_CHOREOGRAPHY, *ACTIVITIES, *CATCHING, "participant")
_ARTIFACTS: Final = ("association", "group", "textAnnotation")


def message_flow_end(index: Index) -> Iterator[Breach]:
    """A message flow goes from what can send to what can receive: pools, activities and events of the right kind."""
    for flow in index.all("messageFlow"):
        for attribute, allowed in (("sourceRef", _SENDERS), ("targetRef", _RECEIVERS)):
            end = index.resolve(flow.get(attribute))
            if end is not None and tag(end) not in allowed:
                doing = "sends" if attribute == "sourceRef" else "receives"
                yield flow, f"The {named(end)} {doing} no messages: the {attribute} of a message flow cannot be one."


def message_flow_within(index: Index) -> Iterator[Breach]:
    """A message flow connects two pools."""
    for flow in index.all("messageFlow"):
        ends = [index.resolve(flow.get(name)) for name in ("sourceRef", "targetRef")]
        pools = [_pool(index, end) for end in ends if end is not None]
        if len(pools) == 2 and pools[0] and pools[0] == pools[1]:
            yield flow, "A message flow connects two pools; within one, draw a sequence flow."


def message_flow_event(index: Index) -> Iterator[Breach]:
    """An event that takes part in a message flow is a message event."""
    for flow in index.all("messageFlow"):
        for attribute in ("sourceRef", "targetRef"):
            end = index.resolve(flow.get(attribute))
            if end is None or tag(end) not in (*CATCHING, *THROWING):
                continue
            if child(end, "messageEventDefinition") is None and child(end, "eventDefinitionRef") is None:
                yield flow, f"The {named(end)} has a message flow, but is no message event."


def participants_range(index: Index) -> Iterator[Breach]:
    """How many participants there may be: at least minimum, at most maximum, which is one or more."""
    for element in index.all("participantMultiplicity"):
        minimum, maximum = _number(element, "minimum", 0), _number(element, "maximum", 1)
        if maximum < 1 or minimum > maximum:
            yield element, f"A multiplicity of at least {minimum} and at most {maximum} cannot be."


def public_executable(index: Index) -> Iterator[Breach]:
    """A public process shows only what touches others; it cannot be executable."""
    for process in index.all("process"):
        if process.get("processType") == "Public" and process.get("isExecutable", "").strip() in ("true", "1"):
            yield process, 'A process of the type "Public" cannot be executable.'


def _pool(index: Index, end: Element) -> str:
    """The process of the pool in which a node lies; the participant itself where it names no process."""
    if tag(end) == "participant":
        return str(end.get("processRef") or end.get("id", ""))
    process = around(end, "process")
    return str(process.get("id", "")) if process is not None else ""


def _number(element: Element, attribute: str, default: int) -> int:
    value = element.get(attribute, "").strip()
    return int(value) if value.lstrip("-").isdecimal() else default


RULES: Final = (
    Rule("message-flow-end", "warning", "9.3, message flow; tables 7.4 and 9.1", message_flow_end),
    Rule("message-flow-within-pool", "warning", "9.3, message flow", message_flow_within),
    Rule("message-flow-event", "warning", "9.3, message flow", message_flow_event),
    Rule("participants-range", "warning", "9.2.1, table 9.4", participants_range),
    Rule("public-executable", "warning", "10.2, table 10.1", public_executable),
)
