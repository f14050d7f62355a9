"""docs/reliability.md: what the chaos tests did, and what was lost and doubled. They write it, nobody else.

A row is written when all parts of its test ran, in their long form; the others stay as the run before left them.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from config.local import ROOT
from tests.servers import POSTGRES_VERSION

PAGE = ROOT / "docs" / "reliability.md"
HEAD = """\
# Reliability

What is done to the engine in its tests, and what came of it. This page is written by the tests themselves
(`script/test --chaos`, in `tests/chaos`); a row says when and on which PostgreSQL it was seen last.

**Lost** counts instances that did not end as they do undisturbed, and commits, messages or tasks that are missing.
**Doubled** counts whatever happened twice that must happen once: completed tasks, joins, started instances, delivered
messages. After each test every instance is replayed from its history, decided again command by command, and compared
with the rows of the database; versions and ordinals have no gap. Calls of handlers are at least once by their nature:
each call is found in history as a lock of the task, and each task is completed once.

| what happens | faults | instances | lost | doubled | seen |
|---|---:|---:|---:|---:|---|
"""
# Test -> what happens there, in words.
ROWS = {
    "points": "kill -9 before or after a round trip to the database, at every one of every verb; a new process goes on",
    "storm": "every 3 seconds PostgreSQL is stopped at once, Redis killed and emptied, a worker or beat killed",
    "cuts": "the connection is cut in the middle of COMMIT: before it, after it, while it is on its way",
    "race": "16 processes on one instance of 200 parallel branches",
    "readonly": "the database is read-only for a while: each verb says so",
    "full": "the disk of the database is full for a while: the verbs say so, the server stops and comes back",
}


@dataclass
class Row:
    """What came of a test, added up over its parts."""

    faults: int = 0
    instances: int = 0
    lost: int = 0
    doubled: int = 0
    parts: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass
class Record:
    """Holds the rows of a run, and lines for its end."""

    rows: dict[str, Row] = field(default_factory=dict)
    complete: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    def add(
        self, name: str, *, faults: int, instances: int, lost: int, doubled: int, of: int = 1, note: str = ""
    ) -> None:
        """One part of a test, of so many."""
        row = self.rows.setdefault(name, Row())
        row.faults += faults
        row.instances += instances
        row.lost += lost
        row.doubled += doubled
        row.parts += 1
        if note:
            row.notes.append(note)
        if row.parts == of:
            self.complete.add(name)

    def write(self, page: Path = PAGE) -> None:
        """Bring the page up to date, where a test has run to its end."""
        if not self.complete:
            return
        there = page.read_text().splitlines() if page.exists() else []
        lines = {name: line for name, said in ROWS.items() for line in there if line.startswith(f"| {said}")}
        seen = f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {POSTGRES_VERSION}, Python {platform.python_version()}"
        for name in self.complete:
            row = self.rows[name]
            said = "; ".join([ROWS[name], *row.notes])
            lines[name] = f"| {said} | {row.faults} | {row.instances} | {row.lost} | {row.doubled} | {seen} |"
        page.parent.mkdir(exist_ok=True)
        page.write_text(HEAD + "".join(f"{lines[name]}\n" for name in ROWS if name in lines))
