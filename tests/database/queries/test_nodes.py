"""The nodes of a model as pages list them."""

from __future__ import annotations

import json

from bpm import engine
from bpm.compiler import compile_bpmn
from bpm.graph import from_json, to_json
from bpm.models import ProcessDefinition
from bpm.queries import nodes
from bpm.store.values import normal
from config.local import ROOT
from tests.database.engine.drawing import end, flows, model, start


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


def test_what_a_replica_does_not_have_yet_is_asked_for_again(db, monkeypatch):
    deployed = engine.deploy({"p.bpmn": model(start(), end(), flows("start -> end"))}, actor="tests")
    (id,) = (definition.id for definition in deployed.definitions)
    with monkeypatch.context() as behind:
        behind.setattr(ProcessDefinition, "objects", ProcessDefinition.objects.none())
        assert nodes.nodes_of(id) == {}
    assert set(nodes.nodes_of(id)) == {"start", "end"}
