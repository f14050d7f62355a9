"""script/up as a person uses it: up, answering, refusing a second one, surviving kill -9, and down without a trace."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from config.valkey import free_port
from tests.conftest import wait_for

ROOT = Path(__file__).resolve().parents[2]
PARTS = re.compile(r"postgres -D|valkey-server|config\.asgi|-A config (worker|beat)")


@pytest.fixture
def up(tmp_path, monkeypatch):
    """A function that starts script/up on a data folder of this test, its output in a file."""
    for name in ("DATABASE_URL", "REDIS_URL", "LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOKENTRAIL_LOCAL", str(tmp_path / "local"))
    started = []

    def start(*arguments):
        output = tmp_path / f"up{len(started)}.log"
        port = free_port(8100)
        with output.open("w") as file:
            command = ["sh", str(ROOT / "script" / "up"), "--port", str(port), *arguments]
            program = subprocess.Popen(command, stdout=file, stderr=file, cwd="/", start_new_session=True)
        started.append(program)
        return program, output

    yield start
    for program in started:
        if program.poll() is None:
            program.terminate()
            program.wait(60)


def address(program: subprocess.Popen[bytes], output: Path) -> str:
    """Where the cockpit is, once script/up has said so."""
    wait_for(lambda: "The cockpit: " in output.read_text() or program.poll() is not None, 90, output.read_text)
    found = re.search(r"The cockpit: (\S+)", output.read_text())
    assert found, output.read_text()
    return found.group(1)


def status(url: str) -> int:
    """The HTTP status of `url`, redirects followed; 0 when nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def running_parts(local: Path) -> list[str]:
    """The command lines of the servers and processes that work on this data folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            environment = (process / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if PARTS.search(command) and (str(local) in command or str(local) in environment):
            found.append(command)
    return found


def test_up_and_down(up, tmp_path):
    local = tmp_path / "local"
    program, output = up()
    cockpit = address(program, output)
    assert status(cockpit) == 200
    assert len(running_parts(local)) >= 5

    second, refusal = up()
    assert second.wait(30) == 1
    assert f"script/up runs already: process {program.pid}" in refusal.read_text()
    assert cockpit in refusal.read_text()

    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    wait_for(lambda: running_parts(local) == [], 30, lambda: "\n".join(running_parts(local)))
    assert status(cockpit) == 0

    third, output = up()
    assert status(address(third, output)) == 200
    third.terminate()
    assert third.wait(60) == 0
    assert running_parts(local) == []


def test_a_process_that_ends_is_reported_and_started_again(up, tmp_path):
    program, output = up()
    address(program, output)
    worker = int((tmp_path / "local" / "log" / "worker.pid").read_text())
    os.killpg(worker, signal.SIGKILL)
    wait_for(lambda: "starting worker again" in output.read_text(), 30, output.read_text)
    assert "worker was ended by signal 9" in output.read_text()
    program.send_signal(signal.SIGINT)
    assert program.wait(60) == 0


def test_check_prints_the_trace_of_an_order_alone(tmp_path, monkeypatch):
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("TOKENTRAIL_LOCAL", str(tmp_path / "local"))
    command = ["sh", str(ROOT / "script" / "up"), "--check", "--port", str(free_port(8100))]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    trace = json.loads(done.stdout)
    assert trace["state"] == "COMPLETED"
    types = [event["type"] for event in trace["events"]]
    assert types[0] == "INSTANCE_STARTED"
    assert types[-1] == "INSTANCE_COMPLETED"
    assert types.count("TASK_FAILED") == 1, "the first try to charge the card fails"
    assert types.count("TOKEN_JOINED") == 1
    assert {event["worker"] for event in trace["events"] if event["type"] == "TASK_COMPLETED"}
    assert running_parts(tmp_path / "local") == []


def test_a_database_that_cannot_be_reached_is_said(up, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    program, output = up()
    assert program.wait(60) == 1
    assert "cannot use the database of DATABASE_URL" in output.read_text()
