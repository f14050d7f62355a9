"""The servers behind the tests, as a pytest plugin that is loaded before Django's settings are (`-p tests.servers`).

Addresses are chosen and put into the environment at once, so that settings and every process that a test starts agree
on them; the servers themselves start when the first test asks. TOKENTRAIL_TEST_PG=15, 16 or 18 chooses the PostgreSQL.
Everything lies in one temporary folder that goes away at the end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.local import socket_url
from config.postgres import DEFAULT_VERSION, THROW_AWAY, Postgres
from config.processes import Warden
from config.valkey import Valkey, free_port

POSTGRES_VERSION = int(os.environ.get("TOKENTRAIL_TEST_PG", DEFAULT_VERSION))
FOLDER = pytest.StashKey[Path]()
REDIS_PORT = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Choose the addresses before pytest-django reads the settings."""
    folder = Path(tempfile.mkdtemp(prefix="tokentrail-"))
    port = free_port()
    early_config.stash[FOLDER] = folder
    early_config.stash[REDIS_PORT] = port
    os.environ.update(
        DATABASE_URL=socket_url(folder / "run", "tokentrail"),
        REDIS_URL=f"redis://127.0.0.1:{port}/0",
        SECRET_KEY="tests",
        TOKENTRAIL_LOCAL=str(folder),
        DATABASE_POOL_SIZE="0",
        LOG_LEVEL="WARNING",
        TOKENTRAIL_LOG="json",
        DEBUG="0",
    )


def pytest_report_header() -> str:
    """Which PostgreSQL the tests of this run would use."""
    return f"tokentrail: PostgreSQL {POSTGRES_VERSION}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """The folder goes, whatever happened in between."""
    folder = config.stash.get(FOLDER, None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def warden() -> Iterator[Warden]:
    """Ends what the tests started, also when the test run is killed."""
    with Warden() as warden:
        yield warden


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config, warden: Warden) -> Iterator[Postgres]:
    """The PostgreSQL server of this run. Its superuser is "postgres"; tests of roles make their own."""
    folder = pytestconfig.stash[FOLDER]
    server = Postgres(folder / "postgres", folder / "run", warden, version=POSTGRES_VERSION, options=THROW_AWAY)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def valkey(pytestconfig: pytest.Config, warden: Warden) -> Iterator[Valkey]:
    """The Redis-compatible server of this run."""
    server = Valkey(pytestconfig.stash[FOLDER] / "valkey", pytestconfig.stash[REDIS_PORT], warden)
    server.start()
    yield server
    server.stop()
