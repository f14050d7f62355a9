"""OCEL 2.0 in JSON: events with all the objects they are about.

An event is an activity that was done; its objects are the instance, the external and user tasks of it, the instance
that it called, and who did it. Instances are related to their caller. The standard wants objects and types beside the
events; objects are put by while events stream, and follow them. Its schema has every value as text; the types say which
are numbers.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from bpm.audit.export.activities import Watching
from bpm.audit.export.selection import Selection
from bpm.audit.export.writing import Writer
from bpm.audit.histories import LiveHistory
from bpm.store import ids
from bpm.store.history_rows import called_instance
from bpm.store.reading import Logged

# kind of work -> (type of its object, what it is to the event)
WORK = {
    "task": ("external task", "work"),
    "user_task": ("user task", "work"),
    "call": ("process instance", "called instance"),
}
OBJECT_TYPES = {
    "process instance": ("definition", "version", "business key"),
    "external task": ("topic",),
    "user task": (),
    "resource": (),
}
EVENT_ATTRIBUTES = ("node", "element", "commit")
MEMORY = 8 * 1024 * 1024


@contextlib.contextmanager
def ocel(file: IO[bytes], selection: Selection) -> Iterator[Writer]:
    """A log of the chosen instances."""
    types: dict[str, None] = {}
    resources: dict[str, str] = {}
    with tempfile.SpooledTemporaryFile(MEMORY) as objects:
        events = _Listed(file)
        kept = _Listed(objects)

        def add(history: LiveHistory) -> Iterator[int]:
            watching, instance = Watching(history), str(history.instance)
            relations: list[dict[str, str]] = []
            for commit in history.commits:
                number = 0
                _put_by(kept, history, commit, relations)
                for one in watching.activities(commit):
                    types[one.name] = None
                    if one.resource not in resources:
                        resources[one.resource] = first = commit.at.isoformat()
                        kept.add(_object(f"resource:{one.resource}", "resource", first))
                    events.add(
                        {
                            "id": f"{one.commit}.{one.ordinal}",
                            "type": one.name,
                            "time": one.at.isoformat(),
                            "attributes": [
                                {"name": name, "value": str(getattr(one, name))} for name in EVENT_ATTRIBUTES
                            ],
                            "relationships": [
                                _related(instance, "process instance"),
                                _related(f"resource:{one.resource}", "done by"),
                                *(_related(_id(history, kind, id), WORK[kind][1]) for kind, id in one.work),
                            ],
                        }
                    )
                    number += 1
                if commit.version == 1:
                    shown = {"definition": history.definition.key, "version": history.definition.version}
                    shown["business key"] = watching.business_key or ""
                    kept.add(_object(instance, "process instance", commit.at.isoformat(), shown, relations))
                yield number

        file.write(b'{"events":[')
        yield Writer(add)
        file.write(b'],"objects":[')
        objects.seek(0)
        while piece := objects.read(1 << 20):
            file.write(piece)
    said = {
        "objectTypes": [_type(name, attributes) for name, attributes in OBJECT_TYPES.items()],
        "eventTypes": [_type(name, EVENT_ATTRIBUTES) for name in types],
    }
    file.write(b"]," + json.dumps(said, ensure_ascii=False)[1:].encode() + b"\n")


class _Listed:
    """Writes values as the elements of a JSON list."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._first = True

    def add(self, value: dict[str, Any]) -> None:
        """One more element."""
        self._file.write((b"\n" if self._first else b",\n") + json.dumps(value, ensure_ascii=False).encode())
        self._first = False


def _put_by(kept: _Listed, history: LiveHistory, commit: Logged, relations: list[dict[str, str]]) -> None:
    """Keep the objects that a commit brings into being; an instance that was called is related to its caller."""
    for event in commit.events:
        if event.type == "TASK_CREATED":
            shown = {"topic": event.payload["topic"]}
            kept.add(_object(_id(history, "task", event.id), "external task", commit.at.isoformat(), shown))
        elif event.type == "USER_TASK_CREATED":
            kept.add(_object(_id(history, "user_task", event.id), "user task", commit.at.isoformat()))
        elif event.type == "INSTANCE_STARTED" and isinstance(caller := event.payload.get("caller"), dict) and caller:
            relations.append(_related(str(caller["thread"]), "called by"))


def _id(history: LiveHistory, kind: str, ordinal: int) -> str:
    if kind == "call":
        return str(called_instance(history.instance, ordinal))
    return str(ids.entity(history.instance, ordinal))


def _object(
    id: str,
    type: str,
    time: str,
    attributes: dict[str, Any] | None = None,
    relationships: list[dict[str, str]] | None = None,
) -> dict[str, Any]:
    shown = [{"name": name, "time": time, "value": str(value)} for name, value in (attributes or {}).items()]
    return {"id": id, "type": type, "attributes": shown, "relationships": list(relationships or ())}


def _related(id: str, qualifier: str) -> dict[str, str]:
    return {"objectId": id, "qualifier": qualifier}


def _type(name: str, attributes: tuple[str, ...]) -> dict[str, Any]:
    numbers = ("version", "commit")
    return {
        "name": name,
        "attributes": [{"name": one, "type": "integer" if one in numbers else "string"} for one in attributes],
    }
