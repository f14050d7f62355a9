"""Process definitions: stored once, never changed, and so cached by whoever has read them."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from bpm.compiler.formulas import reads
from bpm.graph import Process, from_json, graph_hash, to_json
from bpm.graph.topics import topics_of
from bpm.store import ids
from bpm.store.channel import Channel
from bpm.store.outside import OutsideCommit, query
from bpm.store.values import dumps, loads

# Graphs that a process keeps; one of 2,000 nodes takes a few megabytes.
CACHED = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A deployed definition. `topics`: those of its tasks; None where one of them is computed, and so may be any."""

    id: UUID
    key: str
    version: int
    version_tag: str | None
    name: str
    deployment_id: UUID
    graph: Process
    graph_hash: str
    source_hash: str
    topics: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a start event of a new definition waits for. `kind`: MESSAGE, SIGNAL, TIMER, CONDITION."""

    node: str
    kind: str
    name: str = ""
    fire_at: datetime | None = None
    schedule: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDefinition:
    """A definition to store, with the source it was compiled from."""

    graph: Process
    source: str
    source_hash: str
    resource: str = ""
    subscriptions: Sequence[Subscription] = ()


_CACHE: OrderedDict[UUID, Definition] = OrderedDict()
_LOCK = threading.Lock()


def load(id: UUID, *, channel: Channel | None = None) -> Definition:
    """The definition of that id, from the cache or the database. KeyError where there is none."""
    with _LOCK:
        if id in _CACHE:
            _CACHE.move_to_end(id)
            return _CACHE[id]
    rows = query(channel, "definition", {"id": id})
    if not rows:
        raise KeyError(f"there is no process definition {id}")
    (_, key, version, tag, name, deployment, graph, digest, source_digest) = rows[0]
    process = from_json(loads(graph))
    found = Definition(
        id=id,
        key=key,
        version=version,
        version_tag=tag,
        name=name,
        deployment_id=deployment,
        graph=process,
        graph_hash=digest,
        source_hash=source_digest,
        topics=topics_of([process]),
    )
    with _LOCK:
        _CACHE[id] = found
        while len(_CACHE) > CACHED:
            _CACHE.popitem(last=False)
    return found


def of_instance(thread: UUID, *, channel: Channel | None = None) -> UUID | None:
    """The id of the definition that an instance runs now; None where there is no such instance."""
    rows = query(channel, "definition_of_instance", {"id": thread})
    return rows[0][0] if rows else None


class Graphs(Mapping[str, Process]):
    """All deployed processes by the id of their definition as text; each is read when it is asked for."""

    def __init__(self, channel: Channel | None = None) -> None:
        self._channel = channel

    def __getitem__(self, id: str) -> Process:
        try:
            return load(UUID(id), channel=self._channel).graph
        except ValueError:
            raise KeyError(id) from None

    def __iter__(self) -> Iterator[str]:
        return (str(row[0]) for row in query(self._channel, "definition_ids"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def forget() -> None:
    """Empty the cache: for tests, whose databases come and go."""
    with _LOCK:
        _CACHE.clear()


def find(
    key: str, *, version: int | None = None, version_tag: str | None = None, channel: Channel | None = None
) -> UUID | None:
    """The id of the key's definition of that version or tag, else of the latest; None where there is none."""
    rows = query(channel, "find_definition", {"key": key, "version": version, "version_tag": version_tag})
    return rows[0][0] if rows else None


def find_deployed_with(process: UUID, key: str, *, channel: Channel | None = None) -> UUID | None:
    """The id of the key's definition that was deployed with that process definition; None where there is none.

    What had been deployed before and had not changed counts as deployed with it.
    """
    rows = query(channel, "find_definition_deployed_with", {"process": process, "key": key})
    return rows[0][0] if rows else None


def store(new: Sequence[NewDefinition], deployment: UUID, commit: OutsideCommit, *, actor: str) -> list[Definition]:
    """Store these in a deployment's commit, each as the next version of its key; their start subscriptions take the
    place of the older version's.
    """
    # In one order, so that two deployments do not wait for each other.
    for key in sorted(one.graph.id for one in new):
        commit.run("lock_definition_key", {"key": key})
    return [_store(one, deployment, commit, actor) for one in new]


def _store(new: NewDefinition, deployment: UUID, commit: OutsideCommit, actor: str) -> Definition:
    graph = to_json(new.graph)
    digest = graph_hash(graph)
    version = commit.run("next_definition_version", {"key": new.graph.id})[0][0]
    id = ids.definition("process", new.graph.id, version, digest, new.source_hash)
    row: dict[str, Any] = {
        "id": id,
        "key": new.graph.id,
        "version": version,
        "name": new.graph.name,
        "version_tag": new.graph.version_tag,
        "graph": dumps(graph),
        "graph_hash": digest,
        "source": new.source,
        "source_hash": new.source_hash,
        "resource": new.resource,
        "deployment": deployment,
        "actor": actor,
    }
    commit.run("insert_definition", row | loading_hints(new.graph))
    commit.run("close_subscriptions", {"key": new.graph.id})
    for one in new.subscriptions:
        commit.run(
            "open_subscription",
            {
                "id": ids.derived(id, one.node, one.kind, one.name),
                "definition": id,
                "key": new.graph.id,
                "node": one.node,
                "kind": one.kind,
                "name": one.name,
                "fire_at": one.fire_at,
                "schedule": None if one.schedule is None else dumps(one.schedule),
            },
        )
    return Definition(
        id=id,
        key=new.graph.id,
        version=version,
        version_tag=new.graph.version_tag,
        name=new.graph.name,
        deployment_id=deployment,
        graph=new.graph,
        graph_hash=digest,
        source_hash=new.source_hash,
        topics=topics_of([new.graph]),
    )


def loading_hints(graph: Process) -> dict[str, Any]:
    """What loading a part of an instance asks of its graph (see `ProcessDefinition`)."""
    joins = [n.id for n in graph.nodes.values() if n.kind in JOINING and len(n.incoming) > 1]
    names = set(reads(_without_lists(graph))[0])
    dynamic = graph.dynamic
    for field, value in _named(graph):
        if field == "everything":
            dynamic = dynamic or bool(value)
        elif value:
            names.add(value)
    return {
        "joins": dumps(sorted(joins)),
        "whole_scopes": dumps(sorted({graph.nodes[id].scope for id in graph.reach})),
        "reads": dumps(sorted(names)),
        "dynamic": dynamic,
    }


def _without_lists(graph: Process) -> Process:
    """The graph but for what its parallel loops go over. That is asked for when the rounds begin; it may be a long
    list, and each step of each round would load it again.
    """
    nodes = {
        id: replace(node, loop=replace(node.loop, collection=None))
        for id, node in graph.nodes.items()
        if node.loop is not None and node.loop.kind == "parallel"
    }
    return replace(graph, nodes=graph.nodes | nodes)


JOINING = ("parallel", "inclusive", "complex")
# Fields of the graph that name a variable which is written: where it lives is asked before.
WRITTEN = frozenset(
    {"target", "code_variable", "message_variable", "result_variable", "element_variable", "index_variable",
     "output_collection"}
)  # fmt: skip


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    """Every (field, value) under the graph that names a written variable or says that all are passed on."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            inner = getattr(value, field.name)
            if (field.name in WRITTEN and isinstance(inner, str)) or field.name == "everything":
                yield field.name, inner
            else:
                yield from _named(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _named(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _named(inner)
