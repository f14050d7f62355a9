"""The local projection: what a process remembers of threads, so that a commit need not load what it wrote itself.

A memory, never a truth. An entry is the state after one commit, named by (version, last_at); it is used only where the
thread's version row, under its lock, names the same commit. It is advanced by the process's own successful commits and
by nothing else: it is no subscription to what others do. It holds what is open, with the scopes and fork ancestors
above it and the variables there, and as many threads as fit into its bytes; those used least lately go first. Values
are held as they would be read back: an expression may see the order of keys, and what it gives is what replay must get.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import NoneType
from typing import Any
from uuid import UUID

from bpm.semantics.changing import changed
from bpm.semantics.layers import AnyMembers
from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import ATTACHED, Entity, State, Task
from bpm.store import ids
from bpm.store.loading import Known
from bpm.store.rows import to_entity
from bpm.store.values import as_read, moment

MEGABYTE = 1024 * 1024
# What a process remembers where nobody says otherwise.
BYTES = 256 * MEGABYTE
# An instance with more open tokens is loaded by the part that a command needs: as many as `bpm_load` loads whole.
WINDOW = 24
# About what an entity takes with its index and its places in tables, beside its values.
ENTITY_BYTES = 900
THREAD_BYTES = 3_000
# Values that are read back as they were written.
PLAIN = (str, int, NoneType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projected:
    """What is remembered of a thread: its state after the commit of that version, made at `last_at`.

    `undisturbed`: making that commit, the process found none of anybody else's since the one it remembered then.
    """

    thread_id: UUID
    version: int
    last_at: datetime
    definition: UUID
    run: UUID
    run_number: int
    state: State
    size: int
    sizes: Mapping[tuple[str, Any], tuple[Entity, int]]
    undisturbed: bool = True

    @property
    def known(self) -> Known:
        """What the state answers completely."""
        assert isinstance(self.state.known, Known)  # noqa: S101
        return self.state.known

    @property
    def resumable(self) -> bool:
        """Whether a commit may begin with it: a large instance is read by the part that is needed."""
        open_tokens = sum(len(members) for (kind, _), members in self.state.index.items() if kind == "scope")
        return open_tokens <= WINDOW

    def asked(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        """What `bpm_resume` is told beside the question: which commit is held, and what is missing for the command.
        Where nothing is (`enough`), the lighter `bpm_take_up` is asked instead.
        """
        names, own = self._missing(ask)
        return {
            "version": self.version,
            "last_at": self.last_at.isoformat(),
            "names": names,
            "scopes": sorted(self.known.scopes),
            "own": own,
            "working": [ids.text(self.thread_id, token) for token in sorted(self._working())],
            "enough": self.answers(ask) and "key" not in ask,
        }

    def answers(self, ask: Mapping[str, Any]) -> bool:
        """Whether it is all that the question is about, but for how tasks are locked."""
        anchor = ask.get("anchor")
        return self._missing(ask) == ([], 0) and (anchor is None or self._holds(anchor))

    def resumed(self, asked: Mapping[str, Any], answer: Mapping[str, Any]) -> State:
        """The state, with what `bpm_take_up` or `bpm_resume` answered: tasks as they are locked now, and the variables
        asked for.
        """
        state = self.state.copy()
        if "taken" in answer:
            for row in answer["taken"]:
                state.put("task", _as_locked(state.tasks[row[0]], row))
            return state
        anchor = asked.get("anchor")
        if anchor is not None and answer["anchor"] is not None:
            state.put(anchor["kind"], to_entity(anchor["kind"], answer["anchor"]))
        for row in answer["task"] or ():
            state.put("task", to_entity("task", row))
        for row in answer["variables"] or ():
            state.put("variable", to_entity("variable", row))
        known, held = self.known, asked["projected"]
        keys = set()
        if anchor is not None and answer["anchor"] is None:
            keys.add((anchor["kind"], ids.ordinal(anchor["id"])))
        state.known = Known.of(
            keys,
            whole=True,
            scopes=known.scopes,
            full=known.full | ({held["own"]} - {0}),
            names=None if known.names is None else known.names | set(held["names"]),
        )
        return state

    def _missing(self, ask: Mapping[str, Any]) -> tuple[list[str], int]:
        """The names of variables, and the scope of which all are wanted (0: none), that are asked for beyond it."""
        known = self.known
        names = [] if known.names is None else [name for name in ask["names"] if name not in known.names]
        own = self._own(ask.get("anchor"))
        return names, 0 if own in known.full else own

    def _working(self) -> set[int]:
        return {task.token for task in self.state.tasks.values()}

    def _holds(self, anchor: Mapping[str, Any]) -> bool:
        """Whether what the command is about is open here: of what has ended only the database knows."""
        return ids.ordinal(anchor["id"]) in self.state.table(anchor["kind"])

    def _own(self, anchor: Mapping[str, Any] | None) -> int:
        """The variable scope of the token that the command is about."""
        if anchor is None:
            return 0
        kind, number = anchor["kind"], ids.ordinal(anchor["id"])
        entity = self.state.table(kind).get(number)
        token = self.state.tokens.get(number if kind == "token" else getattr(entity, "token", 0))
        return 0 if token is None else token.local


def remembered(
    thread: UUID,
    state: State,
    *,
    last_at: datetime,
    definition: UUID,
    run: UUID,
    run_number: int,
    born_after: int = 0,
    before: Projected | None = None,
    undisturbed: bool = True,
) -> Projected | None:
    """The entry of a sealed state; None where it is only a part of the instance.

    What was made after the ordinal `born_after` was made by the commit itself, and so is known completely.
    """
    known = state.known
    if known is not None and not (isinstance(known, Known) and known.whole):
        return None
    kept = _kept(state)
    locals_ = {token.local for token in kept.tokens.values() if token.local}
    if known is None:
        kept.known = Known.of((), whole=True, scopes={0, *locals_}, names=None)
    else:
        asked = {key[1] for key in known if key[0] == "variables"}
        born = {local for local in locals_ if local > born_after}
        there = locals_ | {0}
        kept.known = Known.of(
            (),
            whole=True,
            scopes=(known.scopes | born) & there,
            full=(known.full | born | asked) & there,
            names=known.names,
        )
    sizes = _as_read(kept, before.sizes if before else {})
    size = THREAD_BYTES + ENTITY_BYTES * _count(kept) + sum(size for _, size in sizes.values())
    return Projected(
        thread_id=thread,
        version=state.version,
        last_at=last_at,
        definition=definition,
        run=run,
        run_number=run_number,
        state=kept,
        size=size,
        sizes=sizes,
        undisturbed=undisturbed,
    )


class Projection:
    """Holds the entries, up to so many bytes. Safe to use from several threads."""

    def __init__(self, most: int = BYTES) -> None:
        self.most = most
        self.size = 0
        self._entries: OrderedDict[UUID, Projected] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, thread: UUID) -> Projected | None:
        """What is remembered of the thread, if anything."""
        with self._lock:
            found = self._entries.get(thread)
            if found is not None:
                self._entries.move_to_end(thread)
            return found

    def put(self, entry: Projected) -> None:
        """Remember it, unless a later commit of the thread is remembered already. What was used least lately goes."""
        with self._lock:
            before = self._entries.get(entry.thread_id)
            if before is not None and before.last_at > entry.last_at:
                return
            self._drop(entry.thread_id)
            if entry.size > self.most:
                return
            self._entries[entry.thread_id] = entry
            self.size += entry.size
            while self.size > self.most:
                self._drop(next(iter(self._entries)))

    def fits(self, entry: Projected) -> bool:
        """Whether nothing would have to go for it."""
        with self._lock:
            return self.size + entry.size <= self.most

    def forget(self, thread: UUID) -> None:
        """Remember nothing of the thread."""
        with self._lock:
            self._drop(thread)

    def _drop(self, thread: UUID) -> None:
        gone = self._entries.pop(thread, None)
        if gone is not None:
            self.size -= gone.size


def _as_locked(task: Task, row: Sequence[Any]) -> Task:
    """The task as `bpm_take_up` tells of it: no more of it changes without a commit of its thread."""
    _, version, state, retries, retry_at, priority, owner, until = row
    return changed(
        task,
        version=version,
        state=state,
        retries=retries,
        retry_at=None if retry_at is None else moment(retry_at),
        priority=priority,
        lock_owner=owner,
        lock_expire_at=None if until is None else moment(until),
    )


def _kept(state: State) -> State:
    """What goes on from here: open tokens and what stands above them, what is open on them, their variables."""
    tokens: dict[int, Any] = {}
    todo = [token for token in state.tokens.values() if not is_final("token", token.state)]
    while todo:
        token = todo.pop()
        if token.id not in tokens:
            tokens[token.id] = token
            todo += [state.tokens[id] for id in (token.scope, token.parent) if id in state.tokens]
    scopes = {0, *(token.local for token in tokens.values())}
    # What the index holds is open, so that all of it is kept, but for the variables of scopes that have ended.
    index: dict[tuple[str, Any], AnyMembers[Any]] = {
        key: dict.fromkeys(members)
        for key, members in state.index.items()
        if members and (key[0] != "variables" or key[1] in scopes)
    }
    return State(
        thread=state.thread,
        version=state.version,
        counter=state.counter,
        born_after=state.counter,
        library=state.library,
        instances=dict(state.instances),
        tokens={id: tokens[id] for id in sorted(tokens)},
        tasks=_open(state, "task"),
        timers=_open(state, "timer"),
        user_tasks=_open(state, "user_task"),
        tickets=_open(state, "ticket"),
        incidents=_open(state, "incident"),
        variables={key: variable for key, variable in state.variables.items() if key[0] in scopes},
        index=index,
    )


def _open(state: State, kind: str) -> dict[int, Any]:
    return {id: entity for id, entity in state.table(kind).items() if not is_final(kind, entity.state)}


def _count(state: State) -> int:
    return len(state.tokens) + len(state.variables) + sum(len(state.table(kind)) for kind in ATTACHED)


def _as_read(
    state: State, before: Mapping[tuple[str, Any], tuple[Entity, int]]
) -> dict[tuple[str, Any], tuple[Entity, int]]:
    """Give each entity its value as it would be read back. Out: the entities that have one, and how many bytes it
    takes; one that is the same as before is not looked into again.
    """
    found: dict[tuple[str, Any], tuple[Entity, int]] = {}
    for kind, attribute in (("variable", "value"), ("ticket", "data"), ("timer", "schedule"), ("instance", "caller")):
        table = state.table(kind)
        for key, entity in table.items():
            last = before.get((kind, key))
            if last is not None and last[0] is entity:
                found[kind, key] = last
                continue
            value = getattr(entity, attribute)
            if not isinstance(value, PLAIN):
                value = as_read(value)
                table[key] = changed(entity, **{attribute: value})
            found[kind, key] = table[key], _size(value)
    return found


def _size(value: Any) -> int:
    size = sys.getsizeof(value)
    if isinstance(value, Mapping):
        return size + sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return size + sum(_size(item) for item in value)
    return size
