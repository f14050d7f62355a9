"""Servers and processes of the chaos tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.processes import Warden
from tests.chaos.ground import Ground, Zygote
from tests.chaos.reliability import Record
from tests.chaos.summary import RECORD
from tests.servers import FOLDER, POSTGRES_VERSION


@pytest.fixture(scope="session")
def record(pytestconfig: pytest.Config) -> Iterator[Record]:
    """What the tests came to; a run with the chaos tests writes it down."""
    record = pytestconfig.stash.setdefault(RECORD, Record())
    yield record
    if "not chaos" not in pytestconfig.getoption("markexpr"):
        record.write()


@pytest.fixture(scope="session")
def chaos_folder(pytestconfig: pytest.Config) -> Path:
    """Short, for the sockets in it."""
    return pytestconfig.stash[FOLDER] / "chaos"


@pytest.fixture(scope="session")
def ground(chaos_folder: Path, warden: Warden) -> Iterator[Ground]:
    """A database that may go away at any moment; each test leaves its server running."""
    ground = Ground(chaos_folder, warden, version=POSTGRES_VERSION)
    ground.prepare()
    yield ground
    ground.server.stop()


@pytest.fixture
def zygote(ground: Ground) -> Iterator[Zygote]:
    """Forks processes of the engine that nobody wakes."""
    with ground.zygote() as zygote:
        yield zygote
