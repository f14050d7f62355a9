"""A database of the store's own: its owner, who migrates it, is no superuser; the application may try anything.

Its tables are never emptied: each test works with instances and topics of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from bpm.engine import step as stepping
from bpm.engine.step import step
from bpm.graph import Process
from bpm.replay import ReplayEngine, compare, verify
from bpm.semantics import Decided, decide
from bpm.semantics import commands as c
from bpm.semantics.state import ATTACHED
from bpm.store import (
    Channel,
    CommitRecord,
    ThreadCommit,
    claims,
    commit,
    definitions,
    deployments,
    hardening,
    ids,
    plain_channel,
    reading,
    schedule,
)
from bpm.store.definitions import Definition, NewDefinition
from bpm.store.projection import Projection, _kept
from bpm.store.unit import Unit
from config.local import ROOT, socket_url
from config.postgres import Postgres
from tests.pure.semantics.drawing import draw

DATABASE = "store"
OWNER, APPLICATION, HARDENED = "store_owner", "store_application", "store_hardened"


def address(postgres: Postgres, role: str) -> str:
    """The address of the store's database for a role."""
    return socket_url(postgres.sockets, DATABASE).replace("postgres@", f"{role}@")


@dataclass(frozen=True)
class Roles:
    """Addresses of the same database."""

    superuser: str
    owner: str
    application: str
    hardened: str


@pytest.fixture(scope="session")
def roles(postgres: Postgres) -> Roles:
    """The store's database, migrated by its owner. One application has every right that GRANT can give: what it meets
    are the rules alone. The other one has what `bpm harden` leaves it, and is who works in these tests.
    """
    found = Roles(*(address(postgres, role) for role in ("postgres", OWNER, APPLICATION, HARDENED)))
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        for role in (OWNER, APPLICATION, HARDENED):
            connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")
    migrate = [sys.executable, str(ROOT / "manage.py"), "migrate", "-v0"]
    subprocess.run(migrate, check=True, env={**os.environ, "DATABASE_URL": found.owner})
    with psycopg.connect(found.owner, autocommit=True) as connection:
        connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {APPLICATION}")
        connection.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {APPLICATION}")
        connection.execute(f"GRANT TEMPORARY ON DATABASE {DATABASE} TO {APPLICATION}")
        for name in hardening.CALLABLE:
            connection.execute(f"GRANT EXECUTE ON FUNCTION {name} TO {APPLICATION}")
        hardening.harden(HARDENED, channel=plain_channel(connection))
    definitions.forget()
    return found


@pytest.fixture(autouse=True)
def remembers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here is loading; what a process remembers has tests of its own."""
    monkeypatch.setattr(stepping, "MEMORY", Projection(0))


@pytest.fixture
def connection(roles: Roles) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the hardened application, in autocommit."""
    with psycopg.connect(roles.hardened, autocommit=True) as connection:
        yield connection


@pytest.fixture
def channel(connection: psycopg.Connection[Any]) -> Channel:
    """The store on that connection."""
    return plain_channel(connection)


@dataclass
class Run:
    """One instance, driven by its own worker; topics carry a prefix of this run, so that runs do not meet."""

    channel: Channel
    definition: Definition
    prefix: str
    thread: UUID = field(default_factory=ids.new_instance)
    records: list[CommitRecord] = field(default_factory=list)

    @property
    def graph(self) -> Process:
        return self.definition.graph

    def start(self, **arguments: Any) -> CommitRecord:
        return self.do(c.StartInstance, definition=self.definition.id, **arguments)

    def do(
        self, make: type[c.Command], *, definition: UUID | None = None, actor: str = "ann", **arguments: Any
    ) -> CommitRecord:
        """One step, with the step's own arguments told apart from the command's."""
        own = {name: arguments.pop(name) for name in ("key", "reason", "cause") if name in arguments}
        own["message"] = arguments.pop("incoming", None)
        record = step(
            self.thread,
            lambda at: make(at=at, **arguments),
            actor=actor,
            definition=definition,
            channel=self.channel,
            **own,
        )
        if not record.repeated:
            self.records.append(record)
        return record

    def advance(self) -> None:
        """Let ACTIVE tokens go on until every one waits or has ended."""
        while active := schedule.active_of_instance(self.thread, channel=self.channel):
            for token in active:
                self.do(c.AdvanceToken, token=token, actor="engine")

    def lock(self, topic: str) -> claims.LockedTask:
        """Lock the next task of the topic."""
        (task,) = claims.fetch_and_lock([self.prefix + topic], "worker", channel=self.channel)
        return task

    def complete(self, topic: str, **variables: Any) -> CommitRecord:
        """Lock and complete the next task of the topic."""
        task = self.lock(topic)
        arguments = {"task": ids.ordinal(task.id), "worker": "worker", "variables": variables}
        record = self.do(c.CompleteExternalTask, actor="worker", **arguments)
        self.advance()
        return record

    def agrees(self) -> None:
        """Live = replayed = stored, decided again the same, no invariant broken."""
        commits = reading.history(self.thread, channel=self.channel)
        result = ReplayEngine(self.graph).replay(commits, thread=str(self.thread))
        assert result.violations == ()
        assert verify(self.graph, commits, thread=str(self.thread)) is None
        stored = reading.stored_state(self.thread, channel=self.channel)
        assert stored is not None
        assert compare(result.state, result.state, stored) == ()


