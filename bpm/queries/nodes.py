"""The nodes of deployed models by id. A definition never changes, so what was read once is kept."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from bpm.graph import Process, from_json
from bpm.models import ProcessDefinition

KEPT = 256


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """What a page says of a node: the modeller's name (else the id), the BPMN element, a user task's form fields."""

    id: str
    name: str
    kind: str
    element: str
    scope: str
    form_fields: tuple[dict[str, Any], ...] = ()


def nodes_of(definition_id: UUID) -> Mapping[str, NodeInfo]:
    """All nodes of a definition by id, in document order. Empty where there is no such definition (yet: a replica may
    be behind).
    """
    try:
        return _kept(definition_id)
    except ProcessDefinition.DoesNotExist:
        return {}


def name_of(definition_id: UUID, node_id: str) -> str:
    """The modeller's name of a node, else its id."""
    node = nodes_of(definition_id).get(node_id)
    return node_id if node is None else node.name


@functools.lru_cache(maxsize=KEPT)
def _kept(definition_id: UUID) -> Mapping[str, NodeInfo]:
    return _read(from_json(ProcessDefinition.objects.values_list("graph", flat=True).get(id=definition_id)))


def _read(process: Process) -> dict[str, NodeInfo]:
    return {
        node.id: NodeInfo(
            node.id,
            " ".join(node.name.split()) or node.id,
            node.kind,
            node.element,
            node.scope,
            tuple(json.loads(text) for text in node.user.form_fields) if node.user else (),
        )
        for node in map(process.node, _in_order(process, process.id))
    }


def _in_order(process: Process, scope: str) -> Iterator[str]:
    """The ids of a scope's nodes, each subprocess before what is in it. Not by `process.nodes`: the database keeps
    the keys of an object in an order of its own.
    """
    for id in process.scopes[scope].nodes:
        yield id
        if id in process.scopes:
            yield from _in_order(process, id)
