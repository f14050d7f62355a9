"""How script/setup finds a Python, with stand-ins for what a machine may have on PATH."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[2] / "script" / "setup"
# Whether an interpreter serves is asked with -c; a stand-in answers with its exit code alone.
SERVES = "exit 0"
SHIM_OF_ANOTHER_VERSION = "exit 127"


def stand_in(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path):
    """A folder first on PATH where no Python serves, an account without a home, and a function that asks."""
    programs = tmp_path / "programs"
    for name in ("python3", "python3.12", "python3.13", "python3.14"):
        stand_in(programs / name, SHIM_OF_ANOTHER_VERSION)
    stand_in(programs / "id", "echo nobody-of-this-name")

    def find(*first: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        path = ":".join([*map(str, first), str(programs), "/usr/bin", "/bin"])
        return subprocess.run(
            ["/bin/sh", SETUP, "--find-python"],
            env={"PATH": path, "HOME": str(tmp_path / "home"), **environment},
            capture_output=True,
            text=True,
        )

    find.programs = programs
    return find


def test_the_newest_on_path_that_serves(machine):
    stand_in(machine.programs / "python3.12", SERVES)
    expected = stand_in(machine.programs / "python3.13", SERVES)
    assert machine().stdout.strip() == str(expected)


@pytest.mark.parametrize("where", ["beside the pyenv on PATH", "in PYENV_ROOT", "in HOME"])
def test_a_version_of_pyenv_whose_shim_does_not_run(machine, tmp_path, where):
    root = tmp_path / "home" / ".pyenv" if where == "in HOME" else tmp_path / "elsewhere"
    stand_in(root / "versions" / "3.13.9" / "bin" / "python3", SERVES)
    expected = stand_in(root / "versions" / "3.13.10" / "bin" / "python3", SERVES)
    stand_in(root / "versions" / "3.11.12" / "bin" / "python3", SERVES)
    stand_in(root / "bin" / "pyenv", "exit 1")
    found = {
        "beside the pyenv on PATH": lambda: machine(root / "bin"),
        "in PYENV_ROOT": lambda: machine(PYENV_ROOT=str(root)),
        "in HOME": machine,
    }[where]()
    assert found.stdout.strip() == str(expected)


def test_a_python_that_was_chosen(machine, tmp_path):
    chosen = stand_in(tmp_path / "mine", SERVES)
    assert machine(PYTHON=str(chosen)).stdout.strip() == str(chosen)


def test_a_chosen_python_that_does_not_serve_is_refused(machine, tmp_path):
    refused = machine(PYTHON=str(stand_in(tmp_path / "old", "exit 1")))
    assert refused.returncode == 1
    assert "is no Python 3.12 to 3.14" in refused.stderr


def test_where_there_is_none_uv_fetches_one(machine, tmp_path):
    asked = tmp_path / "asked"
    uv = f'echo "$@" >>{asked}\n[ "$2" != find ] || echo /fetched/python3'
    stand_in(machine.programs / "uv", uv)
    assert machine().stdout.strip() == "/fetched/python3"
    assert asked.read_text().splitlines() == ["python install 3.13", "python find 3.13"]


def test_when_uv_cannot_it_says_what_to_do(machine):
    stand_in(machine.programs / "uv", "exit 2")
    failed = machine()
    assert failed.returncode == 1
    assert "install Python 3.12 or newer" in failed.stderr
