"""A state without its history: what is equal from here on is one situation.

Forgotten: what has ended (but for ancestors of what is open), variables, versions, times, who works at a task, how far
an endless cycle is. Ordinals are given anew, by the shape of what is there, so that the order in which things came
about makes no difference. Where it does make one, it is kept: compensation undoes what was done last, who waits for a
signal or a condition is asked in order, and a joining gateway takes the oldest token of a flow. The age of tokens is
kept in a process in which several can come to a join by one flow (`aged`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bpm.semantics.changing import changed
from bpm.semantics.state import Entity, State, Ticket, Token, build
from bpm.semantics.view import attached, is_open

# The one moment at which everything is decided: the order of timers is not asked.
MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
# How often an activity that was done several times is undone at most.
UNDONE = 2

# What a situation is told from others by: nested tuples.
type Shape = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """`shape` is equal exactly for equal situations; `ordinals` maps those of the state that it was made from to its
    own; `entities` are what is left of it, by kind.
    """

    shape: Shape
    ordinals: dict[int, int]
    entities: tuple[tuple[str, Entity], ...]

    @property
    def state(self) -> State:
        """A state of the situation, whole, with its ordinals."""
        (_, instance), *others = self.entities
        renewed = [(kind, _renewed(kind, one, self.ordinals)) for kind, one in others]
        return build([("instance", changed(instance, version=0)), *renewed], counter=len(self.ordinals))


def situation(state: State, *, aged: bool = False) -> Situation:
    """What is left of a state when its history is forgotten; `aged`: which token is older than which is not."""
    kept = _kept(state)
    below: dict[int, list[int]] = defaultdict(list)
    for id, token in kept.items():
        below[token.parent or token.scope].append(id)
    hanging = {id: _hanging(state, id) for id in (0, *kept)}
    shapes: dict[int, Shape] = {}
    # Of equals the one comes first whose tickets are older, or that is older itself.
    marks: dict[int, list[int]] = {}
    for id in _bottom_up(below):
        shapes[id] = _shape(kept.get(id), hanging[id], sorted(shapes[one] for one in below[id]))
        own = [one.id for _, one in hanging[id] if _in_order(one)]
        marks[id] = sorted([*own, *(mark for one in below[id] for mark in marks[one])])
    by_shape = list(_top_down(below, {id: (shapes[id], marks[id], id) for id in kept}))
    places = {id: place for place, id in enumerate(by_shape)}
    tokens = sorted(kept) if aged else by_shape
    things = [(kind, one) for id in (0, *tokens) for kind, one in hanging[id]]
    others = [pair for pair in things if not _in_order(pair[1])]
    in_order = sorted((pair for pair in things if _in_order(pair[1])), key=lambda pair: pair[1].id)
    entities = (*(("token", kept[id]) for id in tokens), *others, *in_order)
    ordinals = {0: 0} | {one.id: number for number, (_, one) in enumerate(entities, 1)}
    ages = tuple(places[id] for id in tokens) if aged else ()
    order = tuple((places.get(one.token, -1), one.node) for _, one in in_order)
    instance = state.instances[0]
    return Situation((instance.state, shapes[0], ages, order), ordinals, (("instance", instance), *entities))


def _kept(state: State) -> dict[int, Token]:
    """The open tokens and all that they descend from, by ordinal."""
    found: dict[int, Token] = {}
    todo = [token for token in state.tokens.values() if is_open("token", token)]
    while todo:
        token = todo.pop()
        if token.id not in found:
            found[token.id] = token
            todo += [state.tokens[id] for id in (token.parent, token.scope) if id]
    return dict(sorted(found.items()))


def _hanging(state: State, id: int) -> list[tuple[str, Entity]]:
    """What hangs on a token, in a fixed order; of what would undo one activity many times only the first."""
    found = [(kind, one) for kind, one in attached(state, id) if is_open(kind, one)]
    plain = sorted((pair for pair in found if not _undoes(pair[1])), key=lambda pair: (_described(*pair), pair[1].id))
    undoing = [pair for pair in found if _undoes(pair[1])]
    counts: dict[str, int] = defaultdict(int)
    few = []
    for pair in undoing:
        counts[pair[1].node] += 1
        if counts[pair[1].node] <= UNDONE:
            few.append(pair)
    return [*plain, *few]


def _undoes(one: Entity) -> bool:
    return isinstance(one, Ticket) and one.kind == "COMPENSATION"


def _bottom_up(below: dict[int, list[int]]) -> Iterator[int]:
    order, todo = [], [0]
    while todo:
        id = todo.pop()
        order.append(id)
        todo += below[id]
    return reversed(order)


def _top_down(below: dict[int, list[int]], keys: dict[int, Shape]) -> Iterator[int]:
    todo = [0]
    while todo:
        id = todo.pop()
        if id:
            yield id
        todo += sorted(below[id], key=lambda one: keys[one], reverse=True)


def _shape(token: Token | None, hanging: list[tuple[str, Entity]], below: list[Shape]) -> Shape:
    things = tuple(_described(kind, one) for kind, one in hanging)
    if token is None:
        return ("", things, tuple(below))
    round_ = token.index is not None
    child = "fork" if token.parent else "scope"
    return (token.node, token.state, token.step, token.flow or "", round_, child, things, tuple(below))


def _described(kind: str, one: Entity) -> Shape:
    """What of a thing that hangs on a token makes a difference, as text."""
    if kind == "timer":
        return (kind, one.node, str(one.schedule["remaining"]))
    if kind == "ticket":
        return (kind, one.node, f"{one.kind} {one.name} {_data(one)}")
    return (kind, one.node, "" if kind in _WORK else one.kind)


def _data(ticket: Ticket) -> dict[str, Any]:
    """What a ticket counts, as far as it makes a difference."""
    data = ticket.data
    if ticket.kind == "COMPENSATION":
        return {"entries": [_entry(entry) for entry in data["entries"]]}
    if ticket.kind == "LOOP" and data["total"] is None:
        # A loop without a count: only whether its first round is over can make a difference (`behavior`).
        done = min(data["done"], 2)
        return {"total": None, "done": done, "started": done + data["started"] - data["done"]}
    return data


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    inside = {"inside": [[node, [_entry(e) for e in es]] for node, es in entry["inside"]]} if "inside" in entry else {}
    return {"handler": entry["handler"], "variables": {}} | inside


def _in_order(one: Entity) -> bool:
    return isinstance(one, Ticket) and one.kind in _ORDERED


# Tickets of which several are taken in the order in which they were opened, or against it.
_ORDERED = ("SIGNAL", "CONDITION", "COMPENSATION")


def _renewed(kind: str, one: Entity, ordinals: dict[int, int]) -> Entity:
    """The entity with the situation's ordinals and without what is forgotten."""
    id = ordinals[one.id]
    if kind == "token":
        scope, parent = ordinals[one.scope], ordinals[one.parent]
        round_ = None if one.index is None else 0
        return changed(one, id=id, scope=scope, parent=parent, index=round_, local=0, version=0)
    token = ordinals[one.token]
    if kind == "timer":
        schedule = one.schedule | {"fire_at": MOMENT.isoformat(), "anchor": MOMENT.isoformat(), "index": 0}
        return changed(one, id=id, token=token, version=0, fire_at=MOMENT, schedule=schedule)
    if kind == "ticket":
        return changed(one, id=id, token=token, version=0, data=_data(one))
    if kind == "task":
        return changed(one, id=id, token=token, version=0, state="READY", lock_owner=None, lock_expire_at=None)
    return changed(one, id=id, token=token, version=0, **({"state": "READY"} if kind in _WORK else {}))


# Who has it makes no difference.
_WORK = ("task", "user_task")
