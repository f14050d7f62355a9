"""The coordinator by itself: no settings of Django, a pool, a schema that it verifies and never changes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from bpm.semantics import commands as c
from bpm.store import CommitCoordinator, KeyConflict, Refused, ThreadCommit, UnknownInstance, claims, ids
from bpm.store import coordinator as coordinating
from bpm.store.migrating import MigrationFailed
from bpm.store.schema import SchemaDiffers
from config.local import ROOT, socket_url
from config.postgres import Postgres

STEPS = "start s > external A > external B > end e"


@pytest.fixture
def coordinator(roles) -> Iterator[CommitCoordinator]:
    with CommitCoordinator.connect_existing(roles.hardened, 4) as coordinator:
        yield coordinator


def start(run, thread=None, **more):
    return ThreadCommit(
        thread_id=thread or ids.new_instance(),
        command=lambda at: c.StartInstance(at=at, variables={"x": 1}),
        actor="ann",
        definition=run.definition.id,
        **more,
    )


def change(thread, value, **more):
    return ThreadCommit(
        thread_id=thread, command=lambda at: c.SetVariables(at=at, variables={"x": value}), actor="ann", **more
    )


def test_commit_and_read(coordinator, deploy):
    run = deploy(STEPS)
    started = coordinator.commit(start(run))
    thread = started.thread_id
    assert (started.version, started.command) == (1, "StartInstance")
    # What a program prints or logs is short, and none of the instance's values.
    assert "variables" not in repr(started) and len(repr(started)) < 500
    assert coordinator.commit(change(thread, 2)).version == coordinator.version(thread) == 2
    state = coordinator.state(thread)
    assert state.version == 2 and state.variables[0, "x"].value == 2
    assert [commit.command for commit in coordinator.history(thread)] == ["StartInstance", "SetVariables"]
    assert (started.sequence, thread, started.run_id) in coordinator.ledger()
    assert (thread, 2) in coordinator.thread_versions()
    assert coordinator.state(ids.new_instance()) is None
    assert coordinator.version(ids.new_instance()) == 0
    assert coordinator.verify().fit


def test_keys_and_receipts(coordinator, deploy):
    thread = coordinator.commit(start(deploy(STEPS), key="one")).thread_id
    done = coordinator.commit(change(thread, 5, key="two"))
    again = coordinator.commit(change(thread, 5, key="two"))
    assert again.repeated and again.sequence == done.sequence
    assert coordinator.receipt(thread, "ann", "two").sequence == done.sequence
    assert coordinator.receipt(thread, "ann", "three") is None
    with pytest.raises(KeyConflict):
        coordinator.commit(change(thread, 6, key="two"))
    with pytest.raises(UnknownInstance):
        coordinator.commit(change(ids.new_instance(), 1))
    with pytest.raises(Refused) as caught:
        coordinator.commit(start(deploy(STEPS), thread))
    assert caught.value.code
    assert coordinator.version(thread) == 2


def test_everything_else_of_the_store_works_on_its_channel(coordinator, deploy):
    run = deploy(STEPS)
    thread = coordinator.commit(start(run)).thread_id
    with coordinator.channel() as channel:
        (task,) = claims.fetch_and_lock([run.prefix + "A"], "worker", channel=channel)
    record = coordinator.commit(
        ThreadCommit(
            thread_id=thread,
            command=lambda at: c.CompleteExternalTask(at=at, task=ids.ordinal(task.id), worker="worker"),
            actor="worker",
        )
    )
    assert record.topics == (run.prefix + "B",)


def test_threads_share_it(coordinator, deploy):
    thread = coordinator.commit(start(deploy(STEPS))).thread_id
    with ThreadPoolExecutor(8) as pool:
        records = list(pool.map(lambda x: coordinator.commit(change(thread, x)), range(40)))
    assert sorted(record.version for record in records) == list(range(2, 42))


def test_a_lost_connection_is_replaced(coordinator, roles, deploy):
    thread = coordinator.commit(start(deploy(STEPS))).thread_id
    with psycopg.connect(roles.superuser, autocommit=True) as superuser:
        superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'store_hardened'")
    with pytest.raises(psycopg.OperationalError):
        coordinator.commit(change(thread, 7, key="seven"))
    # Whether it was done is asked by doing it again.
    assert coordinator.commit(change(thread, 7, key="seven")).version == 2


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_pool_of_the_applications(roles, deploy, autocommit):
    with ConnectionPool(roles.hardened, min_size=1, max_size=2, kwargs={"autocommit": autocommit}, open=True) as pool:
        with CommitCoordinator.with_existing_pool(pool) as coordinator:
            thread = coordinator.commit(start(deploy(STEPS))).thread_id
        # The pool is the application's: it goes on, as it was.
        with pool.connection() as connection:
            assert connection.autocommit is autocommit
            assert connection.execute("SELECT version FROM runtime_thread_version WHERE thread_id = %s", [thread])


@pytest.fixture
def no_ddl(roles) -> Iterator[None]:
    """Whoever runs DDL in the store's database fails, whatever its rights."""
    with psycopg.connect(roles.superuser, autocommit=True) as superuser:
        superuser.execute(
            "CREATE FUNCTION refuse_ddl() RETURNS event_trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'DDL: %', tg_tag; END $$;"
            " CREATE EVENT TRIGGER no_ddl ON ddl_command_start EXECUTE FUNCTION refuse_ddl()"
        )
        yield
        superuser.execute("DROP EVENT TRIGGER no_ddl; DROP FUNCTION refuse_ddl()")


