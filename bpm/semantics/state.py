"""What the engine knows of one instance: frozen entities in one `State`.

Ids in here are ordinals: one counter numbers all entities of an instance (0 is the instance itself), so deciding again
gives the same ids. The store maps each to its UUID.

A state may be *partial*: then `known` lists the questions that its entities answer completely, and asking another one
raises `Missing` with the key to load (see `bpm.semantics.view`). `known=None` means the whole instance is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from bpm.decisions import Evaluator
from bpm.semantics.changing import changed
from bpm.semantics.layers import AnyMembers, AnyTable, split_members, split_table
from bpm.semantics.lifecycle import is_final

# A question to the state: ("token", 5), ("children", 3), ("variable", 0, "amount"), ... listed in bpm.semantics.view.
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The instance itself. `caller`: whom a call activity lets know of the end (thread, ticket, wanted variables)."""

    id: int = 0
    state: str = "RUNNING"
    definition: str = ""  # key of the process definition
    business_key: str | None = None
    caller: dict[str, Any] | None = None
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A place where the instance is.

    `step` says what the token does when it is ACTIVE: "enter" its node, or "leave" it. `scope` is the token at the
    enclosing subprocess (0: the instance), `parent` the token whose fork created this one (0: none), `flow` the flow
    by which it came, `local` the scope of the variables that only this visit of the node sees (0: none).
    """

    id: int
    node: str
    state: str = "ACTIVE"
    scope: int = 0
    parent: int = 0
    flow: str | None = None
    step: str = "enter"
    local: int = 0
    index: int | None = None  # which element of a multi-instance
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """External work. Locks are taken outside of steps; they are here because completing asks for them."""

    id: int
    token: int
    node: str
    topic: str
    state: str = "READY"
    retries: int = 3
    retry_at: datetime | None = None
    priority: int = 0
    lock_owner: str | None = None
    lock_expire_at: datetime | None = None
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A moment at which something happens to `token`; `node` is the event, `schedule` says how it goes on after it."""

    id: int
    token: int
    node: str
    fire_at: datetime
    schedule: dict[str, Any]
    state: str = "SCHEDULED"
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTask:
    """Work that waits for a person."""

    id: int
    token: int
    node: str
    state: str = "READY"
    assignee: str | None = None
    candidate_users: tuple[str, ...] = ()
    candidate_groups: tuple[str, ...] = ()
    due: str | None = None
    follow_up: str | None = None
    priority: int = 50
    form_key: str | None = None
    owner: str | None = None  # whose it is while it is delegated
    delegation: str | None = None  # lifecycle.DELEGATION
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What a token waits for besides tasks and timers. `kind`:

    MESSAGE, SIGNAL, CONDITION: an event of the model; CALL: a called instance; LOOP: the rounds of a loop, counted in
    `data`; COMPENSATION: what could undo an activity that is done; RESET: tokens that come late to a complex gateway;
    QUANTITY: more tokens to begin an activity with.
    """

    id: int
    token: int
    node: str
    kind: str
    name: str = ""
    correlation: str | None = None
    state: str = "OPEN"
    data: dict[str, Any] = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Work that stopped and waits for an operator."""

    id: int
    token: int
    node: str
    kind: str  # task (retries ran out), expression, no_flow, call, timer
    message: str = ""
    task: int | None = None
    state: str = "OPEN"
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A value in a scope: 0 is the process, other ordinals are the `local` scope of a token."""

    scope: int
    name: str
    value: Any = None
    present: bool = True
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Who forked whom, and who was joined into whom. Written once."""

    parent: int
    child: int
    type: str  # FORK | JOIN
    version: int = 0


# entity kind -> (class, attribute of State that holds it by key)
ENTITIES: dict[str, tuple[type, str]] = {
    "instance": (Instance, "instances"),
    "token": (Token, "tokens"),
    "task": (Task, "tasks"),
    "timer": (Timer, "timers"),
    "user_task": (UserTask, "user_tasks"),
    "ticket": (Ticket, "tickets"),
    "incident": (Incident, "incidents"),
    "variable": (Variable, "variables"),
    "link": (Link, "links"),
}
# Kinds that hang on a token and end with it.
ATTACHED = ("task", "timer", "user_task", "ticket", "incident")
# Kinds of tickets that are asked for all at once.
INDEXED = ("CONDITION", "SIGNAL")

# The attribute of State that holds the entities of a kind; all attributes of State that are tables.
_TABLE_OF = {kind: attribute for kind, (_, attribute) in ENTITIES.items()}
_TABLES = (*_TABLE_OF.values(), "index")

Entity = Any  # one of the classes above; their common fields are `state` and `version`


def key_of(kind: str, entity: Entity) -> Any:
    """The key under which the state holds the entity: the ordinal, (scope, name) or (parent, child, type)."""
    if kind == "variable":
        return (entity.scope, entity.name)
    if kind == "link":
        return (entity.parent, entity.child, entity.type)
    return entity.id


