"""Which of these tests can run here: those whose program is installed (see the dependency groups in pyproject.toml)."""

from __future__ import annotations

from importlib.util import find_spec

from tests.database.audit.conftest import World, bpm, world

__all__ = ["World", "bpm", "world"]

NEEDED = {"test_pm4py.py": "pm4py"}
collect_ignore = [file for file, package in NEEDED.items() if find_spec(package) is None]
