"""README, docs/first-hour.md and docs/workers.md as a newcomer follows them: every command and file, word by word.

They are followed in a copy of the tree, so that what they make does not lie about in this one. Its script/setup does
nothing: the packages are those of the tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.valkey import free_port
from tests.conftest import wait_for
from tests.documents import ROOT, Block, blocks
from tests.house.test_code import tracked

README = ROOT / "README.md"
FIRST_HOUR = ROOT / "docs" / "first-hour.md"
WORKERS = ROOT / "docs" / "workers.md"
PATIENCE = 90.0
# The commands of "Run it", and what runs each of them.
RUN_BY = {
    "script/up": "this module",
    "script/up --check": "tests/system/test_up.py",
    "script/test": "whoever runs this",
    "script/lint": ".ci/run",
}


@dataclass(frozen=True)
class Newcomer:
    """A copy of the tree with script/up running in it, and a shell there."""

    folder: Path
    site: subprocess.Popen[bytes]
    address: str

    def save(self, block: Block) -> None:
        """Write the file that a block says it is."""
        assert block.file is not None
        (self.folder / block.file).write_text(block.text)

    def run(self, *scripts: str) -> str:
        """Run shell blocks, one after the other in one shell; what they print, errors too."""
        text = "\n".join(("set -eu", *scripts)).replace("http://127.0.0.1:8000", self.address.rstrip("/"))
        done = subprocess.run(
            ["sh", "-c", text],
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


def environment() -> dict[str, str]:
    """Nearly nothing, as in a new terminal."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


def copy_of_the_tree(folder: Path) -> Path:
    """The files that git knows, the environment of the tests, and a set-up that has nothing to do."""
    for file in tracked():
        there = folder / file.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, there)
    (folder / "script" / "setup").write_text("#!/bin/sh\nexit 0\n")
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory) -> Iterator[Newcomer]:
    with site_of(copy_of_the_tree(tmp_path_factory.mktemp("checkout"))) as newcomer:
        yield newcomer


