"""Small processes drawn as text, and instances of them stepped in memory.

    draw("start s > external A > parallel f", "f > external B > parallel j", "f > external C > j", "j > end e")

A node is named with its kind the first time and by its id alone afterwards. `f > B [x > 1]` puts a condition on a flow,
`[*]` makes it the default. Options of nodes come by keyword: `draw(..., A={"trigger": Trigger(...)})`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from bpm.decisions import Evaluator
from bpm.graph import CallSpec, DecisionSpec, Flow, Formula, Node, Process, Scope, UserSpec, WorkSpec
from bpm.graph.reach import reach
from bpm.semantics import Decided, Decision, Event, Need, Refusal, State, decide, evolve
from bpm.semantics import commands as c
from bpm.semantics.later import later

START = datetime(2030, 1, 1, tzinfo=UTC)


def draw(*lines: str, scopes: dict[str, tuple[str, ...]] | None = None, **options: dict[str, Any]) -> Process:
    """The process "p". `scopes={"sub": ("a", "b")}` puts nodes into a subprocess."""
    nodes: dict[str, Node] = {}
    flows: dict[str, Flow] = {}
    inner = {member: scope for scope, members in (scopes or {}).items() for member in members}
    for line in lines:
        before: str | None = None
        for part in re.split(r"\s*>\s*(?![^\[]*\])", line.strip()):
            named = re.fullmatch(r"(?:(\w+) )?(\w+)(?: \[(.*)\])?", part)
            assert named, part
            kind, id, condition = named.groups()
            if kind:
                nodes[id] = _node(kind, id, inner.get(id, "p"))
            if before is not None:
                name = f"{before}_{id}"
                formula = Formula(text=f"${{{condition}}}") if condition and condition != "*" else None
                flows[name] = Flow(id=name, source=before, target=id, condition=formula)
                nodes[before] = dataclasses.replace(nodes[before], outgoing=(*nodes[before].outgoing, name))
                nodes[id] = dataclasses.replace(nodes[id], incoming=(*nodes[id].incoming, name))
                if condition == "*":
                    nodes[before] = dataclasses.replace(nodes[before], default=name)
            before = id
    for id, changes in options.items():
        nodes[id] = dataclasses.replace(nodes[id], **changes)
    for node in list(nodes.values()):
        if node.attached_to:
            host = nodes[node.attached_to]
            nodes[host.id] = dataclasses.replace(host, boundary=(*host.boundary, node.id))
    process = Process(id="p", nodes=nodes, flows=flows, scopes=_scopes(nodes, scopes or {}))
    joins = [n for n in nodes.values() if n.kind in ("inclusive", "complex") and len(n.incoming) > 1]
    return dataclasses.replace(
        process,
        conditional=any(
            t.kind == "conditional" for n in nodes.values() if n.trigger for t in (n.trigger, *n.trigger.parts)
        ),
        reach={n.id: reach(process, n) for n in joins},
        own_reach={n.id: reach(process, n, itself=True) for n in joins},
    )


def _node(kind: str, id: str, scope: str) -> Node:
    work = WorkSpec(topic=Formula(text=id)) if kind == "external" else None
    call = CallSpec(target=Formula(text=id)) if kind == "call" else None
    decision = DecisionSpec(target=Formula(text=id), result_variable="result") if kind == "decision" else None
    user = UserSpec() if kind == "user" else None
    return Node(id=id, kind=kind, element=kind, scope=scope, work=work, user=user, call=call, decision=decision)


def _scopes(nodes: dict[str, Node], inner: dict[str, tuple[str, ...]]) -> dict[str, Scope]:
    return {
        scope: Scope(
            id=scope,
            parent=None if scope == "p" else nodes[scope].scope,
            nodes=tuple(n.id for n in nodes.values() if n.scope == scope),
            starts=tuple(n.id for n in nodes.values() if n.scope == scope and n.kind == "start"),
            event_subprocesses=tuple(n.id for n in nodes.values() if n.scope == scope and n.kind == "event_subprocess"),
        )
        for scope in ("p", *inner)
    }


class Run:
    """One instance in memory. Every step is decided, sealed, and checked: a fold of the events gives the same state."""

    def __init__(self, process: Process, *, decisions: dict[str, Evaluator] | None = None, **start: Any) -> None:
        self.process = process
        self.decisions = decisions or {}
        self.at = START
        self.state = State(thread="i")
        self.events: list[Event] = []
        self.messages: list[Event] = []
        self.do(c.StartInstance, **start)

    def do(self, command: type[c.Command], **arguments: Any) -> tuple[Event, ...]:
        """Carry out one command and advance every ACTIVE token, each in a step of its own; the events of it all."""
        first = len(self.events)
        self._step(command(at=self.at, **arguments))
        for _ in range(1000):
            active = sorted(t.id for t in self.state.tokens.values() if t.state == "ACTIVE")
            if not active or self.state.instances[0].state != "RUNNING":
                break
            self._step(c.AdvanceToken(at=self.at, token=active[0]))
        return tuple(self.events[first:])

    def refused(self, command: type[c.Command], **arguments: Any) -> str:
        """The code with which the command is refused."""
        answer = decide(self.process, self.state, command(at=self.at, **arguments))
        assert isinstance(answer, Refusal), answer
        return answer.code

    def _step(self, command: c.Command) -> None:
        command, decided = answered(self.process, self.state, command, self.decisions)
        assert isinstance(decided, Decided), decided
        self.command = command
        assert decide_from_nothing(self.process, self.state, command) == decided.events
        assert evolve(self.state, decided.events) == decided.state
        assert_holds(self.process, self.state, command, decided)
        self.state = decided.state.sealed()
        self.events += decided.events
        self.messages += [e for e in decided.events if e.type == "MESSAGE_SENT"]

    def work(self, node: str, **variables: Any) -> None:
        """A worker does the oldest open task of the node."""
        task = min(t.id for t in self.state.tasks.values() if t.node == node and t.state == "READY")
        self.do(c.LockTask, task=task, worker="w", until=self.at + timedelta(minutes=5))
        self.do(c.CompleteExternalTask, task=task, worker="w", variables=variables)

    def lock(self, node: str) -> int:
        """A worker takes the task of the node; its id."""
        task = min(t.id for t in self.state.tasks.values() if t.node == node and t.state == "READY")
        self.do(c.LockTask, task=task, worker="w", until=self.at + timedelta(minutes=5))
        return task

    def wait(self, seconds: float) -> None:
        """Time passes; timers that fall due fire, in order."""
        until = self.at + timedelta(seconds=seconds)
        while due := [t for t in self.state.timers.values() if t.state == "SCHEDULED" and t.fire_at <= until]:
            timer = min(due, key=lambda t: (t.fire_at, t.id))
            self.at = max(self.at, timer.fire_at)
            self.do(c.FireTimer, timer=timer.id)
        self.at = until

    @property
    def waiting(self) -> list[str]:
        """Nodes at which tokens wait for something of their own (not for their children)."""
        state = self.state
        below = {t.parent for t in state.tokens.values() if t.state in ("ACTIVE", "WAITING")}
        below |= {t.scope for t in state.tokens.values() if t.state in ("ACTIVE", "WAITING")}
        return sorted(t.node for t in state.tokens.values() if t.state == "WAITING" and t.id not in below)

    @property
    def ended(self) -> str:
        """The state of the instance."""
        return self.state.instances[0].state

    def variable(self, name: str, scope: int = 0) -> Any:
        """The value of a variable; KeyError where it has none."""
        return self.state.variables[(scope, name)].value


def assert_holds(process: Process, state: State, command: c.Command, decided: Decided) -> None:
    """As long as the decision says, later ones are the same."""
    until = decided.holds_until
    if until == command.at:
        return
    last = command.at + timedelta(days=400) if until is None else until - timedelta(microseconds=1)
    again = decide(process, state, dataclasses.replace(command, at=last))
    told = later(decided, command.at, last)
    assert isinstance(again, Decided)
    assert (told.events, told.state) == (again.events, again.state)


def answered(
    process: Process, state: State, command: c.Command, decisions: dict[str, Evaluator]
) -> tuple[c.Command, Decision]:
    """Decide, answering what lies outside: a decision's key is the id of its only version; there are no beans."""
    while True:
        decision = decide(process, state, command)
        match decision:
            case Need((("decision", key, binding, version),)):
                found = key if key in decisions and version in (None, "1") else None
                name = c.answer_name(("decision", key, binding, version))
                command = dataclasses.replace(command, answers=command.answers | {name: found})
            case Need((("bean", _) as question,)):
                command = dataclasses.replace(command, answers=command.answers | {c.answer_name(question): False})
            case Need((("model", id),)):
                state.library[id] = decisions[id]
            case _:
                return command, decision


