"""The static rules of the standard: tables of small functions over a whole file.

A rule has a code, a severity, its source in the standard and a function that yields what breaks it, as (element,
sentence). Rules whose breach stops a model from running are errors; the others are warnings, which strict compilation
makes errors. They look at the XML, not at the graph, since they also speak of what never becomes a graph: pools,
messages, data, processes that are not executable. Sources are paragraphs and tables of BPMN 2.0.2 (OMG
formal/2013-12-09)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from bpm.compiler.diagnostics import Problems, Severity
from bpm.compiler.document import BPMN, Document, children, tag
from bpm.compiler.xml import Element

type Breach = tuple[Element, str]
type Check = Callable[[Index], Iterator[Breach]]

ACTIVITIES: Final = (
    *("task", "sendTask", "receiveTask", "serviceTask", "userTask", "manualTask", "scriptTask", "businessRuleTask"),
    *("callActivity", "subProcess", "transaction", "adHocSubProcess"),
)
GATEWAYS: Final = ("exclusiveGateway", "parallelGateway", "inclusiveGateway", "eventBasedGateway", "complexGateway")
CATCHING: Final = ("startEvent", "intermediateCatchEvent", "boundaryEvent")
THROWING: Final = ("intermediateThrowEvent", "endEvent")
EVENTS: Final = (*CATCHING, *THROWING)
FLOW_NODES: Final = (*ACTIVITIES, *GATEWAYS, *EVENTS)


@dataclass(frozen=True, slots=True)
class Rule:
    """One static rule. `strict` is false for advice: the standard leaves it open, so strict compilation does not refuse
    it."""

    code: str
    severity: Severity
    source: str
    check: Check
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Index:
    """A file, prepared for the questions of rules: elements by tag, sequence flows by their ends."""

    document: Document
    tagged: dict[str, list[Element]]
    outgoing: dict[str, list[Element]] = field(default_factory=dict)
    incoming: dict[str, list[Element]] = field(default_factory=dict)

    def all(self, *tags: str) -> Iterator[Element]:
        """The elements of these tags, tag by tag in document order."""
        for name in tags:
            yield from self.tagged.get(name, ())

    def leaving(self, node: Element) -> list[Element]:
        """The sequence flows that leave a node."""
        return self.outgoing.get(node.get("id", ""), [])

    def arriving(self, node: Element) -> list[Element]:
        """The sequence flows that arrive at a node."""
        return self.incoming.get(node.get("id", ""), [])

    def resolve(self, reference: str | None) -> Element | None:
        """The element that a reference names."""
        return self.document.resolve(reference)


def index(document: Document) -> Index:
    """The index of a file."""
    tagged: dict[str, list[Element]] = {}
    for element in document.root.iter(f"{{{BPMN}}}*"):
        tagged.setdefault(tag(element), []).append(element)
    found = Index(document, tagged)
    for flow in found.all("sequenceFlow"):
        found.outgoing.setdefault(flow.get("sourceRef", "").strip(), []).append(flow)
        found.incoming.setdefault(flow.get("targetRef", "").strip(), []).append(flow)
    return found


def judge(rules: tuple[Rule, ...], document: Document, problems: Problems) -> None:
    """Apply the rules to a file; in strict compilation every breach is an error."""
    prepared = index(document)
    severity: Severity
    for rule in rules:
        for element, message in rule.check(prepared):
            severity = "error" if problems.strict and rule.strict else rule.severity
            problems.add(rule.code, severity, element, message)


def around(element: Element, *tags: str) -> Element | None:
    """The nearest element around this one that has one of the tags."""
    parent = element.getparent()
    while parent is not None and tag(parent) not in tags:
        parent = parent.getparent()
    return parent


def executable(element: Element) -> bool:
    """Whether the process around the element is to be run."""
    process = element if tag(element) == "process" else around(element, "process")
    return process is not None and process.get("isExecutable", "true").strip() in ("true", "1")


def named(element: Element) -> str:
    """The element in a sentence: its tag and id."""
    return f"{tag(element)} {element.get('id', '')!r}"


def marked(element: Element, *names: str) -> bool:
    """Whether the element has a child of one of the names."""
    return next(children(element, *names), None) is not None
