"""Message flows: what passes between the pools of one file (BPMN 2.0.2, 9.3).

The two ends of a message flow mean one message: that of the flow, or that of either end. Where the modeller named none
at all, the message is called as the flow is, so that what is drawn is delivered. A pool at the end of a flow stands for
the message start event of its process."""

from __future__ import annotations

from collections.abc import Iterator

from bpm.compiler.document import Document, child, children, tag
from bpm.compiler.xml import Element


def drawn(document: Document, id: str) -> Element | str | None:
    """The message that a message flow gives to an element that names none: the message, or just a name."""
    for flow, other in _flows(document, id):
        found = document.resolve(flow.get("messageRef"))
        if found is not None:
            return found
        if tag(other) == "participant":
            start = _only_start(document, other)
            if start is not None and flow.get("sourceRef", "").strip() == id:
                return _message_of(document, start)
        else:
            found = _message_of(document, other)
            return found if found is not None else flow.get("name") or flow.get("id")
    return None


def _flows(document: Document, id: str) -> Iterator[tuple[Element, Element]]:
    """The message flows that begin or end at an element, each with its other end."""
    for flow in document.root.iter("{*}messageFlow"):
        ends = [flow.get(name, "").strip() for name in ("sourceRef", "targetRef")]
        if id in ends:
            other = document.resolve(ends[1 - ends.index(id)])
            if other is not None:
                yield flow, other


def _message_of(document: Document, element: Element) -> Element | None:
    holder = element if element.get("messageRef") else child(element, "messageEventDefinition")
    return None if holder is None else document.resolve(holder.get("messageRef"))


def _only_start(document: Document, participant: Element) -> Element | None:
    """The message start event of the process in a pool, where it has one and no other."""
    process = document.resolve(participant.get("processRef"))
    starts = list(children(process, "startEvent")) if process is not None else []
    found = [start for start in starts if child(start, "messageEventDefinition") is not None]
    return found[0] if len(found) == 1 else None
