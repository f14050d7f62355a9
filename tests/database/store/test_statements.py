"""Every named statement is understood by the server, says why it is so, and is used."""

from __future__ import annotations

import re

import pytest

from bpm.store.statements import all_statements
from config.local import ROOT


@pytest.mark.parametrize("name", sorted(all_statements()))
def test_it_prepares(connection, name):
    found: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        return found.setdefault(match[1], f"${len(found) + 1}")

    statement = re.sub(r"%\((\w+)\)s", numbered, all_statements()[name])
    connection.execute(f"PREPARE it AS {statement}")
    connection.execute("DEALLOCATE it")


def test_all_are_used():
    source = "".join(file.read_text() for file in (ROOT / "bpm").rglob("*.py"))
    unused = [name for name in all_statements() if f'"{name}"' not in source]
    assert unused == []


def test_the_engine_is_the_one_of_the_project():
    from bpm.store.version import ENGINE

    assert f'version = "{ENGINE}"' in (ROOT / "pyproject.toml").read_text()
