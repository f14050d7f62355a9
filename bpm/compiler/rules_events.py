"""Rules of events: which definitions may stand where, and what they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.document import child, children, flag, tag, text
from bpm.compiler.rules import ACTIVITIES, EVENTS, Breach, Index, Rule, executable, named
from bpm.compiler.triggers import DEFINITIONS, link_name
from bpm.compiler.xml import Element

# Position of an event -> the definitions that BPMN allows there (10.5.2 to 10.5.4, tables 10.84 to 10.93).
_MESSAGES: Final = ("message", "signal")
_WAITING: Final = (*_MESSAGES, "timer", "conditional")
ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    "start event of a process": _WAITING,
    "start event of a subprocess": (),
    "interrupting start event of an event subprocess": (*_WAITING, "error", "escalation", "compensate"),
    "non-interrupting start event of an event subprocess": (*_WAITING, "escalation"),
    "intermediate catch event": (*_WAITING, "link"),
    "intermediate throw event": (*_MESSAGES, "escalation", "compensate", "link"),
    "boundary event": (*_WAITING, "error", "escalation", "compensate", "cancel"),
    "non-interrupting boundary event": (*_WAITING, "escalation"),
    "end event": (*_MESSAGES, "error", "escalation", "compensate", "cancel", "terminate"),
}
# Positions where an event without a definition waits for nothing.
NEEDING: Final = tuple(name for name in ALLOWED if "event subprocess" in name or "catch" in name or "boundary" in name)


def position(event: Element) -> str:
    """Where the event stands, in the words of ALLOWED."""
    name = tag(event)
    if name == "boundaryEvent":
        compensates = child(event, "compensateEventDefinition") is not None
        return (
            "boundary event"
            if compensates or flag(event, "cancelActivity", True)
            else "non-interrupting boundary event"
        )
    if name != "startEvent":
        return {
            "intermediateCatchEvent": "intermediate catch event",
            "intermediateThrowEvent": "intermediate throw event",
        }.get(name, "end event")
    scope = event.getparent()
    if scope is None or tag(scope) == "process":
        return "start event of a process"
    if not flag(scope, "triggeredByEvent"):
        return "start event of a subprocess"
    manner = "interrupting" if flag(event, "isInterrupting", True) else "non-interrupting"
    return f"{manner} start event of an event subprocess"


def _definitions(index: Index, event: Element) -> list[tuple[Element, str]]:
    """The definitions of an event, own and referenced, each with its kind."""
    found = [(item, tag(item)) for item in event if tag(item) in DEFINITIONS]
    for reference in children(event, "eventDefinitionRef"):
        target = index.resolve(text(reference))
        if target is not None and tag(target) in DEFINITIONS:
            found.append((reference, tag(target)))
    return [(item, name.removesuffix("EventDefinition")) for item, name in found]


def trigger_misplaced(index: Index) -> Iterator[Breach]:
    """An event carries definitions that BPMN allows where it stands."""
    for event in index.all(*EVENTS):
        where = position(event)
        for item, kind in _definitions(index, event):
            if kind not in ALLOWED[where]:
                yield item, f"BPMN allows no {kind} definition in the {where} {event.get('id')!r}."


def trigger_missing(index: Index) -> Iterator[Breach]:
    """An event that is waited for says for what."""
    for event in index.all(*EVENTS):
        where = position(event)
        if where in NEEDING and not marked_by_definition(event):
            yield event, f"The {where} waits for nothing: it needs an event definition."


def marked_by_definition(event: Element) -> bool:
    """Whether the event has a definition or refers to one."""
    return any(tag(item) in DEFINITIONS or tag(item) == "eventDefinitionRef" for item in event)


def cancel_outside(index: Index) -> Iterator[Breach]:
    """Cancel events belong to transactions: the end event in one, the boundary event on one."""
    for definition in index.all("cancelEventDefinition"):
        event = definition.getparent()
        if event is None:
            continue
        if tag(event) == "endEvent" and not _is(event.getparent(), "transaction"):
            yield event, "A cancel end event stands directly in a transaction."
        if tag(event) == "boundaryEvent" and not _is(index.resolve(event.get("attachedToRef")), "transaction"):
            yield event, "A cancel boundary event is attached to a transaction."


def _is(element: Element | None, name: str) -> bool:
    return element is not None and tag(element) == name


def not_reusable(index: Index) -> Iterator[Breach]:
    """eventDefinitionRef names a definition that stands by itself in the file."""
    for reference in index.all("eventDefinitionRef"):
        target = index.resolve(text(reference))
        if target is not None and tag(target.getparent() if target.getparent() is not None else target) in EVENTS:
            yield (
                reference,
                f"The event definition {text(reference)!r} belongs to another event: define it in definitions.",
            )


def escalation_unnamed(index: Index) -> Iterator[Breach]:
    """Who throws an escalation says which: an escalation with a code."""
    for definition in index.all("escalationEventDefinition"):
        event = definition.getparent()
        if event is None or tag(event) != "endEvent" or not executable(event):
            continue
        target = index.resolve(definition.get("escalationRef"))
        if target is None or not target.get("escalationCode"):
            yield definition, "An escalation end event refers to an escalation with an escalationCode."


def error_unnamed(index: Index) -> Iterator[Breach]:
    """Who throws an error says which: an error with a code."""
    for definition in index.all("errorEventDefinition"):
        event = definition.getparent()
        if event is not None and tag(event) == "endEvent" and executable(event) and not definition.get("errorRef"):
            yield definition, "An error end event refers to an error with an errorCode: set errorRef."


def compensation_handler(index: Index) -> Iterator[Breach]:
    """A compensation boundary event leads by an association to an activity that is for compensation."""
    followed = {item.get("sourceRef", "").strip(): item for item in index.all("association")}
    for event in index.all("boundaryEvent"):
        if child(event, "compensateEventDefinition") is None:
            continue
        link = followed.get(event.get("id", ""))
        handler = index.resolve(link.get("targetRef")) if link is not None else None
        if handler is None or tag(handler) not in ACTIVITIES:
            yield event, "The compensation event has no handler: draw an association from it to an activity."
        elif not flag(handler, "isForCompensation"):
            yield handler, f"The {named(handler)} handles a compensation: set isForCompensation."


def compensation_not_interrupting(index: Index) -> Iterator[Breach]:
    """cancelActivity says nothing of compensation, error and cancel; false is not allowed with them."""
    for event in index.all("boundaryEvent"):
        if not flag(event, "cancelActivity", True) and child(event, "compensateEventDefinition") is not None:
            yield event, "A compensation boundary event cannot be non-interrupting: its activity has ended."


def link_pairs(index: Index) -> Iterator[Breach]:
    """Every throwing link has its catching link, and both agree where they name each other."""
    for definition in index.all("linkEventDefinition"):
        if not _is(definition.getparent(), "intermediateThrowEvent") or not executable(definition):
            continue
        if not any(_linked(definition, other) for other in index.all("linkEventDefinition")):
            yield (
                definition,
                f"The link {link_name(definition)!r} leads nowhere: no catching link of its scope has its name.",
            )
    for definition in index.all("linkEventDefinition"):
        ends = ("target", "source") if _is(definition.getparent(), "intermediateThrowEvent") else ("source", "target")
        for reference in children(definition, ends[0]):
            other = index.resolve(text(reference))
            back = [text(item) for item in children(other, ends[1])] if other is not None else []
            if other is not None and back and definition.get("id") not in back:
                yield reference, f"The links do not agree: {text(reference)!r} names another {ends[1]}."


def _linked(throw: Element, other: Element) -> bool:
    """Whether the other definition is the catching side of this link, in the same scope."""
    event, catching = throw.getparent(), other.getparent()
    if event is None or catching is None or tag(catching) != "intermediateCatchEvent":
        return False
    return event.getparent() is catching.getparent() and (
        link_name(throw) == link_name(other)
        or other.get("id") in [text(item) for item in children(throw, "target")]
        or throw.get("id") in [text(item) for item in children(other, "source")]
    )


def link_twice(index: Index) -> Iterator[Breach]:
    """A link has one target: names of catching links are unique in their scope."""
    seen: set[tuple[int, str]] = set()
    for definition in index.all("linkEventDefinition"):
        event = definition.getparent()
        if event is None or tag(event) != "intermediateCatchEvent" or not link_name(definition):
            continue
        key = (id(event.getparent()), link_name(definition))
        if key in seen:
            yield definition, f"Two catching links of one scope have the name {key[1]!r}."
        seen.add(key)


def several_starts(index: Index) -> Iterator[Breach]:
    """A subprocess that is entered by its flow has one start event; an event subprocess has exactly one."""
    for scope in index.all("subProcess", "transaction"):
        starts = list(children(scope, "startEvent"))
        if len(starts) > 1:
            yield starts[1], f"The {named(scope)} has {len(starts)} start events; it can begin at one only."
        if not starts and flag(scope, "triggeredByEvent"):
            yield scope, f"The event subprocess {scope.get('id')!r} has no start event: nothing begins it."


def process_without_start(index: Index) -> Iterator[Breach]:
    """A process begins somewhere: at a start event, or at a node that instantiates it."""
    for process in index.all("process"):
        if not executable(process):
            continue
        begins = any(True for _ in children(process, "startEvent"))
        waits = any(flag(item, "instantiate") for item in children(process, "receiveTask", "eventBasedGateway"))
        if not begins and not waits and any(tag(item) in (*ACTIVITIES, *EVENTS) for item in process):
            yield process, "The process has no start event: it begins at every node that no flow leads to."


def inside_ad_hoc(index: Index) -> Iterator[Breach]:
    """An ad-hoc subprocess has neither start nor end events, and at least one activity."""
    for scope in index.all("adHocSubProcess"):
        for event in children(scope, "startEvent", "endEvent"):
            yield event, "An ad-hoc subprocess has no start and end events: its activities begin by themselves."
        if next(children(scope, *ACTIVITIES), None) is None:
            yield scope, "An ad-hoc subprocess needs at least one activity."


RULES: Final = (
    Rule("trigger-misplaced", "error", "10.5.2 to 10.5.4, tables 10.84 to 10.93", trigger_misplaced),
    Rule("trigger-missing", "error", "10.5.2 to 10.5.4", trigger_missing),
    Rule("cancel-outside-transaction", "error", "10.5.5, cancel event definition", cancel_outside),
    Rule("event-definition-not-reusable", "warning", "10.5.1, table 10.79", not_reusable),
    Rule("escalation-code-missing", "warning", "8.4.5, table 8.41", escalation_unnamed),
    Rule("error-reference-missing", "warning", "8.4.3, table 8.40", error_unnamed),
    Rule("compensation-handler-missing", "warning", "10.7.1, compensation handler", compensation_handler),
    Rule("compensation-interrupting", "warning", "10.5.4, table 10.91", compensation_not_interrupting),
    Rule("link-pair", "error", "10.5.5, link event definition", link_pairs),
    Rule("link-twice", "error", "10.5.5, link event definition", link_twice),
    Rule("subprocess-starts", "error", "10.3.5 and 10.5.2", several_starts),
    Rule("start-missing", "warning", "10.5.2, start event (which is optional)", process_without_start, strict=False),
    Rule("ad-hoc-content", "error", "10.3.5, ad-hoc sub-process", inside_ad_hoc),
)
