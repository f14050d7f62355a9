"""The nodes of a model as pages list them."""

from __future__ import annotations

import json

from bpm.compiler import compile_bpmn
from bpm.graph import from_json, to_json
from bpm.queries import nodes
from bpm.store.values import normal
from config.local import ROOT


def test_nodes_are_in_the_order_of_the_document_whatever_the_database_does_to_keys():
    source = (ROOT / "examples" / "orders" / "order.bpmn").read_bytes()
    (drawn,) = compile_bpmn(source, file="order.bpmn").processes
    # jsonb has the keys of objects in an order of its own.
    stored = from_json(json.loads(json.dumps(normal(to_json(drawn)))))

    found = list(nodes._read(stored))

    assert sorted(found) == sorted(drawn.nodes)
    assert list(stored.nodes) != list(drawn.nodes)
    for scope in drawn.scopes.values():
        assert [id for id in found if id in scope.nodes] == list(scope.nodes)
