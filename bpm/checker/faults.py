"""What is wrong in a space of situations: each fault with the way that leads there and the elements that it is about.

A claim is made only where it is sure of the abstract graph: of a situation that was not followed in every way, nothing
is said to be impossible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bpm.checker.endings import ends, growth
from bpm.checker.exploring import Edge, Space
from bpm.checker.fault import FAULTS, Fault, began_again, fault_at, leaves, named
from bpm.checker.reduction import meeting
from bpm.graph import Node


def faults(space: Space) -> list[Fault]:
    """Everything that is wrong, errors first, each once with its shortest way."""
    found = [*ends(space), *growth(space), *_stops(space), *_uncaught(space)]
    explained = {id for one in found if one.severity == "error" for id in one.elements}
    found += [*_meetings(space, explained), *_unreached(space, explained)]
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(found, key=lambda one: order[one.severity])


def _stops(space: Space) -> Iterator[Fault]:
    """Incidents that the model itself can run into."""
    seen: set[tuple[str, str]] = set()
    for edge in space.stopped:
        for event in edge.events:
            key = (event.node or "", event.payload.get("kind", ""))
            if event.type != "INCIDENT_OPENED" or key in seen:
                continue
            seen.add(key)
            code = "no-flow" if any(edge.given) else "no-way-out"
            node = space.process.nodes[key[0]]
            message = f"{named(node)} can be left by no flow: no condition holds, and it has no default flow."
            if key[1] != "no_flow":
                message = f"{named(node)}: {event.payload.get('message', '')}."
            way = (*(space.way(edge.source) if edge.source >= 0 else ()), edge)
            yield Fault(code=code, severity=FAULTS[code][0], elements=(node.id,), message=message, way=way, there=None)


def _uncaught(space: Space) -> Iterator[Fault]:
    seen: set[tuple[str, str]] = set()
    for edge in _edges(space):
        for event in edge.events:
            if event.type == "TOKEN_FAILED":
                node, code = space.process.nodes[event.node or ""], event.payload.get("code")
                if (node.id, "error") not in seen:
                    seen.add((node.id, "error"))
                    said = f"Nothing catches the error {code or 'without a code'} of {named(node)}: the instance fails."
                    yield _after(space, "error-uncaught", node, said, edge)
        for node in _escalating(space, edge):
            if (node.id, "escalation") not in seen:
                seen.add((node.id, "escalation"))
                said = f"Nothing catches the escalation of {named(node)}."
                yield _after(space, "escalation-uncaught", node, said, edge)


def _after(space: Space, code: str, node: Node, said: str, edge: Edge) -> Fault:
    way = (*(space.way(edge.source) if edge.source >= 0 else ()), edge)
    there = None if edge.target is None else space.states[edge.target]
    return Fault(code=code, severity=FAULTS[code][0], elements=(node.id,), message=said, way=way, there=there)


def _edges(space: Space) -> Iterator[Edge]:
    """Every edge, in the order of the situations from which they lead; first those of the starts."""
    yield from (edge for edge in space.came if edge.source < 0)
    for edges in space.leaving:
        yield from edges


def _escalating(space: Space, edge: Edge) -> Iterator[Node]:
    """Nodes that threw an escalation in this step that nobody heard."""
    if any(event.reason == "escalation" for event in edge.events):
        return
    places = {event.node for event in edge.events} | {event.payload.get("origin") for event in edge.events}
    for id in sorted(place for place in places if place):
        node = space.process.nodes.get(id)
        if node is not None and node.kind in ("throw", "end") and node.trigger is not None:
            passed = any(e.type in ("TOKEN_MOVED", "TOKEN_COMPLETED") and id in (e.node, e.payload.get("origin"))
                         for e in edge.events)  # fmt: skip
            if passed and any(part.kind == "escalation" for part in node.trigger.parts or (node.trigger,)):
                yield node


def _meetings(space: Space, explained: set[str]) -> Iterator[Fault]:
    """Activities that are done by two tokens of one scope at once, though no loop says so; but where they even gather
    without bound (`explained`).
    """
    meet = meeting(space.process)
    seen = set(explained)
    for number, state in enumerate(space.states):
        counts = Counter((t.node, t.scope) for t in leaves(state) if t.state == "WAITING" and t.index is None)
        for (id, _), count in sorted(counts.items()):
            node = space.process.nodes[id]
            if count < 2 or id in seen or id not in meet or node.kind not in _DONE:
                continue
            if any(began_again(space, event) for edge in space.way(number) for event in edge.events):
                continue  # an event beside an activity has come: that it does more at once is how it is meant
            seen.add(id)
            said = f"{named(node)} is done {count} times at once: tokens of a fork meet before it without a join."
            yield fault_at(space, "several-at-once", (id,), said, number)


_DONE = ("external", "user", "receive", "call", "subprocess", "catch")


def _unreached(space: Space, explained: set[str]) -> Iterator[Fault]:
    """Nodes to which no token came, where all was looked at; what follows such a node alone is not named again, nor
    what follows a node that no token leaves (`explained`).
    """
    process = space.process
    if space.limits or not space.states:
        return
    beyond = {id for id, node in process.nodes.items() if id not in space.reached and not _never_entered(node)}
    for id in sorted(explained & set(process.nodes)):
        beyond -= _following(space, id, beyond | {id})
    for id in process.nodes:
        node = process.nodes[id]
        if id not in beyond or node.scope in beyond:
            continue
        sources = [process.flows[flow].source for flow in node.incoming] + [node.attached_to or ""]
        if any(source in beyond for source in sources) and not _turns(space, id, beyond):
            continue
        message = f"No token ever comes to {named(node)}."
        yield Fault(code="never-reached", severity="warning", elements=(id,), message=message)
        beyond -= _following(space, id, beyond) - {id}


def _never_entered(node: Node) -> bool:
    """A compensation event on an activity only marks its handler."""
    return node.kind == "boundary" and node.trigger is not None and node.trigger.kind == "compensation"


def _turns(space: Space, id: str, beyond: set[str]) -> bool:
    """Whether all that leads to the node comes from behind it: a round that nothing enters."""
    node = space.process.nodes[id]
    behind = _following(space, id, beyond)
    return all(space.process.flows[flow].source in behind for flow in node.incoming)


def _following(space: Space, id: str, within: set[str]) -> set[str]:
    found, todo = {id}, [id]
    while todo:
        node = space.process.nodes[todo.pop()]
        for target in (*(space.process.flows[flow].target for flow in node.outgoing), *node.boundary):
            if target in within and target not in found:
                found.add(target)
                todo.append(target)
    return found
