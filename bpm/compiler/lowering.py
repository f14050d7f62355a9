"""From the elements of one `process` to its graph: a table of functions, and the links between what they made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from bpm.compiler import activities, calls, decision_tasks, events, formulas, gateways, users, work
from bpm.compiler.diagnostics import Problems
from bpm.compiler.document import Document, child, children, tag
from bpm.compiler.listeners import Woven, weave
from bpm.compiler.place import Place
from bpm.compiler.vocabulary import extensions, inner
from bpm.compiler.xml import Element
from bpm.graph import Flow, Node, Process, Scope
from bpm.graph.reach import reach

type Lower = Callable[[Place], Node]

# BPMN flow node -> the function that makes its node. An element is added with one row and one function.
LOWER: Final[dict[str, Lower]] = {
    "startEvent": events.start,
    "endEvent": events.end,
    "intermediateCatchEvent": events.catch,
    "intermediateThrowEvent": events.throw,
    "boundaryEvent": events.boundary,
    "task": activities.passing,
    "manualTask": activities.passing,
    "serviceTask": work.service,
    "sendTask": work.send,
    "scriptTask": work.script,
    "businessRuleTask": decision_tasks.rule,
    "userTask": users.user,
    "receiveTask": activities.receive,
    "callActivity": calls.call,
    "subProcess": activities.subprocess,
    "transaction": activities.subprocess,
    "adHocSubProcess": activities.subprocess,
    "exclusiveGateway": gateways.exclusive,
    "parallelGateway": gateways.parallel,
    "inclusiveGateway": gateways.inclusive,
    "eventBasedGateway": gateways.event_based,
    "complexGateway": gateways.complex_gateway,
}
SUBPROCESSES: Final = ("subProcess", "transaction", "adHocSubProcess")

# Flow elements of choreographies and conversations: other diagrams, not processes.
FOREIGN: Final = ("choreographyTask", "subChoreography", "callChoreography", "implicitThrowEvent", "event")


@dataclass(slots=True)
class _Draft:
    """One process while it is being lowered."""

    document: Document
    problems: Problems
    nodes: dict[str, Node] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    flow_elements: list[tuple[Element, str]] = field(default_factory=list)  # with the scope


def lower(document: Document, element: Element, problems: Problems) -> Process:
    """The graph of a `process` element. Findings go to `problems`; the graph is whole only if none of them is an
    error."""
    draft = _Draft(document, problems)
    id = element.get("id", "").strip()
    if not id:
        problems.report("id-missing", element, "The process has no id: nothing could start it.")
    _scope(draft, element, id, parent=None)
    for flow_element, scope in draft.flow_elements:
        _flow(draft, flow_element, scope)
    _link(draft)
    weave(Woven(draft.nodes, draft.flows, draft.scopes), element, lambda inside: _anywhere(draft, inside, id))
    said = extensions(element)
    tagged = said.zeebe.get("versionTag")
    process = Process(
        id=id,
        name=element.get("name", ""),
        version_tag=said.get("versionTag") or (tagged.get("value") if tagged is not None else None),
        nodes=draft.nodes,
        flows=draft.flows,
        scopes=draft.scopes,
    )
    joins = [
        node for node in process.nodes.values() if node.kind in ("inclusive", "complex") and len(node.incoming) > 1
    ]
    names, dynamic = formulas.reads(process)
    return replace(
        process,
        reads=names,
        dynamic=dynamic,
        conditional=any(
            part.kind == "conditional"
            for node in process.nodes.values()
            if node.trigger is not None
            for part in (node.trigger, *node.trigger.parts)
        ),
        reach={node.id: reach(process, node) for node in joins},
        own_reach={node.id: reach(process, node, itself=True) for node in joins},
    )


def _scope(draft: _Draft, element: Element, id: str, *, parent: str | None) -> None:
    """Lower the content of a process or subprocess into a scope."""
    members: list[str] = []
    draft.scopes[id] = Scope(id=id, parent=parent)  # its place in the order: before the scopes within
    for item in children(element):
        name = tag(item)
        if name == "sequenceFlow":
            draft.flow_elements.append((item, id))
        elif name in LOWER:
            if node := _node(draft, item, id):
                members.append(node.id)
        elif name in FOREIGN:
            draft.problems.report("unsupported-element", item, f"A {name} is no part of a process that can be run.")
    nodes = [draft.nodes[member] for member in members]
    draft.scopes[id] = Scope(
        id=id,
        parent=parent,
        nodes=tuple(members),
        starts=tuple(node.id for node in nodes if node.kind == "start"),
        event_subprocesses=tuple(node.id for node in nodes if node.kind == "event_subprocess"),
        data=tuple(_data_objects(element)),
    )


def _node(draft: _Draft, element: Element, scope: str) -> Node | None:
    """Lower one flow node and, for a subprocess, what is in it."""
    id = element.get("id", "").strip()
    if not id:
        draft.problems.report("id-missing", element, f"The {tag(element)} has no id, so history could not name it.")
        return None
    if id in draft.nodes or id in draft.scopes:
        return None  # reported as id-duplicate
    node = LOWER[tag(element)](_place(draft, element, id, scope))
    draft.nodes[id] = replace(node, default=element.get("default"))
    if tag(element) in SUBPROCESSES:
        _scope(draft, element, id, parent=scope)
    return draft.nodes[id]


def _place(draft: _Draft, element: Element, id: str, scope: str) -> Place:
    return Place(
        element=element,
        id=id,
        scope=scope,
        document=draft.document,
        problems=draft.problems,
        extensions=extensions(element),
    )


def _anywhere(draft: _Draft, element: Element, process: str) -> Place:
    """An element after all are lowered: a node, a flow, the process itself."""
    id = element.get("id", "").strip()
    if tag(element) == "sequenceFlow":
        id = _flow_id(element)
    known = draft.nodes.get(id)
    return _place(draft, element, id, known.scope if known else process)


def _flow(draft: _Draft, element: Element, scope: str) -> None:
    """Lower a sequence flow whose ends are nodes of its scope; others are reported and left out."""
    source, target = element.get("sourceRef", "").strip(), element.get("targetRef", "").strip()
    id = _flow_id(element)
    place = _place(draft, element, id, scope)
    for attribute, end in (("sourceRef", source), ("targetRef", target)):
        if end not in draft.nodes:
            place.report(
                "reference-missing",
                f"{attribute} of the sequence flow names {end!r}, which is no flow node of this process.",
            )
        elif draft.nodes[end].scope != scope:
            place.report(
                "reference-wrong",
                f"The sequence flow leaves its (sub)process: {attribute} {end!r} lies in another one.",
            )
    if {source, target} <= draft.nodes.keys() and draft.nodes[source].scope == draft.nodes[target].scope == scope:
        asked = child(element, "conditionExpression")
        draft.flows[id] = Flow(
            id=id,
            source=source,
            target=target,
            name=element.get("name", ""),
            condition=None
            if asked is None
            else formulas.condition(place, asked, what="The condition of the sequence flow"),
        )


def _flow_id(element: Element) -> str:
    ends = (element.get("sourceRef", "").strip(), element.get("targetRef", "").strip())
    return element.get("id", "").strip() or "-".join(ends)


def _link(draft: _Draft) -> None:
    """Give nodes their flows, boundary events and compensation handlers, in document order."""
    incoming: dict[str, list[str]] = {}
    outgoing: dict[str, list[str]] = {}
    boundary: dict[str, list[str]] = {}
    for flow in draft.flows.values():
        outgoing.setdefault(flow.source, []).append(flow.id)
        incoming.setdefault(flow.target, []).append(flow.id)
    for node in draft.nodes.values():
        if node.kind == "boundary" and _attached(draft, node):
            boundary.setdefault(node.attached_to or "", []).append(node.id)
    handlers = _handlers(draft)
    for id, node in draft.nodes.items():
        if node.default is not None and node.default not in outgoing.get(id, ()):
            said = f"The default flow {node.default!r} does not leave this element."
            draft.problems.report("reference-wrong", draft.document.by_id.get(id), said)
            node = replace(node, default=None)
        draft.nodes[id] = replace(
            node,
            incoming=tuple(incoming.get(id, ())),
            outgoing=tuple(outgoing.get(id, ())),
            boundary=tuple(boundary.get(id, ())),
            compensation_handler=handlers.get(id),
        )


def _attached(draft: _Draft, node: Node) -> bool:
    """Whether a boundary event hangs on an activity of its own scope; if not, that is reported."""
    element = draft.document.by_id.get(node.id)
    host = draft.nodes.get(node.attached_to or "")
    if host is None:
        draft.problems.report(
            "reference-missing",
            element,
            f"attachedToRef names {node.attached_to!r}, which is no activity of this process.",
        )
    elif host.scope != node.scope or host.kind in _NOT_ACTIVITIES:
        draft.problems.report(
            "reference-wrong", element, f"A boundary event hangs on an activity of its own scope; {host.id!r} is none."
        )
    else:
        return True
    return False


_NOT_ACTIVITIES: Final = (
    *("start", "end", "catch", "throw", "boundary", "event_subprocess"),
    *("exclusive", "parallel", "inclusive", "event_based", "complex"),
)


def _handlers(draft: _Draft) -> dict[str, str]:
    """Activity -> its compensation handler: the association from its compensation boundary event (BPMN 2.0.2,
    10.7.1)."""
    found: dict[str, str] = {}
    for element in draft.document.root.iter("{*}association"):
        source, target = element.get("sourceRef", "").strip(), element.get("targetRef", "").strip()
        event, handler = draft.nodes.get(source), draft.nodes.get(target)
        if event is None or handler is None or event.kind != "boundary":
            continue
        if event.trigger and event.trigger.kind == "compensation" and event.attached_to:
            found[event.attached_to] = handler.id
    return found


def _data_objects(element: Element) -> list[tuple[str, str]]:
    """Data objects with a first value (flowable:value): they are variables of the scope from its start."""
    found: list[tuple[str, str]] = []
    for item in children(element, "dataObject"):
        holder = child(item, "extensionElements")
        for given in inner(holder, "value"):
            found.append(
                (item.get("name") or item.get("id") or "", _json(given.text or "", item.get("itemSubjectRef", "")))
            )
    return found


def _json(text: str, type: str) -> str:
    """A text as JSON, by the XML Schema type that the data object names."""
    name = type.rpartition(":")[2]
    if name == "boolean":
        return "true" if text.strip() == "true" else "false"
    if name in ("int", "integer", "long", "double", "float", "decimal"):
        try:
            json.loads(text.strip())
            return text.strip()
        except ValueError:
            pass
    return json.dumps(text, ensure_ascii=False)
