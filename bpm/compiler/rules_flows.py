"""Rules of sequence flows and gateways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.document import child, flag, tag
from bpm.compiler.rules import ACTIVITIES, GATEWAYS, Breach, Index, Rule, executable, named
from bpm.compiler.triggers import DEFINITIONS
from bpm.compiler.xml import Element


def start_incoming(index: Index) -> Iterator[Breach]:
    """A start event has no incoming sequence flow."""
    for event in index.all("startEvent"):
        for flow in index.arriving(event):
            yield flow, f"No sequence flow may lead to a start event; this one leads to {event.get('id')!r}."


def end_outgoing(index: Index) -> Iterator[Breach]:
    """An end event has no outgoing sequence flow."""
    for event in index.all("endEvent"):
        for flow in index.leaving(event):
            yield flow, f"No sequence flow may leave an end event; this one leaves {event.get('id')!r}."


def event_subprocess_flow(index: Index) -> Iterator[Breach]:
    """An event subprocess stands outside of the flow: it is begun by its event."""
    for scope in index.all("subProcess"):
        if flag(scope, "triggeredByEvent"):
            for flow in (*index.arriving(scope), *index.leaving(scope)):
                yield flow, f"An event subprocess has no sequence flows; this one touches {scope.get('id')!r}."


def link_flow(index: Index) -> Iterator[Breach]:
    """A throwing link ends its path, a catching link begins one: the other end has no sequence flow."""
    for event in index.all("intermediateThrowEvent"):
        if child(event, "linkEventDefinition") is not None:
            for flow in index.leaving(event):
                yield flow, "No sequence flow may leave a throwing link event: the flow goes on at its target."
    for event in index.all("intermediateCatchEvent"):
        if child(event, "linkEventDefinition") is not None:
            for flow in index.arriving(event):
                yield flow, "No sequence flow may lead to a catching link event: the flow comes from its source."


def not_immediate(index: Index) -> Iterator[Breach]:
    """isImmediate=false lets other things happen on the way: not in a process that is run."""
    for flow in index.all("sequenceFlow"):
        if flow.get("isImmediate") == "false" and executable(flow):
            yield flow, 'A sequence flow of an executable process must be immediate: remove isImmediate="false".'


def gateway_direction(index: Index) -> Iterator[Breach]:
    """gatewayDirection agrees with the flows: (several in, several out) as the direction says."""
    for gateway in index.all(*GATEWAYS):
        said = gateway.get("gatewayDirection", "Unspecified")
        there = (len(index.arriving(gateway)) > 1, len(index.leaving(gateway)) > 1)
        if said in _DIRECTIONS and _DIRECTIONS[said] != there:
            ins, outs = len(index.arriving(gateway)), len(index.leaving(gateway))
            yield gateway, f"The gateway says it is {said.lower()}, but has {ins} incoming and {outs} outgoing flows."


_DIRECTIONS: Final = {"Converging": (True, False), "Diverging": (False, True), "Mixed": (True, True)}


def exclusive_conditions(index: Index) -> Iterator[Breach]:
    """Where an exclusive gateway chooses, every flow but the default says when it is taken (Camunda 7 refuses
    others)."""
    for gateway in index.all("exclusiveGateway"):
        flows = index.leaving(gateway)
        for flow in flows if len(flows) > 1 and executable(gateway) else ():
            if flow.get("id") != gateway.get("default") and child(flow, "conditionExpression") is None:
                yield (
                    flow,
                    f"The flow has no condition and is not the default of {named(gateway)}: it would always be taken.",
                )


def misplaced_condition(index: Index) -> Iterator[Breach]:
    """No conditions behind parallel and event-based gateways: they do not ask."""
    for gateway in index.all("parallelGateway", "eventBasedGateway"):
        for flow in index.leaving(gateway):
            if child(flow, "conditionExpression") is not None:
                yield flow, f"The condition is never asked: {named(gateway)} takes its flows without conditions."


def default_condition(index: Index) -> Iterator[Breach]:
    """The default flow is taken when no condition holds; a condition of its own is never asked."""
    for source in index.all(*ACTIVITIES, *GATEWAYS):
        default = index.resolve(source.get("default"))
        if default is not None and tag(default) == "sequenceFlow" and child(default, "conditionExpression") is not None:
            yield default, "The default flow has a condition; it is taken without asking it."


def lone_conditional_flow(index: Index) -> Iterator[Breach]:
    """A conditional flow that leaves an activity is one of at least two."""
    for activity in index.all(*ACTIVITIES):
        flows = index.leaving(activity)
        if len(flows) == 1 and child(flows[0], "conditionExpression") is not None:
            yield (
                flows[0],
                f"The only flow that leaves {named(activity)} has a condition: where it fails, nothing goes on.",
            )


def event_gateway_alone(index: Index) -> Iterator[Breach]:
    """An event-based gateway has at least two ways out."""
    for gateway in index.all("eventBasedGateway"):
        if len(index.leaving(gateway)) < 2:
            yield gateway, "An event-based gateway has two or more outgoing flows: with one there is nothing to choose."


def event_gateway_targets(index: Index) -> Iterator[Breach]:
    """Every way out of an event-based gateway waits for an event of its own."""
    for gateway in index.all("eventBasedGateway"):
        flows = index.leaving(gateway)
        targets = [(flow, found) for flow in flows if (found := index.resolve(flow.get("targetRef"))) is not None]
        for flow, target in targets:
            if not _waits(target):
                yield (
                    flow,
                    f"Behind an event-based gateway stands an event that is waited for, not the {named(target)}.",
                )
            elif len(index.arriving(target)) > 1:
                yield flow, f"The {named(target)} behind an event-based gateway has other incoming flows, too."


def event_gateway_mix(index: Index) -> Iterator[Breach]:
    """Behind an event-based gateway stand receive tasks or message events, not both."""
    for gateway in index.all("eventBasedGateway"):
        targets = [index.resolve(flow.get("targetRef")) for flow in index.leaving(gateway)]
        kinds = {tag(target) for target in targets if target is not None and _receives(target)}
        if len(kinds) > 1:
            yield gateway, "Behind an event-based gateway stand receive tasks or message events, not both."


def _waits(target: Element) -> bool:
    if tag(target) == "receiveTask":
        return True
    if tag(target) != "intermediateCatchEvent":
        return False
    definitions = [tag(item) for item in target if tag(item) in DEFINITIONS]
    return all(name in _AWAITED for name in definitions)


_AWAITED: Final = (
    "messageEventDefinition",
    "signalEventDefinition",
    "timerEventDefinition",
    "conditionalEventDefinition",
)


def _receives(target: Element) -> bool:
    return tag(target) == "receiveTask" or child(target, "messageEventDefinition") is not None


def instantiating_incoming(index: Index) -> Iterator[Breach]:
    """What starts the process has no incoming flow."""
    for node in index.all("receiveTask", "eventBasedGateway"):
        if flag(node, "instantiate"):
            for flow in index.arriving(node):
                yield flow, f"The {named(node)} starts the process; no sequence flow may lead to it."


def compensation_flow(index: Index) -> Iterator[Breach]:
    """Compensation stands outside of the flow: its boundary event and its handler have no sequence flows."""
    for event in index.all("boundaryEvent"):
        if child(event, "compensateEventDefinition") is not None:
            for flow in index.leaving(event):
                yield flow, "No sequence flow leaves a compensation event: an association leads to its handler."
    for activity in index.all(*ACTIVITIES):
        if flag(activity, "isForCompensation"):
            for flow in (*index.arriving(activity), *index.leaving(activity)):
                yield flow, f"A compensation handler has no sequence flows; this one touches {activity.get('id')!r}."


RULES: Final = (
    Rule("start-incoming", "error", "10.5.2, sequence flow connections", start_incoming),
    Rule("end-outgoing", "error", "10.5.3, sequence flow connections", end_outgoing),
    Rule("event-subprocess-flow", "error", "10.3.5, event sub-process", event_subprocess_flow),
    Rule("link-flow", "error", "10.5.4, sequence flow connections", link_flow),
    Rule("flow-not-immediate", "warning", "8.4.13, table 8.60", not_immediate),
    Rule("gateway-direction", "warning", "10.6.1, table 10.107", gateway_direction),
    Rule("condition-missing", "warning", "10.6.2, exclusive gateway", exclusive_conditions, strict=False),
    Rule("condition-misplaced", "warning", "8.4.13, sequence flow", misplaced_condition),
    Rule("default-with-condition", "warning", "8.4.13, default flow", default_condition),
    Rule("condition-alone", "warning", "8.4.13, conditional flow", lone_conditional_flow),
    Rule("event-gateway-alone", "warning", "10.6.6, event-based gateway", event_gateway_alone),
    Rule("event-gateway-target", "error", "10.6.6, event-based gateway", event_gateway_targets),
    Rule("event-gateway-mix", "warning", "10.6.6, event-based gateway", event_gateway_mix),
    Rule("instantiate-incoming", "error", "10.3.3 and 10.6.6", instantiating_incoming),
    Rule("compensation-flow", "error", "10.7.1, compensation handler", compensation_flow),
)
