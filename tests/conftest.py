"""What every test may ask for beyond pytest-django's fixtures: the test database, and real processes of the site."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import redis
from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.operations import DatabaseOperations

from config.local import socket_url
from config.postgres import Postgres
from config.processes import Process, Warden
from config.valkey import Valkey

WORKER_READY = 40.0
# Where the longest tests are, in a parallel run.
FIRST = ("chaos", "system", "database")


def pytest_configure() -> None:
    """Real password hashing takes half a second a login, which is its purpose and not ours here."""
    # Tests change the world faster than health is asked for.
    settings.BPM_HEALTH_KEPT = 0
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In one of several processes, where a file is handed out as a whole, the longest come first."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    tests = Path(__file__).parent

    def place(item: pytest.Item) -> tuple[int, str]:
        kind, *_ = item.path.relative_to(tests).parts
        return FIRST.index(kind) if kind in FIRST else len(FIRST), str(item.path)

    items.sort(key=place)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(postgres: Postgres) -> None:
    """pytest-django asks for this before it makes the test database: the server must run by then."""


@pytest.fixture(autouse=True, scope="session")
def flush_past_the_guards() -> Iterator[None]:
    """Tests with transaction=True empty the tables afterwards. History refuses TRUNCATE, even to its owner, so only
    here a superuser's session steps past triggers; the program itself has no such way."""
    original = DatabaseOperations.execute_sql_flush

    def flush(self: DatabaseOperations, sql_list: Sequence[str]) -> None:
        original(self, ["SET LOCAL session_replication_role = replica", *sql_list])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "execute_sql_flush", flush)
        yield


@pytest.fixture
def site_environment(postgres: Postgres, valkey: Valkey) -> dict[str, str]:
    """The environment of a process of the site that works on the test database and the test broker."""
    database = str(connection.settings_dict["NAME"])
    return {
        **os.environ,
        "DATABASE_URL": socket_url(postgres.sockets, database),
        "REDIS_URL": valkey.url,
        "LOG_LEVEL": "INFO",
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture
def start_worker(
    transactional_db: None, site_environment: dict[str, str], valkey: Valkey, warden: Warden, tmp_path: Path
) -> Iterator[Callable[..., Process]]:
    """A function that starts a real Celery worker and waits until it is ready: start_worker("--queues=a,b")."""
    started: list[Process] = []

    def start(*arguments: str, concurrency: int = 1) -> Process:
        name = f"worker{len(started)}"
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--loglevel=INFO", "--without-mingle"]
        command += ["--without-gossip", f"--hostname={name}@localhost", f"--concurrency={concurrency}", *arguments]
        worker = Process(name, command, tmp_path / f"{name}.log", warden, env=site_environment)
        worker.start()
        started.append(worker)
        wait_for(lambda: "ready." in worker.last_words(50), WORKER_READY, worker.last_words)
        return worker

    yield start
    # Ending warmly takes Celery seconds; script/up is tested for ending so.
    for worker in started:
        worker.kill()
    # What was announced and not taken is nothing to the next test.
    with redis.Redis.from_url(valkey.url) as client:
        client.flushall()


def wait_for(happened: Callable[[], bool], seconds: float, otherwise: Callable[[], str] = str) -> None:
    """Wait until `happened` is true; after `seconds` fail with what `otherwise` says."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"did not happen in {seconds} s\n{otherwise()}"
        time.sleep(0.05)