def decide_from_nothing(process: Process, whole: State, command: c.Command) -> tuple[Event, ...]:
    """The events when only what `Need` asks for is loaded, starting from nothing: must equal deciding on the whole."""
    part = State(thread=whole.thread, version=whole.version, counter=whole.counter, known=frozenset())
    part.library = whole.library
    part.born_after = whole.counter
    for instance in whole.instances.values():
        part.put("instance", instance)
    for _ in range(500):
        answer = decide(process, part, command)
        if not isinstance(answer, Need):
            assert isinstance(answer, Decided), answer
            return answer.events
        for key in answer.keys:
            load(whole, part, key)
    raise AssertionError("it never has enough")


def load(whole: State, part: State, key: tuple[Any, ...]) -> None:
    """Answer one key of `bpm.semantics.view` from the whole state."""
    for kind, entity in ANSWERS[key[0]](whole, *key[1:]):
        part.put(kind, entity)
    assert part.known is not None and key not in part.known, key
    part.known |= {key}


def _open(whole: State) -> list[Any]:
    return [t for t in whole.tokens.values() if t.state in ("ACTIVE", "WAITING")]


def _below(whole: State, top: int) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for token in _open(whole):
        if token.scope == top or (top and token.parent == top):
            found += [("token", token), *_attached(whole, token.id), *_below(whole, token.id)]
    return found


