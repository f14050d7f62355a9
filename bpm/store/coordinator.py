"""The commit log for programs of their own: no Django site, no settings, a pool of connections.

    CommitCoordinator.migrate(dsn)                                  # once, as a deployment job

    with CommitCoordinator.connect_existing(dsn, pool_size=8) as coordinator:
        record = coordinator.commit(ThreadCommit(thread_id=..., command=..., actor="ann"))
        state = coordinator.state(record.thread_id)             # PostgreSQL's word
        held = coordinator.projected(record.thread_id)          # this process's memory

It remembers threads in a projection (`bpm.store.projection`), which spares commits the loading of what it wrote itself.
hydrate="eager" fills it at the start with all open threads as of one moment, and refuses where that would read too much
(`bpm.store.hydrating`); "lazy" lets it fill with what is committed here.

Two such programs, or one and a site, on one database are two runtimes under one authority: each commit locks its
thread's version row, so they take turns, and either goes on where the other stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, TypedDict, Unpack
from uuid import UUID

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from bpm.semantics.state import State
from bpm.store import committing, histories, hydrating, ids, migrating, reading, schema
from bpm.store.channel import Channel, plain_channel
from bpm.store.hydrating import Hydrated
from bpm.store.projection import BYTES, Projected, Projection
from bpm.store.reading import Logged
from bpm.store.records import CommitRecord
from bpm.store.wanting import ThreadCommit

type Pool = ConnectionPool[psycopg.Connection[Any]]

POOL_SIZE = 4
# Rows of a table that are read at once.
PAGE = 1_000
# How long a caller waits for a connection, and a program that starts for its first one.
PATIENCE = 30.0
# Nothing waits for a lock for ever, and a client that hangs in a transaction does not hold its locks for ever.
SETTINGS = "-c lock_timeout=10s -c idle_in_transaction_session_timeout=60s -c timezone=UTC"


class Memory(TypedDict, total=False):
    """What is remembered: whether all open threads are read at the start, and how many bytes it may take."""

    hydrate: Literal["eager", "lazy"]
    projection_bytes: int


class CommitCoordinator:
    """Holds the pool and the projection. Safe to use from several threads."""

    def __init__(self, pool: Pool, *, owned: bool, projection_bytes: int = BYTES) -> None:
        self._pool = pool
        self._owned = owned
        self._projection = Projection(projection_bytes)
        self.hydrated: Hydrated | None = None

    @staticmethod
    def migrate(dsn: str, *, before_only: bool = False) -> None:
        """Run the migrations, as the owner of the tables: a deployment job, before any program starts.

        `before_only` leaves those for later that an older program still running would not bear. Raises MigrationFailed.
        """
        migrating.migrate(dsn, before_only=before_only)

    @classmethod
    def connect(cls, dsn: str, pool_size: int = POOL_SIZE, **memory: Unpack[Memory]) -> CommitCoordinator:
        """Migrate and connect: for development, where one program is all there is. Raises MigrationFailed."""
        cls.migrate(dsn)
        return cls.connect_existing(dsn, pool_size, **memory)

    @classmethod
    def connect_existing(cls, dsn: str, pool_size: int = POOL_SIZE, **memory: Unpack[Memory]) -> CommitCoordinator:
        """Connect to a database that has been migrated; not one statement here changes its schema.

        Raises SchemaDiffers with everything that is not as it should be, TooMuchToHydrate, psycopg.OperationalError
        where the server does not answer in PATIENCE seconds; then nothing is connected.
        """
        pool = _new_pool(dsn, pool_size)
        try:
            return cls._checked(pool, owned=True, **memory)
        except BaseException:
            pool.close()
            raise

    @classmethod
    def with_pool(cls, pool: Pool, **memory: Unpack[Memory]) -> CommitCoordinator:
        """Migrate, and work on a pool that the application owns and closes. Raises MigrationFailed."""
        with pool.connection(timeout=PATIENCE) as raw:
            # The pool's own words may be a function's, or stand in its keyword arguments.
            dsn = make_conninfo(raw.info.dsn, password=raw.info.password or None)
        cls.migrate(dsn)
        return cls.with_existing_pool(pool, **memory)

    @classmethod
    def with_existing_pool(cls, pool: Pool, **memory: Unpack[Memory]) -> CommitCoordinator:
        """Work on a pool that the application owns and closes, on a database that has been migrated.

        Its connections may be in autocommit or not. Raises SchemaDiffers, TooMuchToHydrate.
        """
        return cls._checked(pool, owned=False, **memory)

    @classmethod
    def _checked(cls, pool: Pool, *, owned: bool, **memory: Unpack[Memory]) -> CommitCoordinator:
        coordinator = cls(pool, owned=owned, projection_bytes=memory.get("projection_bytes", BYTES))
        with coordinator.channel() as channel:
            schema.require(channel)
            if memory.get("hydrate", "eager") == "eager":
                coordinator.hydrated = hydrating.hydrate(coordinator._projection, channel)
        return coordinator

    def commit(self, wanted: ThreadCommit) -> CommitRecord:
        """Carry out one command on one thread, as one transaction; what `bpm.store.committing.commit` raises.

        A lost connection leaves open whether it was done: commit again, with the same key.
        """
        with self.channel() as channel:
            return committing.commit(channel, wanted, self._projection)

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        """A connection for as long as the block lasts, for everything else of the store: deployments, claims, messages,
        schedules. Each of its functions takes it as `channel`.
        """
        with self._pool.connection(timeout=PATIENCE) as raw, _in_autocommit(raw):
            try:
                yield plain_channel(raw)
            except psycopg.OperationalError:
                # The server was restarted, say: then the other connections are as dead as this one.
                if raw.broken or raw.closed:
                    self._pool.check()
                raise

    def projected(self, thread: UUID) -> Projected | None:
        """What this process remembers of the thread, without asking the database: its state after the commit of that
        `version`, at `last_at`. None where it remembers nothing; `is_current` says whether it is still true.
        """
        return self._projection.get(thread)

    def is_current(self, held: Projected) -> bool:
        """Whether the thread still stands where it was remembered: nobody has committed to it since."""
        with self.channel() as channel:
            return reading.standing(held.thread_id, channel=channel) == (held.version, held.last_at)

    def state(self, thread: UUID) -> State | None:
        """The thread's state as the database has it now; None where there is no such thread (any more)."""
        with self.channel() as channel:
            return reading.stored_state(thread, channel=channel)

    def history(self, thread: UUID) -> Iterator[Logged]:
        """All commits of the thread in order, with their events; one page is held at a time, and no connection between
        them.
        """
        with self.channel() as channel:
            since = histories.started(thread, channel=channel)
        after = None if since is None else histories.BEGINNING
        while since is not None and after is not None:
            with self.channel() as channel:
                page, after = histories.history_page(thread, since, after, channel=channel)
            yield from page

    def version(self, thread: UUID) -> int:
        """The thread's version as the database has it now; 0 where there is no such thread."""
        with self.channel() as channel:
            return reading.version(thread, channel=channel)

    def receipt(self, thread: UUID, actor: str, key: str) -> CommitRecord | None:
        """What the command that carried the key did; None where it was never committed (or long ago: receipts
        expire).
        """
        with self.channel() as channel:
            return reading.receipt(thread, actor, key, channel=channel)

    def ledger(self) -> Iterator[tuple[int, UUID, UUID]]:
        """(sequence, thread, run) of every commit, in order: what two runtimes compare before they look at anything
        else. Read by pages, each as the log stands then.
        """
        page: Sequence[tuple[int, UUID, UUID]] = ()
        while not page or len(page) == PAGE:
            with self.channel() as channel:
                page = reading.ledger_page(page[-1][0] if page else -1, PAGE, channel=channel)
            yield from page
            if not page:
                return

    def thread_versions(self) -> Iterator[tuple[UUID, int]]:
        """(thread, version) of every thread, in order. Read by pages."""
        page: Sequence[tuple[UUID, int]] = ()
        while not page or len(page) == PAGE:
            with self.channel() as channel:
                page = reading.versions_page(page[-1][0] if page else ids.NIL, PAGE, channel=channel)
            yield from page
            if not page:
                return

    def verify(self) -> schema.Verdict:
        """Whether the schema is still what this program was written for."""
        with self.channel() as channel:
            return schema.verify(channel)

    def close(self) -> None:
        """Close the pool, where it is the coordinator's own."""
        if self._owned:
            self._pool.close()

    def __enter__(self) -> CommitCoordinator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _new_pool(dsn: str, size: int) -> Pool:
    """Raises psycopg.ProgrammingError for what is no DSN, OperationalError where nobody answered, with why."""
    conninfo_to_dict(dsn)
    pool: Pool = ConnectionPool(
        dsn,
        min_size=1,
        max_size=size,
        # What every step says is prepared by `trip`; psycopg would deallocate that together with its own.
        kwargs={
            "autocommit": True,
            "options": SETTINGS,
            "application_name": "tokentrail",
            "prepare_threshold": None,
        },
        open=False,
        name="tokentrail",
    )
    try:
        pool.open(wait=True, timeout=PATIENCE)
    except PoolTimeout as late:
        # The pool knows that it waited; only an attempt says for what.
        pool.close()
        try:
            psycopg.connect(dsn, connect_timeout=5).close()
        except psycopg.OperationalError as why:
            raise psycopg.OperationalError(f"no connection in {PATIENCE:g} seconds: {why}") from late
        raise
    return pool


@contextmanager
def _in_autocommit(raw: psycopg.Connection[Any]) -> Iterator[None]:
    """Each commit begins and ends its own transaction, whatever the application uses its connections for else."""
    before = raw.autocommit
    if not before:
        raw.autocommit = True
    try:
        yield
    finally:
        if not before and not raw.closed:
            raw.autocommit = False
