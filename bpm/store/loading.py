"""What a step asks the database for, and the state it makes of the answer.

A small instance comes whole but for its variables, of a large one the part around the command's anchor (see
`bpm_load`). `Known` tells the core which questions (`bpm.semantics.view`) that answers completely; whatever else it
asks is a `Need`, answered by `merge`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from bpm.semantics.commands import Command
from bpm.semantics.state import ATTACHED, Key, State
from bpm.store import ids
from bpm.store.records import Incoming
from bpm.store.rows import to_entity, to_state

# Fields of commands that name what they are about, and so what is loaded around.
ANCHORS = ("token", *ATTACHED)
# Questions about open tokens and what hangs on them.
OPEN_QUESTIONS = frozenset({"attached", "children", "scope", "arrived", "subtree", "conditions", "signals"})
ROWS = ("instance", "token", *ATTACHED, "variable", "link")


class Known(frozenset[Key]):
    """The questions that a partial state answers: the keys in it, and whole families by rule.

    `whole`: everything that is open is at hand. `scopes`: variables of these are, by the names in `names` (None: all);
    of the scopes in `full` all are.
    """

    whole: bool
    scopes: frozenset[int]
    full: frozenset[int]
    names: frozenset[str] | None

    @staticmethod
    def of(
        keys: Iterable[Key],
        *,
        whole: bool,
        scopes: Iterable[int] = (),
        full: Iterable[int] = (),
        names: Iterable[str] | None = (),
    ) -> Known:
        """Known keys and rules."""
        known = Known(keys)
        known.whole = whole
        known.scopes = frozenset(scopes)
        known.names = None if names is None else frozenset(names)
        known.full = frozenset(full) | (known.scopes if names is None else frozenset())
        return known

    def plus(self, keys: Iterable[Key]) -> Known:
        """These keys as well."""
        return Known.of(self | frozenset(keys), whole=self.whole, scopes=self.scopes, full=self.full, names=self.names)

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        match key:
            case ("variable", scope, name):
                return scope in self.full or (scope in self.scopes and (self.names is None or name in self.names))
            case ("variables", scope):
                return scope in self.full
            case (question, *_):
                return self.whole and question in OPEN_QUESTIONS
        return False


def anchor(command: Command) -> tuple[str, int] | None:
    """The kind and ordinal of what the command is about; None for the instance as a whole."""
    for kind in ANCHORS:
        found: int = getattr(command, kind, 0)
        if found:
            return kind, found
    return None


def names(command: Command) -> list[str]:
    """The variables that the command itself names."""
    found: set[str] = set(getattr(command, "unset", ()))
    for field in ("variables", "local_variables"):
        found.update(getattr(command, field, {}))
    return sorted(found)


def question(
    thread: UUID, command: Command, *, alone: bool, actor: str, key: str | None, message: Incoming | None
) -> dict[str, Any]:
    """What `bpm_load` is asked."""
    ask: dict[str, Any] = {"alone": alone, "actor": actor, "names": names(command)}
    about = anchor(command)
    if about is not None:
        ask["anchor"] = {"kind": about[0], "id": str(ids.entity(thread, about[1]))}
    if key is not None:
        ask["key"] = key
    if message is not None:
        ask["message"] = message.to_json() | {"ticket": message.ticket}
    return ask


def loaded_state(thread: UUID, command: Command, answer: dict[str, Any]) -> State:
    """The state that `bpm_load` answered."""
    tokens: list[dict[str, Any]] = list(answer["tokens"] or ())
    chain = {ids.ordinal(row["id"]) for row in tokens}
    keys: set[Key] = {("attached", 0), *(("attached", id) for id in chain)}
    if not answer["whole"]:
        keys |= _windows(answer, tokens)
    about = anchor(command)
    if about is not None and answer["anchor"] is None:
        keys.add(about)
    rows: dict[str, list[dict[str, Any]]] = {"instance": [answer["instance"]], "token": tokens}
    rows |= {kind: list(found or ()) for kind, found in answer["attached"].items()}
    if about is not None and answer["anchor"] is not None:
        # First: what was read later may be fresher (a fetch locks tasks while a step runs).
        rows.setdefault(about[0], []).insert(0, answer["anchor"])
    rows["variable"] = answer["variables"] or []
    known = Known.of(
        keys,
        whole=answer["whole"],
        scopes={0, *(row["local_scope"] for row in tokens if ids.ordinal(row["id"]) in chain)},
        full={answer["own"]} - {0},
        names=None if answer["all_names"] else answer["names"],
    )
    return to_state(thread, answer["version"], answer["counters"]["entity"], rows, known=known)


def _windows(answer: dict[str, Any], tokens: list[dict[str, Any]]) -> set[Key]:
    """Of a large instance: the sets that came whole; their members join `tokens`."""
    keys: set[Key] = set()
    empty: dict[int, int] = {}
    for question, found in (("scope", answer["scopes"]), ("children", answer["children"])):
        for id, window in (found or {}).items():
            tokens.extend(window["members"])
            if window["complete"]:
                owner = ids.ordinal(id)
                keys.add((question, owner))
                empty[owner] = empty.get(owner, 0) + (not window["members"])
    keys |= {("subtree", owner) for owner, sides in empty.items() if sides == 2}
    scopes = {0, *(ids.ordinal(id) for id in answer["above"] or ())}
    return keys | {("arrived", scope, node) for scope in scopes for node in answer["joins"]}


def key_to_json(thread: UUID, key: Key) -> list[Any]:
    """A question as `bpm_answer` reads it: entities by UUID, scopes of variables by number."""
    if key[0] in ("variable", "variables", "conditions", "signals"):
        return list(key)
    return [key[0], str(ids.entity(thread, key[1])), *key[2:]]


def merge(state: State, keys: tuple[Key, ...], answers: list[dict[str, Any]]) -> State:
    """The state with the answers to these keys in it; what is read again takes the place of what was at hand."""
    after = state.copy()
    more: set[Key] = set(keys)
    for key, answer in zip(keys, answers, strict=True):
        for name, rows in answer.items():
            kind = {"tokens": "token", "variables": "variable"}.get(name, name)
            for row in rows or ():
                entity = to_entity(kind, row)
                after.put(kind, entity)
                if key[0] == "subtree" and kind == "token":
                    more |= {(what, entity.id) for what in ("attached", "children", "scope", "subtree")}
        if key[0] == "subtree":
            more |= {("scope", key[1]), ("children", key[1])}
    known = state.known
    after.known = known.plus(more) if isinstance(known, Known) else Known.of(more, whole=False)
    return after