@contextmanager
def site_of(folder: Path, **settings: str) -> Iterator[Newcomer]:
    """script/up as long as the block lasts."""
    output = folder.parent / f"{folder.name}.log"
    with output.open("w") as file:
        site = subprocess.Popen(
            ["script/up", "--port", str(free_port(8150))],
            cwd=folder,
            env=environment() | settings,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        wait_for(lambda: "Ctrl-C stops" in output.read_text() or site.poll() is not None, PATIENCE, output.read_text)
        found = re.search(r"The cockpit: (\S+)", output.read_text())
        assert found, output.read_text()
        yield Newcomer(folder, site, found.group(1))
    finally:
        stop(site)


def stop(site: subprocess.Popen[bytes]) -> None:
    """Ctrl-C."""
    if site.poll() is None:
        site.send_signal(signal.SIGINT)
        site.wait(60)


def under(document: Path, heading: str, *languages: str) -> list[Block]:
    return [b for b in blocks(document) if b.heading == heading and (not languages or b.language in languages)]


def test_the_commands_of_run_it():
    (block,) = under(README, "Run it", "sh")
    assert block.commands == list(RUN_BY)


def test_five_minutes(newcomer):
    tour = under(README, "Five minutes")
    make, test_and_start, work = [block.text for block in tour if block.language == "sh"]
    files = [block for block in tour if block.language != "sh"]
    assert {block.file for block in files} == {"hello/hello.bpmn", "hello/handlers.py", "hello/hello.yaml"}
    newcomer.run(make)
    for block in files:
        newcomer.save(block)
    said = newcomer.run(test_and_start, 'echo "started $instance"', work)
    assert "1 passed, 0 failed" in said
    assert "hello version 1: deployed" in said
    # It may have helped the site with tasks of the demo instances.
    assert re.search(r"[1-9]\d* tasks? done", said)
    (instance,) = re.findall(r"started (\S+)", said)
    trace = json.loads(newcomer.run(f".venv/bin/python manage.py bpm trace {instance} --json"))
    assert trace[-1]["type"] == "INSTANCE_COMPLETED"
    assert 'greeting = "Hello, Ada!"' in said


def ask(newcomer: Newcomer, token: str, path: str, body: Any) -> Any:
    """POST JSON; the answer's."""
    request = urllib.request.Request(  # noqa: S310
        newcomer.address.rstrip("/") + path,
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
        content = answer.read()
    return json.loads(content) if content else None


def start_hello(newcomer: Newcomer) -> str:
    """Another instance of the README's process; its id."""
    return newcomer.run(""".venv/bin/python manage.py bpm start hello --variables '{"name": "Grace"}'""").split()[-1]


def test_a_program_in_any_language(newcomer):
    instance = start_hello(newcomer)
    token = newcomer.run(".venv/bin/python manage.py bpm token w1 2>/dev/null").strip()
    requests = [block.text.split("\n\n") for block in under(WORKERS, "Programs in any language", "http")]
    task = ""
    for first_line, body in requests:
        answer = ask(newcomer, token, first_line.removeprefix("POST ").replace("TASK", task), json.loads(body))
        if isinstance(answer, list):
            (task,) = [one["id"] for one in answer if one["instance_id"] == instance]
    said = newcomer.run(".venv/bin/python manage.py bpm instances --all --process hello")
    assert re.search(rf"{instance} COMPLETED", said)


def test_a_worker_elsewhere(newcomer):
    instance = start_hello(newcomer)
    (program,) = [block for block in under(WORKERS, "Programs in any language", "python") if block.file]
    newcomer.save(program)
    (shell,) = under(WORKERS, "Programs in any language", "sh")
    text = shell.text.replace("http://127.0.0.1:8000", newcomer.address.rstrip("/"))
    worker = subprocess.Popen(
        ["sh", "-c", text.replace(".venv/bin/python -m", "exec .venv/bin/python -m")],
        cwd=newcomer.folder,
        env=environment(),
    )
    look = f".venv/bin/python manage.py bpm trace {instance} --type INSTANCE_COMPLETED"
    try:
        wait_for(lambda: "INSTANCE_COMPLETED" in newcomer.run(look), 60)
    finally:
        worker.send_signal(signal.SIGINT)
        assert worker.wait(20) == 0
    assert "Hello from elsewhere, Grace!" in newcomer.run(f".venv/bin/python manage.py bpm trace {instance}")


def test_the_first_hour(newcomer):
    (tests,) = under(FIRST_HOUR, "Run one test", "sh")
    said = newcomer.run(tests.text)
    assert len(re.findall(r"\d+ passed", said)) == 3
    assert "5 passed, 0 failed" in said
    look, forbidden = under(FIRST_HOUR, "Look into the database", "sh")
    said = newcomer.run(look.text)
    assert "sequence |" in said
    assert "INSTANCE_STARTED" in said
    said = newcomer.run(forbidden.text)
    assert said.endswith("refused\n")
    assert "only grows: DELETE is refused" in said
    (logs,) = under(FIRST_HOUR, "Logs and ports", "sh")
    assert {"web.log", "worker.log", "beat.log"} <= set(newcomer.run(logs.text).split())


def test_everything_anew_with_an_app_of_ones_own(newcomer):
    """Last, since it ends what the others use: reset, up again with the app, and its task is done by Celery."""
    (reset,) = under(FIRST_HOUR, "Reset the data", "sh")
    stop(newcomer.site)
    newcomer.run(reset.text)
    assert not (newcomer.folder / ".local").exists()
    with site_of(newcomer.folder, EXTRA_APPS="hello") as again:
        again.run(".venv/bin/python manage.py bpm deploy hello")
        instance = start_hello(again)
        look = f".venv/bin/python manage.py bpm trace {instance} --type INSTANCE_COMPLETED"
        wait_for(lambda: "INSTANCE_COMPLETED" in again.run(look), 60)
