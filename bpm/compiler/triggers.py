"""Event definitions to triggers: what an event waits for or throws (BPMN 2.0.2, 10.5.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bpm.compiler import formulas, message_flows
from bpm.compiler.document import child, children, flag, tag, text
from bpm.compiler.mappings import passed
from bpm.compiler.place import Place, words
from bpm.compiler.vocabulary import ZEEBE, extensions, inner
from bpm.compiler.xml import Element
from bpm.graph import Formula, Mapping, Trigger

type Read = Callable[[Place, Element], Trigger]

# timeDate, ... -> how the engine calls it
_TIMES: Final = {"timeDate": "date", "timeDuration": "duration", "timeCycle": "cycle"}


def trigger(place: Place) -> Trigger:
    """The trigger of an event element: of its one definition, of several, or none."""
    found = triggers(place, place.element)
    if not found:
        return Trigger()
    if len(found) == 1:
        return found[0]
    kind = "parallel_multiple" if flag(place.element, "parallelMultiple") else "multiple"
    return Trigger(kind=kind, parts=tuple(found))


def triggers(place: Place, event: Element) -> list[Trigger]:
    """One trigger for each definition of an event."""
    return [DEFINITIONS[tag(element)](place, element) for element in definitions(place, event)]


def definitions(place: Place, event: Element) -> list[Element]:
    """The event's definitions, those that it only refers to included."""
    found = list(children(event, *DEFINITIONS))
    for reference in children(event, "eventDefinitionRef"):
        target = place.document.resolve(text(reference))
        if target is None or tag(target) not in DEFINITIONS:
            place.report(
                "reference-missing",
                f"eventDefinitionRef names {text(reference)!r}, which is no event definition here.",
                at=reference,
            )
        else:
            found.append(target)
    return found


def message(place: Place, element: Element, *, required: bool = True) -> Trigger:
    """The message that an element with messageRef waits for or sends; who only sends (`required` false) may leave it
    open."""
    reference = element.get("messageRef")
    target: Element | str | None = place.document.resolve(reference)
    payload = () if element is place.element else _payload(place, element)
    if reference is None:
        target = message_flows.drawn(place.document, place.id)
    if isinstance(target, str):
        return Trigger(kind="message", name=Formula(text=target), payload=payload)
    if target is None and required:
        why = (
            "set messageRef" if reference is None else f"messageRef names {reference!r}, which this file does not have"
        )
        place.report("message-missing", f"The {place.tag} names no message: {why}.", at=element)
    if target is None:
        return Trigger(kind="message", name=Formula(text=reference) if reference else None, payload=payload)
    if not target.get("name", "").strip():
        place.report("message-unnamed", f"The message {target.get('id')!r} has no name; its id is taken.", at=target)
    asked = extensions(target).zeebe.get("subscription")
    key = None if asked is None else formulas.formula(place, asked.get("correlationKey"), at=asked)
    return Trigger(kind="message", name=_name(place, target), correlation=key, payload=payload)


def _message(place: Place, element: Element) -> Trigger:
    throws = place.tag in ("intermediateThrowEvent", "endEvent")
    return message(place, element, required=not throws)


def _timer(place: Place, element: Element) -> Trigger:
    times = list(children(element, *_TIMES))
    if not times:
        said = "The timer says no time: it needs a timeDate, timeDuration or timeCycle."
        place.report(_absent(place, "timer-missing"), said, at=element)
        return Trigger(kind="timer")
    if len(times) > 1:
        said = "The timer says more than one of timeDate, timeDuration and timeCycle."
        place.report("timer-several", said, at=element)
    kind = _TIMES[tag(times[0])]
    quartz = ZEEBE not in place.document.root.nsmap.values()
    return Trigger(
        kind="timer", timer_kind=kind, timer=formulas.timer(place, kind, times[0], quartz=quartz), quartz=quartz
    )


def _absent(place: Place, code: str) -> str:
    """A start event of a process that waits for nothing only never starts it; elsewhere a token would wait forever."""
    return "start-never" if place.tag == "startEvent" and tag(place.element.getparent()) == "process" else code


def _signal(place: Place, element: Element) -> Trigger:
    target = place.resolve(element, "signalRef")
    if target is None:
        if element.get("signalRef") is None:
            place.report(_absent(place, "signal-missing"), "The event names no signal: set signalRef.", at=element)
        return Trigger(kind="signal")
    return Trigger(kind="signal", name=_name(place, target), payload=_payload(place, element))


