"""House rules for the tree around the code: scripts, lock files, contracts, documents, what the wheel ships."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.house.test_code import ROOT, names, tracked

SCRIPTS = sorted((ROOT / "script").iterdir())
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = {"site", "layers", "frameworks", "deciding", "reading", "tables", "sdk"}
PURE = {"expressions", "decisions", "graph", "compiler", "semantics", "replay", "scenarios", "checker"}
# Put together from parts, so that this file does not hold what it forbids.
FORBIDDEN_PLACES = ("/" + "work/", "/" + "root/", "pypi." + "org", "registry." + "npmjs", "files.python" + "hosted")
COMMAND = re.compile(r"\b(?:sh )?(script/[a-z]+|\.ci/run)\b")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_are_posix_and_say_what_they_do(script):
    first, second = script.read_text().splitlines()[:2]
    assert first == "#!/bin/sh"
    assert second.startswith("# ")
    assert os.access(script, os.X_OK)
    subprocess.run(["sh", "-n", script], check=True)


def test_no_place_of_one_machine_is_named():
    text = [file for file in tracked() if file.suffix not in {".png", ".mo", ".sig"}]
    assert names([f for f in text if any(place in f.read_text(errors="replace") for place in FORBIDDEN_PLACES)]) == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-node.lock"])
def test_python_locks_hold_hashes_and_no_addresses(lock):
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "--find-links" not in text
    pins = re.findall(r"^[a-z0-9][a-z0-9._-]*==.*$", text, re.MULTILINE)
    assert pins
    assert all(pin.endswith("\\") for pin in pins), "a pin without a hash"


def test_browser_lock_holds_no_addresses():
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text()


def test_contracts_are_all_there():
    contracts = SETTINGS["tool"]["importlinter"]["contracts"]
    assert {contract["id"] for contract in contracts} == CONTRACTS
    frameworks = next(contract for contract in contracts if contract["id"] == "frameworks")
    assert set(frameworks["source_modules"]) == {f"bpm.{package}" for package in PURE}


def test_every_package_of_bpm_is_under_a_contract():
    layers = next(c for c in SETTINGS["tool"]["importlinter"]["contracts"] if c["id"] == "layers")
    named = {name for layer in layers["layers"] for name in layer.split(" | ")} | set(layers["exhaustive_ignores"])
    packages = {folder.parent.name for folder in (ROOT / "bpm").glob("*/__init__.py")}
    assert packages <= named


def test_tool_settings_live_in_one_file():
    strays = ["ruff.toml", ".ruff.toml", "mypy.ini", "pytest.ini", "tox.ini", "setup.cfg", ".importlinter", "setup.py"]
    assert [name for name in strays if (ROOT / name).exists()] == []


def documents() -> list[Path]:
    return tracked(".md")


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_documents_name_only_commands_that_exist(document):
    commands = set(COMMAND.findall(document.read_text()))
    assert {command for command in commands if not (ROOT / command).exists()} == set()


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_documents_link_only_to_files_that_exist(document):
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_wheel_ships_bpm_and_cockpit_only(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    files = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in files if ".dist-info" not in name} == {"bpm", "cockpit"}
    shipped = {str(f.relative_to(ROOT)) for f in tracked() if f.relative_to(ROOT).parts[0] in {"bpm", "cockpit"}}
    assert shipped - set(files) == set()
