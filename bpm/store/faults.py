"""Fault points: where a process may die. The tests of tests/chaos kill it at each of them.

There is one before and one after every round trip to the database. With TOKENTRAIL_FAULT_POINT=7 a process ends itself
by SIGKILL at the seventh that it reaches (0: at none); with TOKENTRAIL_FAULT_LOG=FILE it notes the name of each before
that. This works only in a database that a superuser has marked as one for tests, as its clock does; anywhere else the
first point raises. Without the variable POINT is None, and that is all there is.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from bpm.store.statements import all_statements

VARIABLE = "TOKENTRAIL_FAULT_POINT"
LOG = "TOKENTRAIL_FAULT_LOG"

type Point = Callable[[psycopg.Connection[Any], str, Sequence[tuple[str, Any]]], None]

_MARKED = """SELECT EXISTS (
    SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
    WHERE c.relname = 'tokentrail_test_database' AND c.relkind = 'r' AND r.rolsuper
)"""


def arm() -> Point | None:
    """The function that is called at each point, as the environment says now; None where it says nothing.

    A process that was forked asks again.
    """
    global POINT
    said = os.environ.get(VARIABLE)
    POINT = None if said is None else _point(int(said), os.environ.get(LOG))
    return POINT


def _point(deadly: int, log: str | None) -> Point:
    reached = 0

    def point(raw: psycopg.Connection[Any], side: str, statements: Sequence[tuple[str, Any]]) -> None:
        nonlocal reached
        if reached == 0 and side == "before":
            _refuse_unless_for_tests(raw)
        reached += 1
        if log:
            with Path(log).open("a") as file:
                file.write(f"{side} {' + '.join(_name(sql) for sql, _ in statements)}\n")
        if reached == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    return point


def _refuse_unless_for_tests(raw: psycopg.Connection[Any]) -> None:
    row = psycopg.Cursor(raw).execute(_MARKED).fetchone()
    if row is None or not row[0]:
        raise RuntimeError(f"{VARIABLE} is set, but this database is not marked as one for tests")


@cache
def _names() -> dict[str, str]:
    return {text: name for name, text in all_statements().items()}


def _name(sql: str) -> str:
    """A named statement by its name, another one by its first word."""
    return _names().get(sql) or sql.split(maxsplit=1)[0]


POINT: Point | None = None
arm()
