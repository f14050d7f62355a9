"""Deploying: all files of one call are compiled together, stored as one deployment, or refused with every problem.

BPMN and DMN files are told apart by their content. A process or decision whose source and compiled form are what they
were keeps its version. What waits to start a process (timers, messages, signals) is the newest version's alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from bpm.compiler import Compiled, Diagnostic, check_together, compile_bpmn
from bpm.compiler.diagnostics import IGNORABLE
from bpm.compiler.dmn import CompiledDecisions, check_decisions_together, compile_dmn, is_dmn
from bpm.compiler.xml import encoding
from bpm.decisions import decisions_hash
from bpm.decisions import to_json as decisions_to_json
from bpm.engine.acting import KeyConflict, given_reason, named
from bpm.engine.errors import DeployRefused, Invalid
from bpm.engine.subscriptions import subscriptions
from bpm.graph import Process, graph_hash, to_json
from bpm.store import decisions, definitions, deployments, errors, receipts, schedule
from bpm.store.decisions import DecisionDefinition, NewDecisions
from bpm.store.definitions import Definition, NewDefinition
from bpm.store.outside import query
from bpm.store.receipts import Done

# Files of one deployment, and the longest name of one.
MOST_FILES = 1_000
NAME_LIMIT = 500
# A file that is no XML at all is taken for what its name says.
DMN_SUFFIX = ".dmn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A process or decision as it stands after the deployment; `new`: this deployment made the version."""

    id: UUID
    key: str
    version: int
    name: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What came of it. `id` is None where nothing was new; `diagnostics` are warnings and notes."""

    id: UUID | None
    name: str = ""
    definitions: tuple[Deployed, ...] = ()
    decisions: tuple[Deployed, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def deploy(
    files: Mapping[str, bytes],
    *,
    name: str = "",
    actor: str,
    strict: bool = False,
    ignore: Collection[str] = (),
    reason: str | None = None,
    key: str | None = None,
) -> Deployment:
    """Deploy BPMN and DMN files (name -> content) together; with an idempotency `key` once, whatever came after it.
    `ignore`: codes of findings that refuse a model otherwise (`bpm.compiler.diagnostics.IGNORABLE`).

    Raises DeployRefused with all diagnostics where one is an error, Invalid where there is nothing to deploy,
    KeyConflict.
    """
    named(actor, "actor")
    named(name, "name", limit=NAME_LIMIT, least=0)
    if not files or len(files) > MOST_FILES:
        raise Invalid(f"a deployment has 1 to {MOST_FILES} files, not {len(files)}")
    for file in files:
        named(file, "the name of a file", limit=NAME_LIMIT)
    contents = {file: bytes(content) for file, content in files.items()}
    tables = {file: content for file, content in contents.items() if file.endswith(DMN_SUFFIX) or is_dmn(content)}
    accepted = frozenset(ignore)
    if accepted - IGNORABLE:
        raise Invalid(f"only these can be ignored: {', '.join(sorted(IGNORABLE))}")
    compiled = [
        compile_bpmn(data, file=file, strict=strict, ignore=accepted)
        for file, data in contents.items()
        if file not in tables
    ]
    decided = [compile_dmn(data, file=file, others=list(tables.values())) for file, data in tables.items()]
    found = [diagnostic for one in compiled for diagnostic in one.diagnostics]
    found += [diagnostic for file in decided for diagnostic in file.diagnostics]
    found += [*check_together(compiled), *check_decisions_together(decided)]
    if any(diagnostic.severity == "error" for diagnostic in found):
        raise DeployRefused(found)
    if not any(one.processes for one in compiled) and not any(_keys(one) for one in decided):
        raise Invalid("none of the files has an executable process or a decision")
    said = {"verb": "deploy", "name": name, "files": {file: _hash(content) for file, content in contents.items()}}
    kept = None if key is None else Kept(actor, named(key, "key"), said)
    deployment = _store(compiled, decided, contents, actor, given_reason(reason) or name or None, kept)
    return replace(deployment, name=name, diagnostics=tuple(found))


def _store(
    compiled: Sequence[Compiled],
    decided: Sequence[CompiledDecisions],
    files: Mapping[str, bytes],
    actor: str,
    reason: str | None,
    kept: Kept | None,
) -> Deployment:
    """Store what is new. The keys are locked before it is asked what there is, so that two at once make one version."""
    # The same process or decision may be in several files (that was looked at); then the first one is the source.
    processes: dict[str, tuple[Process, str]] = {}
    for one in compiled:
        for process in one.processes:
            processes.setdefault(process.id, (process, one.file))
    tables: dict[str, CompiledDecisions] = {}
    for two in decided:
        for key in _keys(two):
            tables.setdefault(key, two)
    with transaction.atomic():
        _lock("lock_definition_key", processes)
        _lock("lock_decision_key", tables)
        if kept is not None and (before := kept.find()) is not None:
            return before
        there = {key: _latest_process(key) for key in processes}
        decisions_there = {key: _latest_decision(key) for key in tables}
        now = schedule.now()
        new = [
            _new(process, file, files[file], now)
            for process, file in processes.values()
            if not _same(there[process.id], process, files[file])
        ]
        new_tables = [
            offered
            for two in decided
            if (offered := _offered(two, files[two.file], decisions_there, [k for k in _keys(two) if tables[k] is two]))
        ]
        # A key is kept by a commit, also one that finds nothing new.
        wanted = new or new_tables or kept is not None
        stored = deployments.store(new, new_tables, actor=actor, reason=reason) if wanted else None
        made = Deployment(
            id=stored.deployment if stored and (new or new_tables) else None,
            definitions=_deployed(there, stored.definitions if stored else ()),
            decisions=_deployed(decisions_there, stored.decisions if stored else ()),
        )
        if kept is not None and stored is not None:
            kept.keep(stored.sequence, made)
    return made


@dataclass(frozen=True, slots=True)
class Kept:
    """A deployment with a key, and its receipt."""

    actor: str
    key: str
    said: Mapping[str, object]

    def find(self) -> Deployment | None:
        """What came of it before. Raises KeyConflict."""
        try:
            done = receipts.find(None, self.actor, self.key, self.said)
        except errors.KeyConflict as conflict:
            raise KeyConflict(str(conflict)) from None
        if done is None:
            return None
        found = done.result
        return Deployment(
            id=None if found["id"] is None else UUID(found["id"]),
            definitions=tuple(Deployed(**{**one, "id": UUID(one["id"])}) for one in found["definitions"]),
            decisions=tuple(Deployed(**{**one, "id": UUID(one["id"])}) for one in found["decisions"]),
        )

    def keep(self, sequence: int, made: Deployment) -> None:
        """Write the receipt into the deployment's transaction."""
        told = {
            "id": made.id,
            "definitions": [asdict(one) for one in made.definitions],
            "decisions": [asdict(one) for one in made.decisions],
        }
        receipts.keep(None, self.actor, self.key, self.said, Done(sequence, told))