def test_connecting_runs_no_ddl(roles, deploy, no_ddl):
    run = deploy(STEPS)
    with psycopg.connect(roles.hardened, autocommit=True) as connection, pytest.raises(psycopg.Error):
        connection.execute("CREATE TABLE mine ()")
    for address in (roles.hardened, roles.owner):
        with CommitCoordinator.connect_existing(address, 2) as coordinator:
            assert coordinator.commit(start(run)).version == 1


def test_what_differs_is_refused_and_listed(roles, deploy):
    with psycopg.connect(roles.superuser, autocommit=True) as superuser:
        superuser.execute("ALTER TABLE tokens DISABLE TRIGGER pgtrigger_tokentrail_explained_bb2b0")
        superuser.execute("DROP INDEX tokens_active")
        try:
            with pytest.raises(SchemaDiffers) as caught:
                CommitCoordinator.connect_existing(roles.hardened, 2)
            with (
                ConnectionPool(roles.hardened, min_size=1, max_size=2, open=True) as pool,
                pytest.raises(SchemaDiffers, match="tokens_active is missing"),
            ):
                CommitCoordinator.with_existing_pool(pool)
        finally:
            superuser.execute("ALTER TABLE tokens ENABLE TRIGGER pgtrigger_tokentrail_explained_bb2b0")
            superuser.execute("CREATE INDEX tokens_active ON tokens (commit_at) WHERE state = 'ACTIVE'")
    assert caught.value.differences == (
        "index tokens.tokens_active is missing",
        "trigger tokens.pgtrigger_tokentrail_explained_bb2b0 does not work: disabled",
    )


# A program that knows no Django: it migrates, connects and commits.
PROGRAM = """
import sys
from bpm.graph import from_json
from bpm.semantics.commands import StartInstance
from bpm.store import CommitCoordinator, ThreadCommit, deployments, ids
from bpm.store.definitions import NewDefinition
from tests.pure.semantics.drawing import draw

make = getattr(CommitCoordinator, sys.argv[2])
if sys.argv[2] == "connect_existing":
    CommitCoordinator.migrate(sys.argv[1])
with make(sys.argv[1], 2) as coordinator:
    new = NewDefinition(graph=draw("start s > external A > end e"), source="<drawn/>", source_hash="0")
    with coordinator.channel() as channel:
        definition = deployments.store([new], actor="ann", channel=channel).definitions[0].id
    thread = ids.new_instance()
    wanted = ThreadCommit(thread_id=thread, command=lambda at: StartInstance(at=at), actor="ann", definition=definition)
    print(coordinator.commit(wanted).version, coordinator.version(thread))

from django.conf import settings
assert not settings.configured
"""


@pytest.fixture
def empty(postgres: Postgres) -> Iterator[str]:
    """The address of a database with nothing in it, of an owner who is no superuser."""
    with psycopg.connect(postgres.url(), autocommit=True) as superuser:
        superuser.execute("CREATE ROLE alone_owner LOGIN")
        superuser.execute("CREATE DATABASE alone OWNER alone_owner")
        yield socket_url(postgres.sockets, "alone").replace("postgres@", "alone_owner@")
        superuser.execute("DROP DATABASE alone WITH (FORCE)")
        superuser.execute("DROP ROLE alone_owner")


@pytest.mark.parametrize("way", ["connect_existing", "connect"])
def test_a_program_without_django(empty, way):
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, empty, way], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout == "1 1\n"


def test_an_empty_database_is_refused(empty):
    with pytest.raises(SchemaDiffers, match="run the migrations first"):
        CommitCoordinator.connect_existing(empty, 1)


def test_with_pool_migrates(empty):
    with ConnectionPool(empty, min_size=1, max_size=2, open=True) as pool:
        assert list(CommitCoordinator.with_pool(pool).thread_versions()) == []


def test_migrations_that_fail_say_why(roles):
    with pytest.raises(MigrationFailed, match="permission denied"):
        CommitCoordinator.migrate(roles.hardened)
    with pytest.raises(MigrationFailed, match="does not exist"):
        CommitCoordinator.migrate(roles.hardened.replace("store_hardened@", "nobody_at_all@"))


def test_two_migrations_at_once(empty):
    failed: list[BaseException] = []

    def run() -> None:
        try:
            CommitCoordinator.migrate(empty)
        except BaseException as error:
            failed.append(error)

    jobs = [threading.Thread(target=run) for _ in range(2)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert failed == []
    with CommitCoordinator.connect_existing(empty, 1) as coordinator:
        assert coordinator.verify().fit


def test_a_server_that_does_not_answer_is_named_with_why(monkeypatch):
    monkeypatch.setattr(coordinating, "PATIENCE", 0.2)
    with pytest.raises(psycopg.OperationalError, match=r"no connection in 0.2 seconds: .*nobody-here"):
        CommitCoordinator.connect_existing("postgresql:///x?host=/nobody-here")
    with pytest.raises(psycopg.ProgrammingError, match="mysql"):
        CommitCoordinator.connect_existing("mysql://x")
    with pytest.raises(MigrationFailed, match=r"OperationalError: .*nobody-here"):
        CommitCoordinator.migrate("postgresql:///x?host=/nobody-here")