def _attached(whole: State, token: int) -> list[tuple[str, Any]]:
    return [
        (kind, one)
        for kind in ("task", "timer", "user_task", "ticket", "incident")
        for one in whole.table(kind).values()
        if one.token == token
    ]


def _one(kind: str) -> Callable[[State, int], list[tuple[str, Any]]]:
    return lambda whole, id: [(kind, whole.table(kind)[id])] if id in whole.table(kind) else []


ANSWERS: dict[str, Callable[..., list[tuple[str, Any]]]] = {
    **{kind: _one(kind) for kind in ("token", "task", "timer", "ticket", "user_task", "incident")},
    "attached": _attached,
    "children": lambda whole, id: [("token", t) for t in _open(whole) if t.parent == id],
    "scope": lambda whole, id: [("token", t) for t in _open(whole) if t.scope == id],
    "arrived": lambda whole, scope, node: [("token", t) for t in _open(whole) if t.scope == scope and t.node == node],
    "subtree": _below,
    "variable": lambda whole, scope, name: [("variable", v) for k, v in whole.variables.items() if k == (scope, name)],
    "conditions": lambda whole: [("ticket", t) for t in whole.tickets.values() if t.kind == "CONDITION"],
    "signals": lambda whole, name: [
        ("ticket", t) for t in whole.tickets.values() if (t.kind, t.name) == ("SIGNAL", name)
    ],
    "variables": lambda whole, scope: [("variable", v) for k, v in whole.variables.items() if k[0] == scope],
}
