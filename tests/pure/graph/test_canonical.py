"""One JSON form of a graph: it comes back equal, and equal graphs have equal hashes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpm.graph import (
    CallSpec,
    Flow,
    Formula,
    LoopSpec,
    Mapping,
    Node,
    Process,
    Scope,
    Trigger,
    UserSpec,
    WorkSpec,
    from_json,
    graph_hash,
    to_json,
)

texts = st.text(max_size=6)
formulas: st.SearchStrategy[Formula] = st.deferred(
    lambda: (
        st.builds(Formula, text=texts, language=st.sampled_from([None, "feel", "juel"]))
        | st.builds(Formula, kind=st.just("list"), items=st.lists(formulas, max_size=2).map(tuple))
    )
)
mappings = st.lists(st.builds(Mapping, target=texts, source=formulas, local=st.booleans()), max_size=2).map(tuple)
maybe = st.none() | formulas
triggers: st.SearchStrategy[Trigger] = st.deferred(
    lambda: st.builds(
        Trigger,
        kind=texts,
        name=maybe,
        timer=maybe,
        quartz=st.booleans(),
        condition_variables=st.lists(texts, max_size=2).map(tuple),
        payload=mappings,
        parts=st.lists(triggers, max_size=1).map(tuple),
    )
)
nodes = st.builds(
    Node,
    id=texts,
    kind=texts,
    element=texts,
    scope=texts,
    line=st.integers(0, 9),
    incoming=st.lists(texts, max_size=2).map(tuple),
    default=st.none() | texts,
    trigger=st.none() | triggers,
    inputs=mappings,
    work=st.none()
    | st.builds(WorkSpec, topic=formulas, headers=st.lists(st.tuples(texts, texts), max_size=2).map(tuple)),
    user=st.none() | st.builds(UserSpec, assignee=maybe, candidate_users=st.lists(formulas, max_size=2).map(tuple)),
    call=st.none() | st.builds(CallSpec, target=formulas, inputs=mappings),
    loop=st.none() | st.builds(LoopSpec, kind=texts, collection=maybe, loop_maximum=st.none() | st.integers()),
)
processes = st.builds(
    Process,
    id=texts,
    nodes=st.dictionaries(texts, nodes, max_size=3),
    flows=st.dictionaries(texts, st.builds(Flow, id=texts, source=texts, target=texts, condition=maybe), max_size=2),
    scopes=st.dictionaries(
        texts,
        st.builds(
            Scope, id=texts, parent=st.none() | texts, data=st.lists(st.tuples(texts, texts), max_size=2).map(tuple)
        ),
        max_size=2,
    ),
    dynamic=st.booleans(),
    reach=st.dictionaries(
        texts, st.dictionaries(texts, st.lists(texts, max_size=2).map(tuple), max_size=2), max_size=2
    ),
)


@given(processes)
def test_a_graph_comes_back_from_its_json(process):
    text = json.dumps(to_json(process))
    assert from_json(json.loads(text)) == process
    assert graph_hash(to_json(from_json(json.loads(text)))) == graph_hash(to_json(process))


@given(processes)
def test_the_order_of_the_keys_does_not_matter_to_the_hash(process):
    data = to_json(process)
    assert graph_hash(dict(reversed(data.items()))) == graph_hash(data)


def test_defaults_are_left_out():
    node = Node(id="a", kind="pass", element="task", scope="P")
    assert to_json(Process(id="P", nodes={"a": node})) == {
        "id": "P",
        "nodes": {"a": {"id": "a", "kind": "pass", "element": "task", "scope": "P"}},
    }


def test_a_change_changes_the_hash():
    process = Process(id="P", nodes={"a": Node(id="a", kind="pass", element="task", scope="P")})
    other = replace(process, nodes={"a": replace(process.nodes["a"], name="A")})
    assert graph_hash(to_json(process)) != graph_hash(to_json(other))


@pytest.mark.parametrize("data", [{}, {"id": "P", "unknown": 1}, {"id": "P", "nodes": {"a": {"id": "a"}}}])
def test_what_was_not_written_by_it_is_refused(data):
    with pytest.raises((KeyError, TypeError)):
        from_json(data)
