"""All situations that an instance can come to, breadth first: the shortest way to each is known.

Everything is in a fixed order, so that the same process gives the same space. Where a bound is met, the space says so:
`limits` names it, and situations that were not followed further are `open`, of which nothing is claimed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from bpm.checker.abstraction import Abstract, abstract
from bpm.checker.moves import Move, moves, repeats, starts
from bpm.checker.outcomes import Outcome, TooManyQuestions, outcomes
from bpm.checker.questions import Answer
from bpm.checker.reduction import aged, alone, local, meeting, movers, reducible
from bpm.checker.situations import Shape, Situation, situation
from bpm.graph import Process
from bpm.semantics import Event, State
from bpm.semantics.view import is_open


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Where an exploration ends. `states`: situations; `depth`: moves from the start; `tokens`: at one place, more is
    growth; `rounds`: of a parallel multi-instance; `again`: how many tokens may be under way from one event that the
    world can repeat.
    """

    states: int = 20_000
    depth: int = 1_000
    tokens: int = 4
    rounds: int = 2
    again: int = 2


USUAL = Bounds()

# Why a space is not complete: bound -> what it means.
LIMITS = {
    "states": "there are more situations than were looked at",
    "depth": "some ways are longer than were followed",
    "questions": "a step asks for more data than can be tried every way",
    "tokens": "tokens gather at one place",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One outcome of a move: from a situation (-1: nothing was there yet) to another. `target` is None where it is not
    followed: the instance stopped with an incident, or too many tokens are at one place.
    """

    source: int
    target: int | None
    move: Move
    given: tuple[tuple[Answer, ...], ...]
    events: tuple[Event, ...]


@dataclass(slots=True)
class Space:
    """What was found. `states` by number, in the order of their discovery; `came` is the edge by which each was found
    first; `leaving` the edges out of each; `open` those not followed in every way. `stopped`: edges that end with an
    incident; `crowded`: those to too many tokens at one place, with their states; `held`: events that could come
    more often than they do here.
    """

    abstract: Abstract
    bounds: Bounds
    states: list[State] = field(default_factory=list)
    came: list[Edge] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    leaving: list[list[Edge]] = field(default_factory=list)
    open: set[int] = field(default_factory=set)
    stopped: list[Edge] = field(default_factory=list)
    crowded: list[tuple[Edge, State]] = field(default_factory=list)
    held: dict[str, None] = field(default_factory=dict)
    limits: dict[str, None] = field(default_factory=dict)
    reached: dict[str, None] = field(default_factory=dict)
    numbers: dict[Shape, int] = field(default_factory=dict)
    reduced: bool = False
    aged: bool = False

    @property
    def process(self) -> Process:
        """The abstract graph."""
        return self.abstract.process

    @property
    def transitions(self) -> int:
        """How many edges lead from one situation to another."""
        return sum(len(edges) for edges in self.leaving)

    def way(self, number: int) -> list[Edge]:
        """The shortest way from a start to the situation."""
        found: list[Edge] = []
        while number >= 0:
            found.append(self.came[number])
            number = self.came[number].source
        return found[::-1]


def explore(
    process: Process,
    bounds: Bounds = USUAL,
    *,
    reduce: bool = True,
    told: Callable[[int, int], None] = lambda states, waiting: None,
) -> Space:
    """Every situation within the bounds. `reduce`: leave out orders that make no difference; `told` hears now and then
    how many situations were found, and how many of them are still to be looked at.
    """
    space = Space(abstract(process, rounds=bounds.rounds), bounds)
    space.reduced = reduce and reducible(space.process)
    space.aged = aged(space.process)
    meet = meeting(space.process) if space.reduced else frozenset()
    todo: deque[int] = deque()
    for move in starts(space.process):
        for edge, found in _edges(space, -1, State(), move):
            _arrive(space, edge, found, todo)
    closed: set[int] = set()
    while todo:
        number = todo.popleft()
        closed.add(number)
        if number % 64 == 0:
            told(len(space.states), len(todo))
        state = space.states[number]
        if not is_open("instance", state.instances[0]):
            continue
        if space.depths[number] >= bounds.depth:
            space.limits["depth"] = None
            space.open.add(number)
            continue
        for edge, found in _following(space, number, meet, closed):
            _arrive(space, edge, found, todo)
    told(len(space.states), 0)
    return space


def _following(space: Space, number: int, meet: frozenset[str], closed: set[int]) -> list[tuple[Edge, Outcome]]:
    """What can come of a situation: the moves of one token where these may stand for all."""
    state = space.states[number]
    possible = moves(space.process, state)
    count, crowded = crowd(state, "ACTIVE")
    if count >= space.bounds.tokens:
        # The engine advances every token some time: however fast the world is, these do not gather for ever.
        possible = [move for move in possible if (move.kind, move.node) == ("advance", crowded)]
    made: dict[int, list[tuple[Edge, Outcome]]] = {}
    if space.reduced:
        throws = any(ticket.kind == "SIGNAL" and ticket.state == "OPEN" for ticket in state.tickets.values())
        for token in () if throws else movers(possible):
            of_token = [(place, move) for place, move in enumerate(possible) if move.token == token]
            if not all(alone(state, move) for _, move in of_token):
                continue
            for place, move in of_token:
                made[place] = _edges(space, number, state, move)
            found = [pair for place, _ in of_token for pair in made[place]]
            if all(local(state, edge.move, outcome, meet) for edge, outcome in found) and _goes_on(
                space, found, closed
            ):
                return found
    every = []
    for place, move in enumerate(possible):
        every += made[place] if place in made else _edges(space, number, state, move)
    return every


def _goes_on(space: Space, found: list[tuple[Edge, Outcome]], closed: set[int]) -> bool:
    """Whether something is found that was not followed yet: else others would be put off for ever by a token that goes
    round (Bosnacki and Holzmann, Improving Spin's Partial-Order Reduction for Breadth-First Search, 2005)."""
    numbers = [space.numbers.get(situation(outcome.state, aged=space.aged).shape) for _, outcome in found]
    return any(number is None or number not in closed for number in numbers)


def _edges(space: Space, number: int, state: State, move: Move) -> list[tuple[Edge, Outcome]]:
    try:
        found = outcomes(space.abstract, state, move)
    except TooManyQuestions:
        space.limits["questions"] = None
        if number >= 0:
            space.open.add(number)
        return []
    return [(Edge(source=number, target=None, move=move, given=one.given, events=one.events), one) for one in found]


def _arrive(space: Space, edge: Edge, found: Outcome, todo: deque[int]) -> None:
    """Note where an edge leads, and follow it from there when that is new."""
    for event in edge.events:
        if event.node is not None and event.type in _ARRIVALS:
            space.reached[event.node] = None
    if any(event.type == "INCIDENT_OPENED" for event in edge.events):
        space.stopped.append(edge)
        if edge.source >= 0:
            space.open.add(edge.source)
        return
    if edge.move.kind in ("error", "return_error") and found.state.instances[0].state == "FAILED":
        return  # the world throws what the model catches
    if edge.source >= 0 and (held := _held(space, edge, found.state)):
        space.held |= held
        if not edge.move.again:
            space.open.add(edge.source)
        return
    if crowd(found.state)[0] > space.bounds.tokens:
        space.crowded.append((edge, found.state))
        space.limits["tokens"] = None
        if edge.source >= 0:
            space.open.add(edge.source)
        return
    there = situation(found.state, aged=space.aged)
    number = space.numbers.get(there.shape)
    if number is None:
        if len(space.states) >= space.bounds.states:
            space.limits["states"] = None
            if edge.source >= 0:
                space.open.add(edge.source)
            return
        number = _new(space, there, edge)
        todo.append(number)
    if edge.source >= 0:
        space.leaving[edge.source].append(_to(edge, number))


# Events that say that a token is at a node.
_ARRIVALS = ("TOKEN_CREATED", "TOKEN_MOVED", "TOKEN_JOINED")


def _new(space: Space, there: Situation, edge: Edge) -> int:
    number = len(space.states)
    space.numbers[there.shape] = number
    space.states.append(there.state)
    space.came.append(_to(edge, number))
    space.depths.append(0 if edge.source < 0 else space.depths[edge.source] + 1)
    space.leaving.append([])
    return number


def _to(edge: Edge, number: int) -> Edge:
    return Edge(source=edge.source, target=number, move=edge.move, given=edge.given, events=edge.events)


def crowd(state: State, doing: str = "WAITING") -> tuple[int, str]:
    """How many tokens of that state have come to one node of a scope by one flow, where they are most, and that node.
    Rounds of a loop do not count.
    """
    places = Counter(
        (token.node, token.scope, token.flow or "")
        for token in state.tokens.values()
        if token.state == doing and token.index is None
    )
    return max(((count, place[0]) for place, count in sorted(places.items())), default=(0, ""))


def _held(space: Space, edge: Edge, after: State) -> dict[str, None]:
    """Events that may come again and now have too many tokens on the way that begins at them, and more than before."""
    process, before = space.process, space.states[edge.source]
    found: dict[str, None] = {}
    for event in edge.events:
        if event.type == "TOKEN_CREATED" and repeats(node := process.nodes[event.node or ""]):
            way = {node.scope} if node.kind == "start" else {node.id} | _beyond(process, node.id)
            if _on(after, way) > max(space.bounds.again, _on(before, way)):
                found[node.id] = None
    return found


def _on(state: State, way: set[str]) -> int:
    return sum(is_open("token", token) and token.node in way for token in state.tokens.values())


def _beyond(process: Process, first: str) -> set[str]:
    """The nodes after an event that nothing else of its scope leads to."""
    behind: set[str] = set()
    todo = [first]
    while todo:
        for flow in process.nodes[todo.pop()].outgoing:
            target = process.flows[flow].target
            if target not in behind:
                behind.add(target)
                todo.append(target)
    changed = True
    while changed:
        outside = {
            id for id in behind
            if any(process.flows[f].source not in behind | {first} for f in process.nodes[id].incoming)
        }  # fmt: skip
        behind -= outside
        changed = bool(outside)
    return behind
