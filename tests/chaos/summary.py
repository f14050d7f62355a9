"""What the chaos tests did, at the end of a run: a pytest plugin (`-p tests.chaos.summary`).

In a parallel run the processes that run tests hand their lines to the one that prints.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.chaos.reliability import Record

RECORD = pytest.StashKey[Record]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """One process of several hands over what it did."""
    handed = getattr(session.config, "workeroutput", None)
    if handed is not None:
        handed["chaos"] = session.config.stash.setdefault(RECORD, Record()).lines


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """It is handed over."""
    node.config.stash.setdefault(RECORD, Record()).lines += getattr(node, "workeroutput", {}).get("chaos", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Faults, instances, how long it took."""
    record = config.stash.get(RECORD, None)
    if record is not None and record.lines:
        terminalreporter.section("chaos")
        for line in record.lines:
            terminalreporter.write_line(line)
