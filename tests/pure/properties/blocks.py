"""Random processes that are sound by construction: built from blocks with one way in and one way out.

A block is a tuple: its kind, and what is in it. `build` draws a block as a process, `blocks` gives random ones.
Whatever is chosen on the way (conditions look at the variable `c`, which completions set), a sound process can always
end, and leaves nothing behind.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st

from bpm.graph import Flow, Formula, LoopSpec, Mapping, Node, Process, Scope, Trigger, UserSpec, WorkSpec
from bpm.graph.reach import reach

type Block = tuple[Any, ...]

TIMER = Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))
AWAITED: dict[str, Trigger] = {
    "timer": TIMER,
    "message": Trigger(kind="message", name=Formula(text="m")),
    "signal": Trigger(kind="signal", name=Formula(text="sig")),
    "conditional": Trigger(kind="conditional", condition=Formula(text="${c == 3}")),
}
THROWN: dict[str, Trigger] = {
    "error": Trigger(kind="error", code=Formula(text="E")),
    "escalation": Trigger(kind="escalation", code=Formula(text="E")),
}
CAUGHT = AWAITED | THROWN
# How many rounds a loop of any kind has at most.
ROUNDS = 3

tasks = st.tuples(st.just("task"), st.sampled_from(["external", "user", "pass", "receive"]))
events = st.tuples(st.just("event"), st.sampled_from(["timer", "message", "conditional", "throw signal", "throw none"]))


def _several(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[tuple[Block, ...]]:
    return st.lists(inner, min_size=2, max_size=3).map(tuple)


def _compound(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[Block]:
    several = _several(inner)
    activities = st.one_of(tasks, st.tuples(st.just("subprocess"), inner))
    loops = st.sampled_from(["parallel", "sequential", "standard"])
    return st.one_of(
        st.tuples(st.just("sequence"), several),
        st.tuples(st.just("exclusive"), several),
        st.tuples(st.just("parallel"), several),
        st.tuples(st.just("inclusive"), several),
        st.tuples(st.just("race"), _several(st.sampled_from(["timer", "message", "signal", "receive"])), inner),
        st.tuples(st.just("again"), inner),
        st.tuples(st.just("subprocess"), inner),
        st.tuples(st.just("loop"), loops, activities, st.booleans()),
        st.tuples(st.just("boundary"), st.sampled_from(sorted(CAUGHT)), st.booleans(), activities, inner),
        st.tuples(st.just("event subprocess"), st.sampled_from(sorted(CAUGHT)), st.booleans(), inner, inner),
        st.tuples(st.just("compensation"), st.booleans(), inner),
        st.tuples(st.just("terminate"), inner, inner),
        st.tuples(st.just("transaction"), inner, inner),
    )


blocks: st.SearchStrategy[Block] = st.recursive(st.one_of(tasks, events), _compound, max_leaves=12)


def large_block(chance: Random, size: int) -> Block:
    """A block of about that many tasks and events, larger and deeper than hypothesis likes to make them."""
    if size <= 1:
        kind = chance.choice(["external", "user", "pass", "receive", "timer", "message", "conditional", "throw signal"])
        return ("task", kind) if kind in ("external", "user", "pass", "receive") else ("event", kind)
    kind = chance.choice(sorted(DRAW.keys() - {"task", "event"}))

    def inner(share: int) -> Block:
        return large_block(chance, max(1, share))

    def activity(share: int) -> Block:
        if chance.random() < 0.6:
            return ("subprocess", inner(share))
        return ("task", chance.choice(["external", "user", "receive"]))

    switch, caught = chance.random() < 0.5, chance.choice(sorted(CAUGHT))
    if kind in ("sequence", "exclusive", "parallel", "inclusive"):
        parts = chance.randint(2, 4)
        return (kind, tuple(inner(size // parts) for _ in range(parts)))
    if kind == "race":
        return (kind, tuple(chance.sample(["timer", "message", "signal", "receive"], 2)), inner(size - 2))
    if kind == "loop":
        return (kind, chance.choice(["parallel", "sequential", "standard"]), activity(size // 2), switch)
    if kind == "boundary":
        return (kind, caught, switch, activity(size // 2), inner(size // 2))
    if kind == "event subprocess":
        return (kind, caught, switch, inner(size // 2), inner(size // 2))
    if kind == "compensation":
        return (kind, switch, inner(size - 2))
    if kind in ("terminate", "transaction"):
        return (kind, inner(size // 2), inner(size // 2))
    return (kind, inner(size - 1))


@dataclass(slots=True)
class Builder:
    """The process while it is drawn: nodes are numbered in the order in which they are drawn."""

    nodes: dict[str, Node] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    scopes: dict[str, str | None] = field(default_factory=lambda: {"p": None})

    def node(self, kind: str, scope: str, **fields: Any) -> str:
        """A new node; its id."""
        id = f"{kind}{len(self.nodes)}"
        if kind == "external":
            fields.setdefault("work", WorkSpec(topic=Formula(text="t")))
        elif kind == "user":
            fields.setdefault("user", UserSpec())
        elif kind == "receive":
            fields.setdefault("trigger", AWAITED["message"])
        self.nodes[id] = Node(id=id, kind=kind, element=kind, scope=scope, **fields)
        if kind in ("subprocess", "event_subprocess"):
            self.scopes[id] = scope
        return id

    def flow(self, source: str, target: str, condition: str | None = None, *, default: bool = False) -> None:
        """A sequence flow."""
        id = f"f{len(self.flows)}"
        self.flows[id] = Flow(
            id=id, source=source, target=target, condition=Formula(text=condition) if condition else None
        )
        if default:
            self.change(source, default=id)

    def change(self, id: str, **fields: Any) -> None:
        """Change a node."""
        self.nodes[id] = dataclasses.replace(self.nodes[id], **fields)

    def attach(self, host: str, trigger: Trigger, *, interrupting: bool = True) -> str:
        """A boundary event on an activity; its id."""
        id = self.node("boundary", self.nodes[host].scope, attached_to=host, trigger=trigger, interrupting=interrupting)
        self.change(host, boundary=(*self.nodes[host].boundary, id))
        return id

    def process(self) -> Process:
        """The process as drawn."""
        incoming: dict[str, list[str]] = {}
        outgoing: dict[str, list[str]] = {}
        for flow in self.flows.values():
            outgoing.setdefault(flow.source, []).append(flow.id)
            incoming.setdefault(flow.target, []).append(flow.id)
        nodes = {
            id: dataclasses.replace(node, incoming=tuple(incoming.get(id, ())), outgoing=tuple(outgoing.get(id, ())))
            for id, node in self.nodes.items()
        }
        scopes = {scope: _scope(scope, parent, nodes) for scope, parent in self.scopes.items()}
        drawn = Process(id="p", nodes=nodes, flows=self.flows, scopes=scopes, conditional=True)
        joins = [n for n in nodes.values() if n.kind in ("inclusive", "complex") and len(n.incoming) > 1]
        return dataclasses.replace(
            drawn,
            reach={n.id: reach(drawn, n) for n in joins},
            own_reach={n.id: reach(drawn, n, itself=True) for n in joins},
        )


def _scope(id: str, parent: str | None, nodes: dict[str, Node]) -> Scope:
    inside = [node for node in nodes.values() if node.scope == id]
    return Scope(
        id=id,
        parent=parent,
        nodes=tuple(node.id for node in inside),
        starts=tuple(node.id for node in inside if node.kind == "start"),
        event_subprocesses=tuple(node.id for node in inside if node.kind == "event_subprocess"),
    )


def build(block: Block) -> Process:
    """The process of a block."""
    builder = Builder()
    _inside(builder, block, "p")
    return builder.process()


def _inside(b: Builder, block: Block, scope: str, trigger: Trigger | None = None, **fields: Any) -> None:
    """Start event, block, end event: the content of a scope."""
    start = b.node("start", scope, trigger=trigger, **fields)
    b.flow(_draw(b, block, start), b.node("end", scope))


def _draw(b: Builder, block: Block, before: str) -> str:
    """Draw a block behind a node; the node behind which it goes on."""
    return DRAW[block[0]](b, before, *block[1:])


def _scope_of(b: Builder, node: str) -> str:
    return b.nodes[node].scope


def _task(b: Builder, before: str, kind: str) -> str:
    task = b.node(kind, _scope_of(b, before))
    b.flow(before, task)
    return task


def _event(b: Builder, before: str, kind: str) -> str:
    name = kind.removeprefix("throw ")
    trigger = AWAITED.get(name, Trigger())
    event = b.node("throw" if kind.startswith("throw") else "catch", _scope_of(b, before), trigger=trigger)
    b.flow(before, event)
    return event


def _sequence(b: Builder, before: str, several: tuple[Block, ...]) -> str:
    for block in several:
        before = _draw(b, block, before)
    return before


def _branches(kind: str) -> Any:
    """A gateway, a branch for each block, the gateway again. Conditions look at `c`; the last is the default."""

    def draw(b: Builder, before: str, several: tuple[Block, ...]) -> str:
        scope = _scope_of(b, before)
        split, join = b.node(kind, scope), b.node(kind, scope)
        b.flow(before, split)
        for number, block in enumerate(several):
            first = b.node("pass", scope)
            last = number == len(several) - 1
            asked = f"${{c % {number + 2} == 0}}" if kind != "parallel" and not last else None
            b.flow(split, first, asked, default=last and kind != "parallel")
            b.flow(_draw(b, block, first), join)
        return join

    return draw


def _race(b: Builder, before: str, kinds: tuple[str, ...], block: Block) -> str:
    """An event-based gateway: the first event decides; behind the first one stands the block."""
    scope = _scope_of(b, before)
    gateway, join = b.node("event_based", scope), b.node("exclusive", scope)
    b.flow(before, gateway)
    for number, kind in enumerate(dict.fromkeys(kinds)):
        event = b.node("receive", scope) if kind == "receive" else b.node("catch", scope, trigger=AWAITED[kind])
        b.flow(gateway, event)
        b.flow(_draw(b, block, event) if number == 0 else event, join)
    return join


def _again(b: Builder, before: str, block: Block) -> str:
    """A loop drawn with gateways; a variable of its own counts the rounds."""
    scope = _scope_of(b, before)
    count = f"n{len(b.nodes)}"
    zero = b.node("pass", scope, outputs=(Mapping(target=count, source=Formula(text="${0}")),))
    join, split = b.node("exclusive", scope), b.node("exclusive", scope)
    more = b.node("pass", scope, outputs=(Mapping(target=count, source=Formula(text=f"${{{count} + 1}}")),))
    b.flow(before, zero)
    b.flow(zero, join)
    b.flow(join, more)
    b.flow(_draw(b, block, more), split)
    after = b.node("pass", scope)
    b.flow(split, join, f"${{{count} < {ROUNDS} && c % 2 == 0}}")
    b.flow(split, after, default=True)
    return after


def _subprocess(b: Builder, before: str, block: Block, **fields: Any) -> str:
    sub = b.node("subprocess", _scope_of(b, before), **fields)
    b.flow(before, sub)
    _inside(b, block, sub)
    return sub


def _loop(b: Builder, before: str, kind: str, activity: Block, enough: bool) -> str:
    done = Formula(text="${nrOfCompletedInstances >= 2}") if enough else None
    loop = (
        LoopSpec(kind=kind, loop_maximum=ROUNDS, loop_condition=Formula(text="${c != 1}"), test_before=enough)
        if kind == "standard"
        else LoopSpec(kind=kind, cardinality=Formula(text="${c}"), completion_condition=done)
    )
    id = _draw(b, activity, before)
    b.change(id, loop=loop)
    return id


def _quiet(block: Any) -> Any:
    """The block without throwing a signal: who is begun by a signal and throws it again never ends."""
    if block == ("event", "throw signal"):
        return ("event", "throw none")
    return tuple(_quiet(part) for part in block) if isinstance(block, tuple) else block


def _boundary(b: Builder, before: str, kind: str, interrupting: bool, activity: Block, handler: Block) -> str:
    """An activity with a boundary event: who interrupts joins what follows, who does not has an end of its own."""
    id = _draw(b, activity, before)
    interrupts = interrupting or kind == "error"
    last = _draw(
        b, _quiet(handler) if kind == "signal" else handler, b.attach(id, CAUGHT[kind], interrupting=interrupts)
    )
    scope = _scope_of(b, id)
    if not interrupts:
        b.flow(last, b.node("end", scope))
        return id
    join = b.node("exclusive", scope)
    b.flow(id, join)
    b.flow(last, join)
    return join


def _event_subprocess(b: Builder, before: str, kind: str, interrupting: bool, inside: Block, handler: Block) -> str:
    """A subprocess with an event subprocess. What is thrown is thrown inside, by a branch that ends so."""
    sub = b.node("subprocess", _scope_of(b, before))
    b.flow(before, sub)
    start = b.node("start", sub)
    last = _draw(b, inside, start)
    end = b.node("end", sub, trigger=THROWN.get(kind))
    b.flow(last, end)
    around = b.node("event_subprocess", sub)
    _inside(
        b,
        _quiet(handler) if kind == "signal" else handler,
        around,
        CAUGHT[kind],
        interrupting=interrupting or kind == "error",
    )
    return sub


def _compensation(b: Builder, before: str, by_name: bool, inside: Block) -> str:
    """An activity with a handler, then what undoes it, at once or after more is done."""
    scope = _scope_of(b, before)
    done = b.node("external", scope)
    handler = b.node("external", scope, for_compensation=True)
    b.change(done, compensation_handler=handler)
    b.flow(before, done)
    undo = Trigger(kind="compensation", activity=done if by_name else None)
    throw = b.node("throw", scope, trigger=undo)
    b.flow(_draw(b, inside, done), throw)
    return throw


def _terminate(b: Builder, before: str, one: Block, other: Block) -> str:
    """A subprocess of two branches, the first of which ends both."""
    sub = b.node("subprocess", _scope_of(b, before))
    b.flow(before, sub)
    start, split = b.node("start", sub), b.node("parallel", sub)
    b.flow(start, split)
    for block, trigger in ((one, Trigger(kind="terminate")), (other, None)):
        first = b.node("pass", sub)
        b.flow(split, first)
        b.flow(_draw(b, block, first), b.node("end", sub, trigger=trigger))
    return sub


def _transaction(b: Builder, before: str, inside: Block, after: Block) -> str:
    """A transaction that cancels itself where `c` is odd; what follows both ways out is one."""
    scope = _scope_of(b, before)
    sub = b.node("subprocess", scope, transaction=True)
    b.flow(before, sub)
    start, split = b.node("start", sub), b.node("exclusive", sub)
    done, undo = b.node("external", sub), b.node("external", sub, for_compensation=True)
    b.change(done, compensation_handler=undo)
    b.flow(start, done)
    b.flow(_draw(b, inside, done), split)
    b.flow(split, b.node("end", sub, trigger=Trigger(kind="cancel")), "${c % 2 == 1}")
    b.flow(split, b.node("end", sub), default=True)
    join = b.node("exclusive", scope)
    b.flow(sub, join)
    b.flow(b.attach(sub, Trigger(kind="cancel")), join)
    return _draw(b, after, join)


DRAW: dict[str, Any] = {
    "task": _task,
    "event": _event,
    "sequence": _sequence,
    "exclusive": _branches("exclusive"),
    "parallel": _branches("parallel"),
    "inclusive": _branches("inclusive"),
    "race": _race,
    "again": _again,
    "subprocess": _subprocess,
    "loop": _loop,
    "boundary": _boundary,
    "event subprocess": _event_subprocess,
    "compensation": _compensation,
    "terminate": _terminate,
    "transaction": _transaction,
}
