"""The environment of the peers: made from requirements-peers.lock (the dependency group `peers`) when asked for."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from config.local import ROOT, local_folder

LOCK = ROOT / "requirements-peers.lock"
PROGRAMS = Path(__file__).with_name("programs")


class Missing(Exception):
    """The peers' packages are not there and could not be fetched."""


def installed() -> Path | None:
    """The Python of the environment, if it is there and current."""
    folder = local_folder() / "peers"
    mark = folder / "made-from"
    if mark.is_file() and mark.read_text() == _wanted():
        return folder / "bin" / "python"
    return None


def install() -> Path:
    """Make it, unless it is there; its Python. Raises Missing."""
    there = installed()
    if there is not None:
        return there
    folder = local_folder() / "peers"
    python = folder / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    for command in (
        [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)],
        [str(uv), "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(LOCK)],
    ):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"the peers could not be installed: {done.stderr.strip()[-300:]}")
    (folder / "made-from").write_text(_wanted())
    return python


def run(python: Path, program: str, arguments: Sequence[object], processes: int = 1) -> float:
    """Let so many processes of a program begin at the same moment; operations a second of all together.

    Raises RuntimeError with what a program that failed said.
    """
    command = [str(python), str(PROGRAMS / f"{program}.py"), *map(str, arguments)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    try:
        for one in started:
            while (line := one.stdout.readline()).strip() != "ready":
                if not line:
                    raise RuntimeError(f"{program} failed:\n{one.stderr.read()[-1500:]}")
        for one in started:
            one.stdin.write("go\n")
            one.stdin.flush()
        told = []
        for one in started:
            said, trouble = one.communicate()
            lines = [line for line in said.splitlines() if line.startswith("{")]
            if not lines:
                raise RuntimeError(f"{program} failed:\n{trouble[-1500:]}")
            told.append(json.loads(lines[-1]))
    finally:
        for one in started:
            if one.poll() is None:
                one.kill()
            one.wait()
    seconds = max(one["ended"] for one in told) - min(one["began"] for one in told)
    return float(sum(one["n"] for one in told) / seconds)


def _wanted() -> str:
    return f"{sys.version} {hashlib.sha256(LOCK.read_bytes()).hexdigest()}"
