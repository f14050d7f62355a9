"""The servers of a run: PostgreSQL, with everything on that durability costs, and a broker where Celery is measured."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import redis
from django.core.management import call_command
from django.db import connection, connections

from config.local import socket_folder
from config.postgres import THROW_AWAY, Postgres
from config.processes import Warden
from config.valkey import Valkey

# As one would give a database on this machine; what is not named stays as PostgreSQL has it (fsync and
# synchronous_commit on).
OPTIONS = {
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
    "autovacuum_naptime": "15s",
}
TEMPLATE = "bench_template"
TICK = os.sysconf("SC_CLK_TCK")


class Ground:
    """Holds the servers, the folder of the run and the watch over its processes. Django's connection is moved from
    database to database; it is closed whenever processes are forked.
    """

    def __init__(self, folder: Path, postgres: Postgres, broker: Valkey, warden: Warden) -> None:
        self.folder = folder
        self.postgres = postgres
        self.broker = broker
        self.warden = warden

    @contextmanager
    def database(self, name: str, *, keep: bool = False) -> Iterator[str]:
        """A migrated, empty database, which Django is connected to in the block; the address of it."""
        name = f"bench_{name}".replace("-", "_")
        with self.administration() as server:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            server.execute(f'CREATE DATABASE "{name}" TEMPLATE {TEMPLATE}')
        self.enter(name)
        try:
            yield self.postgres.url(name)
        finally:
            self.enter("postgres")
            if not keep:
                with self.administration() as server:
                    server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def enter(self, name: str) -> None:
        """Django works on this database from here on."""
        connections.close_all()
        connection.settings_dict["NAME"] = name
        os.environ["DATABASE_URL"] = self.postgres.url(name)

    @contextmanager
    def administration(self) -> Iterator[psycopg.Connection]:
        """A connection to no database in particular."""
        with psycopg.connect(self.postgres.url(), autocommit=True) as server:
            yield server

    def prepare(self) -> None:
        """Make the database that all others are cloned from."""
        self.postgres.create_database(TEMPLATE)
        self.enter(TEMPLATE)
        call_command("migrate", verbosity=0)
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE tokentrail_test_database ()")
        self.enter("postgres")

    def open_broker(self) -> None:
        """Start the broker at the first call, and let nothing wait there. It stays until the run ends: Celery keeps its
        connections.
        """
        if not self.broker.answers():
            self.broker.start()
        with redis.Redis(port=self.broker.port) as client:
            for queue in client.scan_iter(_type="list"):
                client.delete(queue)

    def cpu(self) -> float:
        """Seconds of processor time that the server's processes have taken so far, those that have ended included.

        One that ends while it is looked for counts neither as there nor as ended; it does the next time.
        """
        return max(_cpu_of_tree(self.postgres.process.pid) for _ in range(3))

    def wal(self) -> int:
        """Bytes of write-ahead log so far."""
        with self.administration() as server:
            return int(server.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").fetchone()[0])

    def settle(self) -> None:
        """Write out what waits to be written, so that it is not charged to what is measured next."""
        with self.administration() as server:
            server.execute("CHECKPOINT")


@contextmanager
def started(folder: Path, port: int, *, durable: bool = True) -> Iterator[Ground]:
    """PostgreSQL, for as long as the block lasts; its data goes with it. The broker on `port` is started by whoever
    needs it. Not `durable`: times mean nothing.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with Warden() as warden:
            postgres = Postgres(
                folder / "postgres", socket_folder(folder), warden, options=OPTIONS if durable else THROW_AWAY
            )
            postgres.start()
            connection.settings_dict.update(HOST=str(postgres.sockets), PORT="", USER="postgres", PASSWORD="")
            ground = Ground(folder, postgres, Valkey(folder / "valkey", port, warden), warden)
            try:
                ground.prepare()
                yield ground
            finally:
                connections.close_all()
                postgres.stop()
                ground.broker.stop()
    finally:
        for left in (folder, socket_folder(folder)):
            shutil.rmtree(left, ignore_errors=True)


def _cpu_of_tree(top: int) -> float:
    """The processor time of a process with its children: user and system, waited-for children included."""
    children: dict[int, list[int]] = {}
    times: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            # A process may end while we look.
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
                times[int(entry.name)] = sum(map(int, fields[11:15]))
    total, todo = 0, [top]
    while todo:
        pid = todo.pop()
        total += times.get(pid, 0)
        todo += children.get(pid, [])
    return total / TICK