def _lock(statement: str, keys: Mapping[str, object]) -> None:
    for key in sorted(keys):
        query(None, statement, {"key": key})


def _deployed(
    there: Mapping[str, Definition | None] | Mapping[str, DecisionDefinition | None],
    stored: Sequence[Definition] | Sequence[DecisionDefinition],
) -> tuple[Deployed, ...]:
    made = {one.key: one for one in stored}
    found = [made.get(key) or there[key] for key in there]
    return tuple(
        Deployed(id=one.id, key=one.key, version=one.version, name=one.name, new=one.key in made)
        for one in found
        if one is not None
    )


def _latest_process(key: str) -> Definition | None:
    id = definitions.find(key)
    return None if id is None else definitions.load(id)


def _latest_decision(key: str) -> DecisionDefinition | None:
    id = decisions.find(key)
    return None if id is None else decisions.load(id)


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


def _keys(compiled: CompiledDecisions) -> tuple[str, ...]:
    """The decisions and services of a file."""
    return () if compiled.decisions is None else tuple(one.id for one in compiled.decisions.callable)


def _offered(
    compiled: CompiledDecisions, content: bytes, there: Mapping[str, DecisionDefinition | None], keys: Sequence[str]
) -> NewDecisions | None:
    """Those of the keys that get a new version; None where all are what they were."""
    if compiled.decisions is None:
        return None
    encoded = decisions_to_json(compiled.decisions)
    made_of = (_hash(content), decisions_hash(encoded))
    changed = [key for key in keys if (old := there[key]) is None or (old.source_hash, old.decisions_hash) != made_of]
    if not changed:
        return None
    return NewDecisions(
        decisions=compiled.decisions,
        encoded=encoded,
        digest=made_of[1],
        source=_text(content),
        source_hash=made_of[0],
        resource=compiled.file,
        keys=tuple(changed),
    )


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text(content: bytes) -> str:
    """The source as text, in the encoding in which it has been parsed."""
    return content.decode(encoding(content), "replace").removeprefix("\ufeff")
