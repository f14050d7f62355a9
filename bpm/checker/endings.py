"""Faults of how instances end: they stand still, they go round for ever, they gather tokens without bound."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from bpm.checker.exploring import Space, crowd
from bpm.checker.fault import Fault, Severity, began_again, fault_at, leaves, named
from bpm.semantics import State
from bpm.semantics.lifecycle import final
from bpm.semantics.view import attached


def ends(space: Space) -> Iterator[Fault]:
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
            yield fault_at(space, "deadlock", elements, f"Nothing can move any more: {said}.", number)
    endless = sorted(doomed - _backwards(space, set(dead)))
    while endless:
        first = endless[0]
        region = _forwards(space, first)
        tokens = [token for n in region for token in leaves(space.states[n])]
        waiting = {token.node for token in tokens if token.state == "WAITING"}
        turning = sorted(waiting or {token.node for token in tokens})
        where = " and ".join(named(space.process.nodes[id]) for id in turning[:5])
        if tuple(turning) not in seen:
            seen.add(tuple(turning))
            said = f"No end can be reached any more: what is open goes on at {where}, and never further."
            yield fault_at(space, "never-ends", turning, said, first)
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


def _stuck(space: Space, state: State) -> list[tuple[str, str]]:
    """(node, what it waits for in words) of every token that stands still."""
    process = space.process
    tokens = leaves(state)
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


def growth(space: Space) -> Iterator[Fault]:
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
                world = next((event.node for one in between for event in one.events if began_again(space, event)), None)
                said = f"Tokens gather at {named(space.process.nodes[place])} without bound"
                said += f": each time that {named(space.process.nodes[world])} comes, one more." if world else "."
                # An inclusive join looks at every token: that the same can be done once more is likely there, not sure.
                severity: Severity = "note" if world else "warning" if space.process.reach else "error"
                yield Fault(
                    code="grows", severity=severity, elements=(place,), message=said, way=(*way, edge), there=state
                )
                break


def _places(state: State) -> Counter[tuple[str, ...]]:
    """How many tokens are at each node in each state, by their flow and the node of their scope."""
    found: Counter[tuple[str, ...]] = Counter()
    for token in leaves(state):
        scope = state.tokens[token.scope].node if token.scope else ""
        found[token.node, token.state, token.flow or "", scope] += 1
    return found
