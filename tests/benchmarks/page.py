"""docs/performance.md. People write its text; between two marks stands what a run has measured:

    <!-- measured: hot-path -->
    ...
    <!-- end -->

A run rewrites what stands between the marks of its own figures and leaves everything else as it is.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import django
import psycopg

from config.local import ROOT
from tests.benchmarks.lines import HEAD, Line

PAGE = ROOT / "docs" / "performance.md"
END = "<!-- end -->"
HOW = {"short": "with tiny numbers, which say nothing", "usual": "script/bench", "full": "script/bench --full"}


class NoPlace(Exception):
    """The page has no marks of that name."""


def write(name: str, text: str, page: Path = PAGE) -> None:
    """Put the text between the marks of that name. Raises NoPlace."""
    before = page.read_text()
    mark = f"<!-- measured: {name} -->"
    place = re.compile(re.escape(mark) + r"\n.*?" + re.escape(END), re.DOTALL)
    if not place.search(before):
        raise NoPlace(f"{page.name} has no place for {name}")
    after = place.sub(lambda _: f"{mark}\n{text.rstrip()}\n{END}", before)
    if after != before:
        page.write_text(after)


def shown(lines: Sequence[Line], scale: str, *, trouble: str | None = None) -> str:
    """The lines as a table, with when and how they were measured, and on what."""
    said = [*_table(lines), ""] if lines else []
    if trouble:
        said += [f"**Not measured to the end:** {trouble}", ""]
    return "\n".join(["", *said, f"*{_now()}, {HOW[scale]}, {_commit()}, {_machine()}.*", ""])


def machine(server: psycopg.Connection) -> str:
    """What the last run ran on."""
    rows = [
        ("machine", f"{os.cpu_count()} cores that server and clients share, {_cpu()}, {_memory()} of memory"),
        ("system", f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}"),
        ("PostgreSQL", str(server.execute("SHOW server_version").fetchone()[0])),
        *(
            (f"`{name}`", str(server.execute(f"SHOW {name}").fetchone()[0]))
            for name in ("synchronous_commit", "fsync", "full_page_writes", "shared_buffers", "max_wal_size")
        ),
        ("its data", f"on {_file_system(str(server.execute('SHOW data_directory').fetchone()[0]))}"),
        ("Python", f"{platform.python_version()}, Django {django.__version__}, psycopg {psycopg.__version__}"),
        ("last run", f"{_now()}, {_commit()}"),
    ]
    return "\n".join(["", "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows), ""])


def _table(lines: Sequence[Line]) -> list[str]:
    rows = [line.as_cells() for line in lines]
    used = [place for place in range(len(HEAD)) if any(row[place] for row in rows)]
    right = {"connections", "value", "of the limit", "of bare", "n × repetitions", "spread"}
    rule = "|".join("---:" if HEAD[place] in right else "---" for place in used)
    return [
        "| " + " | ".join(HEAD[place] for place in used) + " |",
        f"|{rule}|",
        *("| " + " | ".join(row[place] for place in used) + " |" for row in rows),
    ]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _commit() -> str:
    try:
        head = _git("describe", "--always")
        # The page itself is written from figure to figure.
        changed = _git("status", "--porcelain", "--", ".", f":!{PAGE.relative_to(ROOT)}")
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
    return f"commit {head}{' with changes' if changed else ''}"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _machine() -> str:
    return f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}"


def _cpu() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.processor() or "unknown processor"


def _file_system(folder: str) -> str:
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "an unknown file system"
    there = [(len(place), kind) for place, kind in mounts if f"{folder}/".startswith(f"{place.rstrip('/')}/")]
    return max(there)[1]


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
