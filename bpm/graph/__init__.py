"""The compiled model: what the engine knows of one process definition.

A `Process` is frozen data and nothing else. It is made by `bpm.compiler`, stored as canonical JSON in
`process_definitions.graph`, hashed, and read by `bpm.semantics`; it never changes once deployed. It has exactly the
nodes that the modeller drew (no auxiliary ones), so whatever history names can be found in the diagram.

- `model`      nodes, flows, scopes, triggers, mappings: frozen dataclasses
- `canonical`  the one JSON form of a graph, and its hash
- `reach`      which flows and nodes can still reach a gateway (for inclusive joins)
- `topics`     the topics that tasks have
"""

from __future__ import annotations

from bpm.graph.canonical import from_json, graph_hash, to_json
from bpm.graph.model import (
    CallSpec,
    DecisionSpec,
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
)

__all__ = [
    "CallSpec",
    "DecisionSpec",
    "Flow",
    "Formula",
    "LoopSpec",
    "Mapping",
    "Node",
    "Process",
    "Scope",
    "Trigger",
    "UserSpec",
    "WorkSpec",
    "from_json",
    "graph_hash",
    "to_json",
]