@dataclass(slots=True)
class State:
    """One instance, or the part of it that a command needs. Changed only by `bpm.semantics.evolve`, on a copy."""

    thread: str = ""  # the instance's UUID as text: data for expressions, never compared
    version: int = 0  # the instance's version: how many commits it has
    counter: int = 0  # the last ordinal given
    instances: AnyTable[int, Instance] = field(default_factory=dict)
    tokens: AnyTable[int, Token] = field(default_factory=dict)
    tasks: AnyTable[int, Task] = field(default_factory=dict)
    timers: AnyTable[int, Timer] = field(default_factory=dict)
    user_tasks: AnyTable[int, UserTask] = field(default_factory=dict)
    tickets: AnyTable[int, Ticket] = field(default_factory=dict)
    incidents: AnyTable[int, Incident] = field(default_factory=dict)
    variables: AnyTable[tuple[int, str], Variable] = field(default_factory=dict)
    links: AnyTable[tuple[int, int, str], Link] = field(default_factory=dict)
    known: frozenset[Key] | None = None
    born_after: int = 0  # the counter when the step began: entities above it were made in this step
    # Compiled decisions by the id of their definition; the shell brings them, they never change.
    library: dict[str, Evaluator] = field(default_factory=dict, compare=False)
    # What this commit has touched, in order: (kind, key) -> None. Emptied by `sealed`.
    touched: dict[tuple[str, Any], None] = field(default_factory=dict)
    # What is asked for together: ("scope"|"parent", token) -> open token ids; ("attached", token) -> open (kind, id);
    # ("variables", scope) -> names that have a value; ("tickets", kind) -> open ids, of the kinds in INDEXED.
    index: AnyTable[tuple[str, Any], AnyMembers[Any]] = field(default_factory=dict)
    # The sets of `index` that no other state shares: these are changed in place, others copied first.
    owned: set[tuple[str, Any]] = field(default_factory=set, compare=False)

    @property
    def instance(self) -> Instance | None:
        """The instance's own entity; None before it has started."""
        return self.instances.get(0)

    def table(self, kind: str) -> AnyTable[Any, Entity]:
        """The entities of one kind by key."""
        found: AnyTable[Any, Entity] = getattr(self, _TABLE_OF[kind])
        return found

    def copy(self) -> State:
        """A state of its own: entities are shared (they are frozen), the tables are not."""
        tables: dict[str, Any] = {}
        for name in _TABLES:
            table = getattr(self, name)
            if table:
                kept, tables[name] = split_table(table)
                if kept is not table:
                    setattr(self, name, kept)
        self.owned.clear()  # from now on both share what this state had for itself
        return State(
            thread=self.thread,
            version=self.version,
            counter=self.counter,
            known=self.known,
            born_after=self.born_after,
            library=self.library,
            touched=dict(self.touched),
            **tables,
        )

    def put(self, kind: str, entity: Entity) -> None:
        """Insert or replace an entity and keep the index true. Only evolve and loaders call this."""
        key = key_of(kind, entity)
        self.table(kind)[key] = entity
        if kind == "token":
            is_open = not is_final("token", entity.state)
            self._mark(("scope", entity.scope), entity.id, is_open)
            if entity.parent:
                self._mark(("parent", entity.parent), entity.id, is_open)
        elif kind in ATTACHED:
            is_open = not is_final(kind, entity.state)
            self._mark(("attached", entity.token), (kind, entity.id), is_open)
            if kind == "ticket" and entity.kind in INDEXED:
                self._mark(("tickets", entity.kind), entity.id, is_open)
        elif kind == "variable":
            self._mark(("variables", entity.scope), entity.name, entity.present)

    def touch(self, kind: str, key: Any) -> None:
        """Note that this commit changes the entity."""
        self.touched[(kind, key)] = None

    def _mark(self, index: tuple[str, Any], item: Any, present: bool) -> None:
        members = self.index.get(index)
        if present == (members is not None and item in members):
            return
        if members is None or index not in self.owned:
            members = {} if members is None else split_members(members)
            self.index[index] = members
            self.owned.add(index)
        if present:
            members[item] = None
        else:
            del members[item]

    def sealed(self) -> State:
        """The state after its commit: version raised by one, and that of every touched entity; nothing touched."""
        after = self.copy()
        after.version += 1
        for kind, key in self.touched:
            entity = after.table(kind)[key]
            after.table(kind)[key] = changed(entity, version=entity.version + 1)
        after.touched = {}
        after.born_after = after.counter
        return after


def build(entities: Iterable[tuple[str, Entity]], **header: Any) -> State:
    """A state of the given (kind, entity) pairs; `header` sets thread, version, counter, known."""
    state = State(**header)
    state.born_after = state.counter
    for kind, entity in entities:
        state.put(kind, entity)
    return state


def entities(state: State) -> Iterator[tuple[str, Entity]]:
    """All entities as (kind, entity), kinds in the order of ENTITIES, each by key. For comparing and projecting."""
    for kind, (_, attribute) in ENTITIES.items():
        table = getattr(state, attribute)
        for key in sorted(table):
            yield kind, table[key]


def field_names(kind: str) -> tuple[str, ...]:
    """The fields of an entity, in order."""
    return tuple(f.name for f in fields(ENTITIES[kind][0]))
