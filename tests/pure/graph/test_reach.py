"""Which nodes can still send a token to each incoming flow of a join."""

from __future__ import annotations

import pytest

from bpm.graph import Flow, Formula, Node, Process, Scope, Trigger
from bpm.graph.reach import reach


def link(name: str) -> Trigger:
    return Trigger(kind="link", name=Formula(text=name))


def process(flows: str, **special: dict) -> Process:
    """Flows as "a>b b>c"; `special` gives fields of nodes by id. Kind "pass" unless it says otherwise."""
    pairs = [tuple(pair.split(">")) for pair in flows.split()]
    ids = list(dict.fromkeys([id for pair in pairs for id in pair] + list(special)))
    drawn = {f"{a}{b}": Flow(id=f"{a}{b}", source=a, target=b) for a, b in pairs}
    nodes = {}
    for id in ids:
        fields = {"kind": "pass", "element": "task", **special.get(id, {})}
        nodes[id] = Node(
            id=id,
            scope="P",
            incoming=tuple(f.id for f in drawn.values() if f.target == id),
            outgoing=tuple(f.id for f in drawn.values() if f.source == id),
            **fields,
        )
    return Process(id="P", nodes=nodes, flows=drawn, scopes={"P": Scope(id="P", nodes=tuple(ids))})


JOIN = {"kind": "inclusive", "element": "inclusiveGateway"}

CASES = {
    "two branches": (process("s>a s>b a>j b>j j>e", j=JOIN), {"aj": {"s", "a"}, "bj": {"s", "b"}}),
    "a loop back through the join does not count": (
        process("s>a a>j s>b b>j j>x x>a x>e", j=JOIN),
        {"aj": {"s", "a", "x"}, "bj": {"s", "b"}},
    ),
    "a loop beside the join counts": (process("s>a a>b b>a b>j s>j j>e", j=JOIN), {"bj": {"s", "a", "b"}, "sj": {"s"}}),
    "a boundary event is a way out of its activity": (
        process("s>a a>j t>j j>e", j=JOIN, a={"boundary": ("t",)}, t={"kind": "boundary", "element": "boundaryEvent"}),
        {"aj": {"s", "a"}, "tj": {"s", "a", "t"}},
    ),
    "a link leads to the catching side of its name": (
        process(
            "s>a s>l c>j a>j j>e x>m",
            j=JOIN,
            l={"kind": "throw", "trigger": link("L")},
            m={"kind": "throw", "trigger": link("M")},
            c={"kind": "catch", "trigger": link("L")},
        ),
        {"cj": {"s", "l", "c"}, "aj": {"s", "a"}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reach(name):
    drawn, expected = CASES[name]
    found = reach(drawn, drawn.nodes["j"])
    assert {flow: set(nodes) for flow, nodes in found.items()} == expected
    order = list(drawn.scopes["P"].nodes)
    assert all(list(nodes) == sorted(nodes, key=order.index) for nodes in found.values())
