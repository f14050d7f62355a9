"""What is wrong in a space of situations: each fault with the way that leads there and the elements that it is about.

A claim is made only where it is sure of the abstract graph: of a situation that was not followed in every way, nothing
is said to be impossible.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from bpm.checker.exploring import Edge, Space, crowd
from bpm.checker.moves import repeats
from bpm.checker.reduction import meeting
from bpm.graph import Node
from bpm.semantics import Event, State
from bpm.semantics.lifecycle import final
from bpm.semantics.state import Token
from bpm.semantics.view import attached, is_open

type Severity = Literal["error", "warning", "note"]

# code -> (severity, what it says)
FAULTS: dict[str, tuple[Severity, str]] = {
    "deadlock": ("error", "Tokens wait for what can never come: the instance stands still for ever."),
    "never-ends": ("error", "From there on the instance goes on and on, and can never end."),
    "grows": ("error", "A way through the model leads back to where it began with one more token beside it."),
    "no-way-out": ("error", "A token stops with an incident there, whatever the data is."),
    "no-flow": ("warning", "There is data with which no flow can be taken: the token stops with an incident."),
    "error-uncaught": ("warning", "An error that the model throws is caught nowhere: it fails the instance."),
    "several-at-once": ("warning", "Tokens that a fork made meet without a join: what follows is done by each."),
    "never-reached": ("warning", "No token ever comes there."),
    "escalation-uncaught": ("note", "Nothing catches the escalation: it is of no consequence."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`elements` are what it is about, the foremost first; `way` leads there (empty where there is none), and `there`
    is the situation at its end; `message` says it in a sentence.
    """

    code: str
    elements: tuple[str, ...]
    message: str
    way: tuple[Edge, ...] = ()
    there: State | None = None
    severity: Severity = "error"


def faults(space: Space) -> list[Fault]:
    """Everything that is wrong, errors first, each once with its shortest way."""
    found = [*_ends(space), *_growth(space), *_stops(space), *_uncaught(space)]
    explained = {id for one in found if one.severity == "error" for id in one.elements}
    found += [*_meetings(space, explained), *_unreached(space, explained)]
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(found, key=lambda one: order[one.severity])


def named(node: Node) -> str:
    """How a message calls a node: Approve ("Approve the order")."""
    return f'{node.id} ("{" ".join(node.name.split())}")' if node.name else node.id


def _fault(space: Space, code: str, elements: Iterable[str], message: str, number: int) -> Fault:
    way, there = tuple(space.way(number)), space.states[number]
    return Fault(code=code, severity=FAULTS[code][0], elements=tuple(elements), message=message, way=way, there=there)


# -- the end -----------------------------------------------------------------------------------------------------------


def _ends(space: Space) -> Iterator[Fault]:
    """Situations from which no end can be reached: those where nothing moves, and rounds without a way out."""
    over = {n for n, state in enumerate(space.states) if state.instances[0].state in final("instance")}
    doomed = set(range(len(space.states))) - _backwards(space, over | space.open)
    dead = [number for number in sorted(doomed) if not space.leaving[number]]
    seen: set[tuple[str, ...]] = set()
    for number in dead:
        stuck = _stuck(space, space.states[number])
        elements = tuple(dict.fromkeys(node for node, _ in stuck))
        if elements not in seen:
            seen.add(elements)
            said = "; ".join(dict.fromkeys(text for _, text in stuck))
            yield _fault(space, "deadlock", elements, f"Nothing can move any more: {said}.", number)
    endless = sorted(doomed - _backwards(space, set(dead)))
    while endless:
        first = endless[0]
        region = _forwards(space, first)
        tokens = [token for n in region for token in _leaves(space.states[n])]
        waiting = {token.node for token in tokens if token.state == "WAITING"}
        turning = sorted(waiting or {token.node for token in tokens})
        where = " and ".join(named(space.process.nodes[id]) for id in turning[:5])
        if tuple(turning) not in seen:
            seen.add(tuple(turning))
            said = f"No end can be reached any more: what is open goes on at {where}, and never further."
            yield _fault(space, "never-ends", turning, said, first)
        endless = [number for number in endless if number not in region]


def _backwards(space: Space, targets: set[int]) -> set[int]:
    """All situations from which one of these can be reached, they themselves included."""
    before: dict[int, list[int]] = defaultdict(list)
    for edges in space.leaving:
        for edge in edges:
            if edge.target is not None:
                before[edge.target].append(edge.source)
    return _closure(targets, before)


