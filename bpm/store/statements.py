"""Named statements of sql/*.sql: SQL that locks, claims, sweeps or reads much is written there, with a line that says
why.

A file is a list of

    -- name: fetch_and_lock
    -- why it is so
    WITH ...
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def all_statements() -> dict[str, LiteralString]:
    """name -> SQL of the store's own statements."""
    return statements_of(__name__.rpartition(".")[0])


def statements_of(package: str) -> dict[str, LiteralString]:
    """name -> SQL of the files in a package's folder sql. Raises ValueError for a name given twice or a statement that
    says nothing about itself.
    """
    found: dict[str, LiteralString] = {}
    for file in sorted(files(package).joinpath("sql").iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".sql"):
            continue
        parts = _NAME.split(file.read_text())[1:]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in found:
                raise ValueError(f"two statements are named {name}")
            if not text.lstrip().startswith("--"):
                raise ValueError(f"statement {name} does not say why it is so")
            # The files are part of the program, as literal as a string in it.
            found[name] = cast(LiteralString, text.strip().rstrip(";"))
    return found


def sql(name: str) -> LiteralString:
    """The statement of that name; KeyError where there is none."""
    return all_statements()[name]
