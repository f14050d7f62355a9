"""A database that takes no changes, read-only or with a full disk: clear errors, and all goes on when it is over."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.chaos.ground import Ground
from tests.conftest import wait_for
from tests.servers import POSTGRES_VERSION

SIZE = "224m"


def set_read_only(ground: Ground, switch: str) -> None:
    """For every session, also those that are open."""
    with psycopg.connect(ground.url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {switch}")
        connection.execute("SELECT pg_reload_conf()")
    shown = lambda: ground.execute("SHOW default_transaction_read_only") == [(switch,)]  # noqa: E731
    wait_for(shown, 10)


def test_a_read_only_database_says_so_and_nothing_is_lost(ground, zygote, record):
    there = zygote.call("tests.chaos.asking:prepare", prefix="readonly")
    before = zygote.call("tests.chaos.asking:counts")
    set_read_only(ground, "on")
    try:
        heard = zygote.call("tests.chaos.asking:ask_all", there=there)
        api = zygote.call("tests.chaos.asking:ask_api", there=there)
        assert zygote.call("tests.chaos.asking:counts") == before
    finally:
        set_read_only(ground, "off")
    assert {verb: error[0] for verb, error in heard.items()} == dict.fromkeys(heard, "OperationalError")
    assert all("the database is read-only" in error[1] for error in heard.values()), heard
    assert (api["reading"], api["writing"], api["retry_after"]) == (200, 503, "1")
    assert (api["said"]["code"], api["said"]["detail"][:25]) == ("unavailable", "the database is read-only")
    # The same calls, with the same keys.
    assert zygote.call("tests.chaos.asking:ask_all", there=there) == {verb: [] for verb in heard}
    assert zygote.call("tests.chaos.asking:ask_api", there=there)["writing"] == 201
    problems = zygote.call("tests.chaos.asking:problems", prefix="readonly")
    record.add(
        "readonly", faults=len(heard) + 1, instances=problems["instances"], lost=len(problems["found"]), doubled=0
    )
    assert problems["found"] == []


@pytest.fixture
def small_disk(chaos_folder: Path) -> Iterator[Path]:
    """A folder that has little room."""
    folder = chaos_folder.parent / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here, so no disk can be filled: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave no room at all."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    os.write(file.fileno(), b"x" * size)
            except OSError:
                continue
    return ballast


def fill_log(ground: Ground, megabytes: int) -> str:
    """Write to the server's log alone until that has no room; the server may stop for want of it, as it should. What
    happened.
    """
    for number in range(megabytes):
        try:
            ground.execute("SELECT pg_logical_emit_message(true, 'fill', repeat('x', 1 << 20))")
        except psycopg.Error:
            state = "still answers" if ground.server.answers() else "has stopped"
            return f"full disk: after {number} MB of log the server {state}"
    return f"full disk: there was room for {megabytes} MB of log"


def back(ground: Ground) -> bool:
    """Whether the server answers; one that has ended is started again, as a supervisor does."""
    if ground.server.exit_code() is not None:
        ground.server.start()
    return ground.server.answers()


def test_a_full_disk_says_so_and_nothing_is_lost(ground, small_disk, warden, record):
    full = Ground(small_disk, warden, version=POSTGRES_VERSION, options={"max_wal_size": "32MB"})
    full.prepare(like=ground)
    try:
        with full.zygote() as zygote:
            there = zygote.call("tests.chaos.asking:prepare", prefix="full")
            ballast = fill(small_disk)
            before = zygote.call("tests.chaos.asking:counts")
            kind, said = zygote.call("tests.chaos.asking:start_large", number=60)
            assert kind == "OperationalError"
            assert "the disk of the database is full" in said
            started = zygote.call("tests.chaos.asking:counts")[2] - before[2]
            record.lines.append(fill_log(full, 64))
            ballast.unlink()
            wait_for(lambda: back(full), 60, full.server.last_words)
            # What was told to be done is done; what was refused is done when it is asked again with its key.
            assert zygote.call("tests.chaos.asking:counts")[2] == before[2] + started
            assert zygote.call("tests.chaos.asking:start_large", number=started + 1) == []
            assert zygote.call("tests.chaos.asking:counts")[2] == before[2] + started + 1
            heard = zygote.call("tests.chaos.asking:ask_all", there=there)
            assert heard == {verb: [] for verb in heard}
            problems = zygote.call("tests.chaos.asking:problems")
            record.add("full", faults=2, instances=problems["instances"], lost=len(problems["found"]), doubled=0)
            assert problems["found"] == []
    finally:
        full.server.stop()
        shutil.rmtree(small_disk / "pg", ignore_errors=True)
