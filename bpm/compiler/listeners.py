"""Listeners as work of their own: each becomes a node before or behind its element, where a token passes it.

What Java or a script does in the peer's engine is done by a worker here, as a task's work is: the class, the bean's
method, or `script:<format>` is the topic; a listener whose expression only computes is computed. So what it does is
seen in history, is tried again, and may fail with an incident.

| listener | where its work is done |
|---|---|
| `start` | before the element; behind a start or boundary event, also for the process or event subprocess around it |
| `end` | behind the element; before an end event and before a gateway that chooses |
| `take` | on the sequence flow |
| `create`, `complete` of a user task | before and behind it (Zeebe: `creating`, `completing`) |

Nothing in between is seen by the engine: a listener for another event, one of a multi-instance, a compensation handler
or a join is refused (`listener-not-run`), unless whoever deploys accepts that it is not run (`--ignore`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from bpm.compiler import beans, formulas
from bpm.compiler.document import BPMN, text
from bpm.compiler.place import Place
from bpm.compiler.vocabulary import ELEMENTS, ZEEBE_ELEMENTS, Extensions, Use, inner, split
from bpm.compiler.work import Binding, called
from bpm.compiler.xml import Element, line
from bpm.graph import Flow, Formula, Node, Scope, WorkSpec

BEFORE, BEHIND = "before", "behind"
type PlaceOf = Callable[[Element], Place]

# What a listener is told of -> where its work is done. Others are told of what no token passes.
WHEN: Final[dict[str, str]] = {
    "start": BEFORE,
    "end": BEHIND,
    "take": "take",
    "create": BEFORE,
    "complete": BEHIND,
    "creating": BEFORE,
    "completing": BEHIND,
}
_NONE: Final[tuple[Use, str]] = ("noted", "")
_ACTIVITIES: Final = ("pass", "external", "decision", "send", "user", "receive", "call", "subprocess")
_CHOOSING: Final = ("exclusive", "inclusive", "complex", "parallel", "event_based")


@dataclass(frozen=True, slots=True)
class Woven:
    """A graph in the making: what `weave` changes in place."""

    nodes: dict[str, Node]
    flows: dict[str, Flow]
    scopes: dict[str, Scope]


def weave(graph: Woven, process: Element, place_of: PlaceOf) -> None:
    """Give every listener of the process its node; one that has no place is reported."""
    places = [place_of(element) for element in process.iter(f"{{{BPMN}}}*")]
    # Those of a process or event subprocess come last: next to its start event, before what that has of its own.
    for place in sorted(places, key=lambda place: place.id in graph.scopes):
        _of(graph, place)


def _of(graph: Woven, place: Place) -> None:
    found = list(_listeners(place.extensions))
    first = [one for one in found if _when(one) == BEFORE]
    rest = [one for one in found if one not in first]
    numbered = enumerate(first + rest, 1)
    asked = [_Asked(item, number, list(_spots(graph, _when(item), place))) for number, item in numbered]
    # Each comes next to the element: those before it in their order, those behind it in the opposite one.
    before = [one for one in asked if one.where == BEFORE]
    for one in [*before, *reversed([one for one in asked if one not in before])]:
        _place(graph, one, place)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A listener of an element, its number there, and the spots for it: all of one kind."""

    item: Element
    number: int
    spots: list[tuple[str, str]]

    @property
    def where(self) -> str | None:
        return self.spots[0][1] if self.spots else None


def _when(item: Element) -> str:
    return WHEN.get(_event(item), "")


def _event(item: Element) -> str:
    return item.get("event") or item.get("eventType") or "start"


def _listeners(said: Extensions) -> Iterator[Element]:
    yield from (item for name, item in said.elements if ELEMENTS.get(name, _NONE)[0] == "listener")
    for name, holder in said.zeebe.items():
        if ZEEBE_ELEMENTS.get(name, _NONE)[0] == "listener":
            yield from inner(holder)


def _place(graph: Woven, asked: _Asked, place: Place) -> None:
    item, event = asked.item, _event(asked.item)
    bound = _bound(place, item)
    if not asked.spots or bound is None:
        said = (
            f"The {event!r} listener has no place where a token passes it" if bound is not None
            else f"The {event!r} listener acts on objects that only the peer's engine has"
        )  # fmt: skip
        place.report("listener-not-run", f"{said}: do its work in a task of its own, or deploy with --ignore.", at=item)
        return
    for spot, where in asked.spots:
        # A start event has listeners of its own beside those of what it starts.
        owner = spot if spot == place.id else f"{spot}:{place.id}"
        near = graph.nodes[spot if spot in graph.nodes else graph.flows[spot].source]
        node = _node(item, f"{owner}:{event}:{asked.number}", near.scope, event, bound)
        insert = {BEFORE: _before, BEHIND: _behind, "take": _on}[where]
        insert(graph, spot, node)
    what = f"work for {bound.topic.text!r}" if bound.topic else "computed"
    place.report("listener-as-task", f"The {event!r} listener is a step of its own: {what}.", at=item)


