"""Every named statement of this package is understood by the server, says why it is so, and is used."""

from __future__ import annotations

import re

import pytest
from django.db import connection

from bpm.audit.statements import all_statements
from config.local import ROOT

# Made by one statement for the next; PostgreSQL prepares no such thing.
TEMPORARY = ("generate_",)


@pytest.mark.parametrize("name", sorted(name for name in all_statements() if not name.startswith(TEMPORARY)))
def test_it_prepares(db, name):
    found: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        return found.setdefault(match[1], f"${len(found) + 1}")

    statement = re.sub(r"%\((\w+)\)s", numbered, all_statements()[name])
    with connection.cursor() as cursor:
        cursor.execute(f"PREPARE it AS {statement}")
        cursor.execute("DEALLOCATE it")


def test_all_are_used():
    source = "".join(file.read_text() for file in (ROOT / "bpm" / "audit").rglob("*.py"))
    assert [name for name in all_statements() if f'"{name}"' not in source] == []