def _forwards(space: Space, number: int) -> set[int]:
    after = {n: [edge.target for edge in edges if edge.target is not None] for n, edges in enumerate(space.leaving)}
    return _closure({number}, after)


def _closure(first: set[int], following: dict[int, list[int]]) -> set[int]:
    found, todo = set(first), sorted(first)
    while todo:
        for number in following.get(todo.pop(), ()):
            if number not in found:
                found.add(number)
                todo.append(number)
    return found


def _leaves(state: State) -> list[Token]:
    """The open tokens that are somewhere themselves: nothing below them is open."""
    above = {id for token in state.tokens.values() if is_open("token", token) for id in (token.scope, token.parent)}
    return [token for token in state.tokens.values() if is_open("token", token) and token.id not in above]


def _stuck(space: Space, state: State) -> list[tuple[str, str]]:
    """(node, what it waits for in words) of every token that stands still."""
    process = space.process
    tokens = _leaves(state)
    found = []
    for token in tokens:
        node = process.nodes[token.node]
        arrived = {one.flow for one in tokens if (one.node, one.scope) == (token.node, token.scope)}
        lacking = [process.flows[flow] for flow in node.incoming if flow not in arrived]
        if node.kind in ("parallel", "inclusive", "complex") and lacking:
            ways = ", ".join(f"{flow.id or '?'} from {named(process.nodes[flow.source])}" for flow in lacking)
            found.append((node.id, f"{named(node)} waits for a token by {ways}"))
        elif any(kind == "ticket" and one.kind == "QUANTITY" for kind, one in attached(state, token.id)):
            found.append((node.id, f"{named(node)} waits for {node.start_quantity} tokens to begin with"))
        else:
            found.append((node.id, f"{named(node)} waits for what does not come"))
    return found


# -- growth ------------------------------------------------------------------------------------------------------------


def _growth(space: Space) -> Iterator[Fault]:
    """Of a way to many tokens at one place: a situation on it that holds all tokens of one before it, and more. What
    led from the one to the other can be done again and again.
    """
    seen: set[str] = set()
    for edge, state in space.crowded:
        place = crowd(state)[1]
        if place in seen or edge.source < 0:
            continue
        way = space.way(edge.source)
        numbers = [one.target for one in way if one.target is not None]
        after = _places(state)
        for position, number in enumerate(numbers):
            between = [*way[position + 1 :], edge]
            before = _places(space.states[number])
            if all(after[key] >= count for key, count in before.items()) and after.total() > before.total():
                seen.add(place)
                world = next(
                    (event.node for one in between for event in one.events if _began_again(space, event)), None
                )
                said = f"Tokens gather at {named(space.process.nodes[place])} without bound"
                said += f": each time that {named(space.process.nodes[world])} comes, one more." if world else "."
                # An inclusive join looks at every token: that the same can be done once more is likely there, not sure.
                severity: Severity = "note" if world else "warning" if space.process.reach else "error"
                yield Fault(
                    code="grows", severity=severity, elements=(place,), message=said, way=(*way, edge), there=state
                )
                break


def _began_again(space: Space, event: Event) -> bool:
    return event.type == "TOKEN_CREATED" and event.node is not None and repeats(space.process.nodes[event.node])


def _places(state: State) -> Counter[tuple[str, ...]]:
    """How many tokens are at each node in each state, by their flow and the node of their scope."""
    found: Counter[tuple[str, ...]] = Counter()
    for token in _leaves(state):
        scope = state.tokens[token.scope].node if token.scope else ""
        found[token.node, token.state, token.flow or "", scope] += 1
    return found


# -- incidents, errors, escalations ------------------------------------------------------------------------------------


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


# -- meetings and what is left ----------------------------------------------------------------------------------------


def _meetings(space: Space, explained: set[str]) -> Iterator[Fault]:
    """Activities that are done by two tokens of one scope at once, though no loop says so; but where they even gather
    without bound (`explained`).
    """
    meet = meeting(space.process)
    seen = set(explained)
    for number, state in enumerate(space.states):
        counts = Counter((t.node, t.scope) for t in _leaves(state) if t.state == "WAITING" and t.index is None)
        for (id, _), count in sorted(counts.items()):
            node = space.process.nodes[id]
            if count < 2 or id in seen or id not in meet or node.kind not in _DONE:
                continue
            if any(_began_again(space, event) for edge in space.way(number) for event in edge.events):
                continue  # an event beside an activity has come: that it does more at once is how it is meant
            seen.add(id)
            said = f"{named(node)} is done {count} times at once: tokens of a fork meet before it without a join."
            yield _fault(space, "several-at-once", (id,), said, number)


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