def _spots(graph: Woven, where: str, place: Place) -> Iterator[tuple[str, str]]:
    """(node or flow, where) of each place at which the listener's work is done."""
    id, node = place.id, graph.nodes.get(place.id)
    if id in graph.flows:  # whatever event it names (as Camunda takes it)
        yield id, "take"
    elif id in graph.scopes and (node is None or node.kind == "event_subprocess"):
        yield from ((start, BEHIND) for start in graph.scopes[id].starts if where == BEFORE)
    elif node is not None and where and _by_flow(graph, node):
        if where == BEFORE and node.kind in ("start", "boundary"):
            yield from ((id, BEHIND) for _ in (1,) if _opens(node, BEHIND))
        elif where == BEHIND and (node.kind == "end" or (node.kind in _CHOOSING and not _opens(node, BEHIND))):
            yield from ((id, BEFORE) for _ in (1,) if _opens(node, BEFORE) and _entered(graph, node))
        elif _opens(node, where) and (where == BEHIND or _entered(graph, node)):
            yield id, where


def _by_flow(graph: Woven, node: Node) -> bool:
    """Whether the node is passed once, by flows that may be led elsewhere."""
    around = graph.nodes.get(node.scope)
    once = node.loop is None and not node.for_compensation and (node.start_quantity, node.completion_quantity) == (1, 1)
    return once and not (around is not None and around.ad_hoc) and not node.instantiate


def _opens(node: Node, where: str) -> bool:
    """Whether the node has a place on that side."""
    kind = node.trigger.kind if node.trigger else "none"
    if node.kind in _ACTIVITIES:
        return True
    if node.kind in ("catch", "throw"):
        return kind != "link"
    if node.kind in _CHOOSING:
        if where == BEFORE:
            return node.kind in ("exclusive", "event_based") or len(node.incoming) <= 1
        return node.kind == "parallel" or (node.kind != "event_based" and len(node.outgoing) <= 1)
    return (node.kind == "end" and where == BEFORE) or (
        where == BEHIND and (node.kind == "start" or (node.kind == "boundary" and kind != "compensation"))
    )


def _entered(graph: Woven, node: Node) -> bool:
    """Whether something may stand before the node: what an event-based gateway waits for follows it at once."""
    return all(graph.nodes[graph.flows[id].source].kind != "event_based" for id in node.incoming)


def _bound(place: Place, item: Element) -> Binding | None:
    """What the listener is bound to; None where it cannot be done outside of the peer's engine."""
    attributes = {str(key): str(value) for key, value in item.attrib.items()}
    said = Extensions(attributes, tuple((split(child.tag)[1], child) for child in inner(item)), {})
    if topic := item.get("type"):  # zeebe
        return Binding(topic=Formula(text=topic))
    for script in said.all("script"):
        format = (script.get("scriptFormat") or "").strip()
        if formulas.language_of(format):
            return None  # its value would go nowhere
        headers = (("script", text(script)), ("scriptFormat", format), ("resource", script.get("resource") or ""))
        return Binding(topic=Formula(text=f"script:{format.lower()}"), headers=tuple(one for one in headers if one[1]))
    call = beans.call(said.get("expression") or "")
    if call is not None and call.path.partition(".")[0] in beans.ENGINE_OBJECTS and beans.set_variable(call) is None:
        return None
    return called(place, said)


def _node(item: Element, id: str, scope: str, event: str, bound: Binding) -> Node:
    work = None if bound.topic is None else WorkSpec(topic=bound.topic, headers=bound.headers)
    return Node(
        id=id,
        kind="pass" if work is None else "external",
        element=split(str(item.tag))[1],
        scope=scope,
        name=f"{event} listener",
        line=line(item),
        work=work,
        inputs=bound.inputs,
        outputs=bound.outputs,
    )


def _flow(graph: Woven, source: str, target: str) -> str:
    id = f"{source}>{target}"
    graph.flows[id] = Flow(id=id, source=source, target=target)
    return id


def _join_scope(graph: Woven, node: Node) -> None:
    scope = graph.scopes[node.scope]
    graph.scopes[node.scope] = replace(scope, nodes=(*scope.nodes, node.id))


def _before(graph: Woven, at: str, node: Node) -> None:
    _join_scope(graph, node)
    target = graph.nodes[at]
    for id in target.incoming:
        graph.flows[id] = replace(graph.flows[id], target=node.id)
    between = _flow(graph, node.id, at)
    graph.nodes[node.id] = replace(node, incoming=target.incoming, outgoing=(between,))
    graph.nodes[at] = replace(target, incoming=(between,))


def _behind(graph: Woven, at: str, node: Node) -> None:
    _join_scope(graph, node)
    source = graph.nodes[at]
    for id in source.outgoing:
        graph.flows[id] = replace(graph.flows[id], source=node.id)
    between = _flow(graph, at, node.id)
    graph.nodes[node.id] = replace(node, incoming=(between,), outgoing=source.outgoing, default=source.default)
    graph.nodes[at] = replace(source, outgoing=(between,), default=None)


def _on(graph: Woven, at: str, node: Node) -> None:
    _join_scope(graph, node)
    flow = graph.flows[at]
    target = graph.nodes[flow.target]
    graph.flows[at] = replace(flow, target=node.id)
    between = _flow(graph, node.id, flow.target)
    graph.nodes[node.id] = replace(node, incoming=(at,), outgoing=(between,))
    graph.nodes[target.id] = replace(target, incoming=tuple(between if id == at else id for id in target.incoming))
