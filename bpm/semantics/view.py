"""How a step asks its state. Every question may be answered by a part of the instance, or raise `Missing`.

| key | the question it answers completely |
|---|---|
| ("token", id) | that token (and its ancestors are asked one by one) |
| ("task" / "timer" / "ticket" / "user_task" / "incident", id) | that entity |
| ("attached", token) | all open tasks, timers, user tasks, tickets and incidents of the token |
| ("children", token) | all open tokens whose fork parent is the token |
| ("scope", token) | all open tokens whose scope is the token (0: the instance) |
| ("arrived", scope, node) | all WAITING tokens at that node in that scope |
| ("subtree", token) | all open tokens below the token (scopes and forks; 0: all), with all that is attached |
| ("variable", scope, name) | that variable of that scope |
| ("variables", scope) | all variables of that scope |
| ("conditions",) | all open CONDITION tickets of the instance |
| ("signals", name) | all open SIGNAL tickets of that name of the instance |

Two questions are not about the instance, and the whole of it does not answer them either:

| key | what is asked |
|---|---|
| ("bean", name) | whether a bean of that name is registered, into `command.answers` |
| ("call", name, arguments, n) | what the n-th such call gives: {"value"} or {"fault"}, into `command.answers` |
| ("decision", key, binding, version) | the id of the decision's definition (None: none), into `command.answers` |
| ("model", id) | the compiled decisions of that definition, into `state.library` |

A yes/no question ("is any other child open?") is answered by one witness, so a loader may give two open children of a
token that has ten thousand, and leave ("children", token) out of `known`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpm.decisions import Evaluator
from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import ATTACHED, Entity, Key, State, Ticket, Token, Variable


class Missing(Exception):
    """The state is partial and cannot answer. `keys` say what to load."""

    def __init__(self, *keys: Key) -> None:
        super().__init__(*keys)
        self.keys = keys


def require(state: State, *key: Any) -> None:
    """Raise Missing unless the state answers the key completely."""
    if state.known is not None and key not in state.known:
        raise Missing(key)


def entity(state: State, kind: str, id: int) -> Entity | None:
    """The entity, or None where the instance has none of that id."""
    found = state.table(kind).get(id)
    if found is None and (kind != "instance"):
        require(state, kind, id)
    return found


def token(state: State, id: int) -> Token:
    """The token; KeyError where there is none (references inside an instance are never dangling)."""
    found = state.tokens.get(id)
    if found is None:
        require(state, "token", id)
        raise KeyError(f"token {id}")
    return found


def attached(state: State, token_id: int) -> list[tuple[str, Entity]]:
    """The open (kind, entity) pairs that hang on a token, by kind and id."""
    _unless_born_here(state, token_id, ("attached", token_id))
    found = state.index.get(("attached", token_id), {})
    return [(kind, state.table(kind)[id]) for kind in ATTACHED for id in sorted(i for k, i in found if k == kind)]


def children(state: State, parent: int) -> list[Token]:
    """All open tokens forked by the token."""
    _unless_born_here(state, parent, ("children", parent))
    return [state.tokens[id] for id in sorted(state.index.get(("parent", parent), ()))]


def has_open_child(state: State, parent: int, *, but: Iterable[int] = ()) -> bool:
    """Whether the token has an open child other than those named."""
    return _any_open(state, ("parent", parent), ("children", parent), but)


def in_scope(state: State, scope: int) -> list[Token]:
    """All open tokens of a scope."""
    _unless_born_here(state, scope, ("scope", scope))
    return [state.tokens[id] for id in sorted(state.index.get(("scope", scope), ()))]


def has_open_in_scope(state: State, scope: int, *, but: Iterable[int] = ()) -> bool:
    """Whether the scope has an open token other than those named."""
    return _any_open(state, ("scope", scope), ("scope", scope), but)


def arrived(state: State, scope: int, node: str) -> list[Token]:
    """The tokens that wait at a node of the scope, oldest first."""
    if state.known is not None and ("scope", scope) not in state.known:
        _unless_born_here(state, scope, ("arrived", scope, node))
    found = (state.tokens[id] for id in sorted(state.index.get(("scope", scope), ())))
    return [t for t in found if t.node == node and t.state == "WAITING"]


def variable(state: State, scope: int, name: str) -> Variable | None:
    """The variable of exactly this scope, None where it has no value there."""
    found = state.variables.get((scope, name))
    if found is None:
        if state.known is not None and ("variables", scope) not in state.known:
            _unless_born_here(state, scope, ("variable", scope, name))
        return None
    return found if found.present else None


def variables(state: State, scope: int) -> dict[str, Any]:
    """All variables of exactly this scope, by name."""
    _unless_born_here(state, scope, ("variables", scope))
    return {name: state.variables[scope, name].value for name in sorted(state.index.get(("variables", scope), ()))}


def conditions(state: State) -> list[Ticket]:
    """The open tickets that wait for a condition, oldest first."""
    require(state, "conditions")
    return _open_tickets(state, "CONDITION")


def signals(state: State, name: str) -> list[Ticket]:
    """The open tickets that wait for a signal, oldest first."""
    require(state, "signals", name)
    return [ticket for ticket in _open_tickets(state, "SIGNAL") if ticket.name == name]


def _open_tickets(state: State, kind: str) -> list[Ticket]:
    return [state.tickets[id] for id in sorted(state.index.get(("tickets", kind), ()))]


def model(state: State, id: str) -> Evaluator:
    """The compiled decisions of a definition."""
    if id not in state.library:
        raise Missing(("model", id))
    return state.library[id]


def subtree(state: State, top: int) -> list[Token]:
    """All open tokens below a token (0: all of the instance), deepest first; the token itself is left out."""
    _unless_born_here(state, top, ("subtree", top))
    found: list[Token] = []
    todo = [("scope", top)] if top == 0 else [("scope", top), ("parent", top)]
    seen: set[int] = set()
    while todo:
        for id in sorted(state.index.get(todo.pop(), ())):
            if id not in seen:
                seen.add(id)
                found.append(state.tokens[id])
                todo += [("scope", id), ("parent", id)]
    return sorted(found, key=lambda t: -t.id)


def load_around(state: State, tokens: Iterable[int]) -> None:
    """Have these tokens and the scopes around them at hand: what is missing is asked for together."""
    todo = list(dict.fromkeys(tokens))
    while todo:
        missing = [id for id in todo if id and id not in state.tokens]
        if missing and state.known is not None:
            raise Missing(*(("token", id) for id in missing))
        todo = list(dict.fromkeys(state.tokens[id].scope for id in todo if id))


def scope_locals(state: State, token_id: int) -> list[int]:
    """The variable scopes a token sees, innermost first; the last is 0, the process."""
    chain: list[int] = []
    while token_id:
        found = token(state, token_id)
        if found.local:
            chain.append(found.local)
        token_id = found.scope
    return [*chain, 0]


def _any_open(state: State, index: tuple[str, int], key: Key, but: Iterable[int]) -> bool:
    excluded = frozenset(but)
    if any(id not in excluded for id in state.index.get(index, ())):
        return True
    _unless_born_here(state, index[1], key)
    return False


def _unless_born_here(state: State, owner: int, key: Key) -> None:
    """Whatever hangs on an entity that this step made is here, since nobody else has seen it yet."""
    if state.known is None or key in state.known or owner > state.born_after:
        return
    raise Missing(key)


def is_open(kind: str, found: Entity) -> bool:
    """Whether the entity is in a state that something may leave."""
    return not is_final(kind, found.state)
