"""Deploying: all files of one call are compiled together, stored as one deployment, or refused with every problem.

A process whose source and graph are what they were keeps its version. What waits to start a process (timers, messages,
signals) is the newest version's alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from bpm.compiler import Compiled, Diagnostic, check_together, compile_bpmn
from bpm.engine.acting import named
from bpm.engine.errors import DeployRefused, Invalid
from bpm.engine.subscriptions import subscriptions
from bpm.graph import Process, graph_hash, to_json
from bpm.store import definitions, schedule
from bpm.store.definitions import Definition, NewDefinition
from bpm.store.outside import query

# Files of one deployment, and the longest name of one.
MOST_FILES = 1_000
NAME_LIMIT = 500

_ENCODING = re.compile(rb"""(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A process as it stands after the deployment; `new`: this deployment made the version."""

    id: UUID
    key: str
    version: int
    name: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What came of it. `id` is None where nothing was new; `diagnostics` are warnings and notes."""

    id: UUID | None
    name: str
    definitions: tuple[Deployed, ...]
    diagnostics: tuple[Diagnostic, ...]


def deploy(
    files: Mapping[str, bytes], *, name: str = "", actor: str, strict: bool = False, reason: str | None = None
) -> Deployment:
    """Deploy BPMN files (name -> content) together.

    Raises DeployRefused with all diagnostics where one is an error, Invalid where there is nothing to deploy.
    """
    named(actor, "actor")
    named(name, "name", limit=NAME_LIMIT, least=0)
    if not files or len(files) > MOST_FILES:
        raise Invalid(f"a deployment has 1 to {MOST_FILES} files, not {len(files)}")
    for file in files:
        named(file, "the name of a file", limit=NAME_LIMIT)
    compiled = [compile_bpmn(bytes(content), file=file, strict=strict) for file, content in files.items()]
    found = [diagnostic for one in compiled for diagnostic in one.diagnostics]
    found += check_together(compiled)
    if any(diagnostic.severity == "error" for diagnostic in found):
        raise DeployRefused(found)
    if not any(one.processes for one in compiled):
        raise Invalid("none of the files has an executable process")
    deployed, id = _store(compiled, files, actor, reason or name or None)
    return Deployment(id=id, name=name, definitions=tuple(deployed), diagnostics=tuple(found))


def _store(
    compiled: list[Compiled], files: Mapping[str, bytes], actor: str, reason: str | None
) -> tuple[list[Deployed], UUID | None]:
    """Store what is new. The keys are locked before it is asked what there is, so that two at once make one version."""
    # The same process may be in several files (check_together has said so); then the first one is the source.
    processes: dict[str, tuple[Process, str]] = {}
    for one in compiled:
        for process in one.processes:
            processes.setdefault(process.id, (process, one.file))
    with transaction.atomic():
        for key in sorted(processes):
            query(None, "lock_definition_key", {"key": key})
        there = {key: _latest(key) for key in processes}
        now = schedule.now()
        new = [
            _new(process, file, files[file], now)
            for process, file in processes.values()
            if not _same(there[process.id], process, files[file])
        ]
        stored = definitions.store(new, actor=actor, reason=reason) if new else []
    made = {one.key: one for one in stored}
    found = [made.get(key) or there[key] for key in processes]
    deployed = [
        Deployed(id=one.id, key=one.key, version=one.version, name=one.name, new=one.key in made)
        for one in found
        if one is not None
    ]
    return deployed, stored[0].deployment_id if stored else None


def _latest(key: str) -> Definition | None:
    id = definitions.find(key)
    return None if id is None else definitions.load(id)


def _same(there: Definition | None, process: Process, content: bytes) -> bool:
    return (
        there is not None and there.source_hash == _hash(content) and there.graph_hash == graph_hash(to_json(process))
    )


def _new(process: Process, file: str, content: bytes, now: datetime) -> NewDefinition:
    return NewDefinition(
        graph=process,
        source=_text(content),
        source_hash=_hash(content),
        resource=file,
        subscriptions=subscriptions(process, now),
    )


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text(content: bytes) -> str:
    """The source as text, in the encoding that its XML declaration names. It has been parsed, so it is one that
    exists.
    """
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    declared = _ENCODING.match(content)
    encoding = declared[1].decode() if declared else "utf-8"
    return content.decode(encoding, "replace").removeprefix("\ufeff")