def _error(place: Place, element: Element) -> Trigger:
    said = extensions(element)
    reference = element.get("errorRef")
    target = place.document.resolve(reference)
    if reference and target is None:
        finding = f"errorRef names {reference!r}, which this file does not have; it is taken as the error's code."
        place.report("error-undeclared", finding, at=element)
    return Trigger(
        kind="error",
        code=_code(place, target, "errorCode")
        if target is not None
        else Formula(text=reference)
        if reference
        else None,
        code_variable=said.get("errorCodeVariable"),
        message_variable=said.get("errorMessageVariable"),
        error_message=None
        if target is None
        else formulas.formula(place, extensions(target).get("errorMessage"), at=target),
    )


def _escalation(place: Place, element: Element) -> Trigger:
    target = place.resolve(element, "escalationRef")
    return Trigger(
        kind="escalation",
        code=None if target is None else _code(place, target, "escalationCode"),
        code_variable=extensions(element).get("escalationCodeVariable"),
        payload=_payload(place, element),
    )


def _conditional(place: Place, element: Element) -> Trigger:
    said = extensions(element)
    asked, chosen = child(element, "condition"), said.zeebe.get("conditionalFilter")

    def filtered(name: str) -> str | None:
        return None if chosen is None else chosen.get(name)

    if asked is None:
        place.report("expression-missing", "The conditional event has no condition.", at=element)
    return Trigger(
        kind="conditional",
        condition=None if asked is None else formulas.condition(place, asked, what="The condition of the event"),
        condition_variables=tuple(words(said.get("variableName") or filtered("variableNames"))),
        condition_events=tuple(words(said.get("variableEvents") or filtered("variableEvents"))),
    )


def _compensation(place: Place, element: Element) -> Trigger:
    target = place.resolve(element, "activityRef")
    if not flag(element, "waitForCompletion", default=True):
        said = "waitForCompletion=false has no effect: the event waits for the compensation, as in Camunda 7."
        place.report("element-ignored", said, at=element)
    return Trigger(kind="compensation", activity=None if target is None else target.get("id"))


def _link(place: Place, element: Element) -> Trigger:
    """A throw names its catching side by `target`, or by the same name; a catch goes by its name, else by its id."""
    throws = place.tag == "intermediateThrowEvent"
    for reference in children(element, "target") if throws else ():
        target = place.document.resolve(text(reference))
        if target is not None and tag(target) == "linkEventDefinition":
            return Trigger(kind="link", name=Formula(text=link_name(target)))
    for catch in place.document.root.iter(element.tag) if throws else ():
        if element.get("id") and element.get("id") in [text(source) for source in children(catch, "source")]:
            return Trigger(kind="link", name=Formula(text=link_name(catch)))
    return Trigger(kind="link", name=Formula(text=link_name(element)))


def link_name(element: Element) -> str:
    """The name by which a link is found: its own, that of its event, or its id."""
    event = element.getparent()
    return str(element.get("name") or (event.get("name") if event is not None else "") or element.get("id") or "")


def _cancel(place: Place, element: Element) -> Trigger:
    return Trigger(kind="cancel")


def _terminate(place: Place, element: Element) -> Trigger:
    return Trigger(kind="terminate")


DEFINITIONS: Final[dict[str, Read]] = {
    "messageEventDefinition": _message,
    "timerEventDefinition": _timer,
    "signalEventDefinition": _signal,
    "errorEventDefinition": _error,
    "escalationEventDefinition": _escalation,
    "conditionalEventDefinition": _conditional,
    "compensateEventDefinition": _compensation,
    "linkEventDefinition": _link,
    "cancelEventDefinition": _cancel,
    "terminateEventDefinition": _terminate,
}


def _name(place: Place, target: Element) -> Formula:
    """The name of a message or signal; its id where it has none."""
    return formulas.formula(place, target.get("name"), at=target) or Formula(text=target.get("id", ""))


def _code(place: Place, target: Element, attribute: str) -> Formula:
    """The code of an error or escalation; its id where it has none, so that thrower and catcher still agree."""
    found = formulas.formula(place, target.get(attribute), at=target)
    if found is None:
        place.report("error-code-missing", f"{target.get('id')!r} has no {attribute}; its id is taken.", at=target)
    return found or Formula(text=target.get("id", ""))


def _payload(place: Place, element: Element) -> tuple[Mapping, ...]:
    """The variables that a throw sends along: camunda:in of a signal, message or escalation definition."""
    said = extensions(element)
    for holder in said.all("inputOutput"):
        for item in inner(holder, "inputParameter"):
            place.report(
                "unsupported-extension",
                "An inputParameter of an event definition has no effect: put it on the event.",
                at=item,
            )
    return tuple(passed(place, item) for item in said.all("in"))
