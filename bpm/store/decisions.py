"""Decision definitions: stored once, never changed, and so cached by whoever has read them.

What a file says is compiled once a process, however many of its decisions are asked for in however many versions whose
content is the same.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from bpm.decisions import Decisions, Evaluator, from_json
from bpm.decisions.model import Decision
from bpm.store import ids
from bpm.store.channel import Channel
from bpm.store.outside import OutsideCommit, query
from bpm.store.values import dumps, loads

# Definitions and compiled files that a process keeps; a table of a thousand rules takes a few megabytes.
CACHED = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDefinition:
    """A deployed decision. `evaluator` knows the whole file; this one is evaluated by its `key`."""

    id: UUID
    key: str
    version: int
    version_tag: str | None
    name: str
    deployment_id: UUID
    decisions_hash: str
    source_hash: str
    evaluator: Evaluator

    @property
    def decisions(self) -> Decisions:
        """What the file says, with all that it imports."""
        return self.evaluator.decisions


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDecisions:
    """What a DMN file says, with its source. `encoded`: its JSON, `digest`: the hash of that.

    `keys` are those of its decisions that get a new version.
    """

    decisions: Decisions
    encoded: dict[str, Any]
    digest: str
    source: str
    source_hash: str
    resource: str
    keys: tuple[str, ...]


class _Kept[K, V]:
    """The values used last, made when first asked for. Two threads may make the same one; either serves."""

    def __init__(self) -> None:
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > CACHED:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


_DEFINITIONS: _Kept[UUID, DecisionDefinition] = _Kept()
_EVALUATORS: _Kept[str, Evaluator] = _Kept()


def load(id: UUID, *, channel: Channel | None = None) -> DecisionDefinition:
    """The definition of that id, from the cache or the database. KeyError where there is none."""
    return _DEFINITIONS.get(id, lambda: _read(id, channel))


def _read(id: UUID, channel: Channel | None) -> DecisionDefinition:
    rows = query(channel, "decision", {"id": id})
    if not rows:
        raise KeyError(f"there is no decision definition {id}")
    (_, key, version, tag, name, deployment, decisions, digest, source_digest) = rows[0]
    return DecisionDefinition(
        id=id,
        key=key,
        version=version,
        version_tag=tag,
        name=name,
        deployment_id=deployment,
        decisions_hash=digest,
        source_hash=source_digest,
        evaluator=_EVALUATORS.get(digest, lambda: Evaluator(from_json(loads(decisions)))),
    )


class Library(Mapping[str, Evaluator]):
    """All deployed decisions, compiled, by the id of their definition as text; each is read when it is asked for."""

    def __init__(self, channel: Channel | None = None) -> None:
        self._channel = channel

    def __getitem__(self, id: str) -> Evaluator:
        try:
            return load(UUID(id), channel=self._channel).evaluator
        except ValueError:
            raise KeyError(id) from None

    def __iter__(self) -> Iterator[str]:
        return (str(row[0]) for row in query(self._channel, "decision_ids"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def forget() -> None:
    """Empty the cache: for tests, whose databases come and go."""
    _DEFINITIONS.clear()
    _EVALUATORS.clear()


def find(
    key: str, *, version: int | None = None, version_tag: str | None = None, channel: Channel | None = None
) -> UUID | None:
    """The id of the key's definition of that version or tag, else of the latest; None where there is none."""
    rows = query(channel, "find_decision", {"key": key, "version": version, "version_tag": version_tag})
    return rows[0][0] if rows else None


def find_deployed_with(process: UUID, key: str, *, channel: Channel | None = None) -> UUID | None:
    """The id of the key's definition that was deployed with that process definition; None where there is none.

    What had been deployed before and had not changed counts as deployed with it.
    """
    rows = query(channel, "find_decision_deployed_with", {"process": process, "key": key})
    return rows[0][0] if rows else None


def store(
    new: Sequence[NewDecisions], deployment: UUID, commit: OutsideCommit, *, actor: str
) -> list[DecisionDefinition]:
    """Store these in a deployment's commit, each decision as the next version of its key."""
    # In one order, so that two deployments do not wait for each other.
    for key in sorted(key for file in new for key in file.keys):
        commit.run("lock_decision_key", {"key": key})
    return [one for file in new for one in _store(file, deployment, commit, actor)]


def named_rows(new: NewDecisions) -> Iterator[dict[str, Any]]:
    """What the rows of the file's decisions hold beside the model itself."""
    for element in new.decisions.callable:
        if element.id in new.keys:
            title, tag = (element.title, element.tag) if isinstance(element, Decision) else ("", "")
            yield {
                "key": element.id,
                "name": title or element.name,
                "version_tag": tag or None,
                "source": new.source,
                "resource": new.resource,
            }


def _store(new: NewDecisions, deployment: UUID, commit: OutsideCommit, actor: str) -> Iterator[DecisionDefinition]:
    evaluator = _EVALUATORS.get(new.digest, lambda: Evaluator(new.decisions))
    text = dumps(new.encoded)
    for named in named_rows(new):
        version = commit.run("next_decision_version", {"key": named["key"]})[0][0]
        row: dict[str, Any] = named | {
            "id": ids.definition("decision", named["key"], version, new.digest, new.source_hash),
            "version": version,
            "decisions": text,
            "decisions_hash": new.digest,
            "source_hash": new.source_hash,
            "deployment": deployment,
            "actor": actor,
        }
        commit.run("insert_decision", row)
        yield DecisionDefinition(
            id=row["id"],
            key=row["key"],
            version=version,
            version_tag=row["version_tag"],
            name=row["name"],
            deployment_id=deployment,
            decisions_hash=new.digest,
            source_hash=new.source_hash,
            evaluator=evaluator,
        )