@pytest.fixture
def deploy(channel: Channel) -> Callable[..., Run]:
    """deploy("start s > external A > end e") -> a Run of it, with topics of its own."""

    def deployed(*lines: str, **options: Any) -> Run:
        prefix = uuid4().hex[:8] + "."
        graph = draw(*lines, **options)
        return Run(channel, store_graph(channel, with_topics(graph, prefix)), prefix)

    return deployed


def store_graph(channel: Channel, graph: Process) -> Definition:
    """Deploy a graph."""
    new = NewDefinition(graph=graph, source="<drawn/>", source_hash="0")
    (stored,) = deployments.store([new], actor="ann", channel=channel).definitions
    # Read once a process, and never again: a definition does not change.
    return definitions.load(stored.id, channel=channel)


def with_topics(graph: Process, prefix: str) -> Process:
    """The same graph whose topics begin with the prefix."""

    def renamed(node: Any) -> Any:
        if node.work is None:
            return node
        return replace(
            node, work=replace(node.work, topic=replace(node.work.topic, text=prefix + node.work.topic.text))
        )

    return replace(graph, nodes={id: renamed(node) for id, node in graph.nodes.items()})


@pytest.fixture
def projection() -> Projection:
    return Projection()


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How each commit began: foreseen, or otherwise under the lock (after "missed": what was foreseen was not so), with
    what was resumed or all loaded.
    """
    found: list[str] = []
    load, settle = Unit.load, Unit.settle

    def loading(self: Unit, thread: Any, question: Any, *, resume: bool = False) -> Any:
        answer = load(self, thread, question, resume=resume)
        found.append("resumed" if answer.get("resumed") else "loaded")
        return answer

    def settling(self: Unit, *about: Any) -> Any:
        result = settle(self, *about)
        found.append("missed" if result is None else "foreseen")
        return result

    monkeypatch.setattr(Unit, "load", loading)
    monkeypatch.setattr(Unit, "settle", settling)
    return found


@pytest.fixture
def remembering(deploy: Callable[..., Run], projection: Projection) -> Callable[..., Run]:
    """Like `deploy`, but each command is committed with the projection and decided again on the whole stored state."""

    def deployed(*lines: str, **options: Any) -> Run:
        run = deploy(*lines, **options)

        def do(make: Any, *, actor: str = "ann", looked_at: bool = True, **arguments: Any) -> Any:
            key, definition = arguments.pop("key", None), arguments.pop("definition", None)
            whole = reading.stored_state(run.thread, channel=run.channel) if looked_at else None
            wanted = ThreadCommit(
                thread_id=run.thread,
                command=lambda at: make(at=at, **arguments),
                actor=actor,
                key=key,
                definition=definition,
            )
            record = commit(run.channel, wanted, projection)
            if whole is not None and not record.repeated:
                decided = decide(run.graph, whole, make(at=record.at, **arguments))
                assert isinstance(decided, Decided) and decided.events == record.events
            held = projection.get(run.thread)
            if looked_at and held is not None and not record.repeated:
                stored = reading.stored_state(run.thread, channel=run.channel)
                assert (held.version, held.last_at) == reading.standing(run.thread, channel=run.channel)
                assert differences(held.state, _kept(stored)) == []
            run.records.append(record)
            return record

        run.do = do  # type: ignore[method-assign]
        return run

    return deployed


def differences(held: Any, stored: Any) -> list[Any]:
    """What is remembered otherwise than it is stored. Locks are no commits: of tasks only which there are."""
    found = [kind for kind in ("token", *ATTACHED) if held.table(kind).keys() != stored.table(kind).keys()]
    for kind in ("token", *ATTACHED, "variable"):
        if kind != "task":
            found += [entity for key, entity in held.table(kind).items() if stored.table(kind).get(key) != entity]
    return found
