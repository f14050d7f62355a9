"""Running figures one after the other: what each measures is told and written down at once, and what fails stops nobody
else.
"""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks import page
from tests.benchmarks.figure import Figure
from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import HEAD, Line, say


def measure(figures: Sequence[Figure], ground: Ground, scale: str, to: Path | None) -> list[str]:
    """Measure these and write them to the page `to`, if any; the names of those that were not measured to the end."""
    say(" | ".join(HEAD))
    if to is not None:
        with ground.administration() as server:
            page.write("machine", page.machine(server), to)
    failed = []
    for figure in figures:
        began = time.monotonic()
        lines, trouble = _measured(figure, ground, scale)
        say(f"-- {figure.name}: {time.monotonic() - began:.0f} s{', ' + trouble if trouble else ''}")
        if trouble:
            failed.append(figure.name)
        if to is not None:
            page.write(figure.name, page.shown(lines, scale, trouble=trouble), to)
    if failed:
        say(f"not measured to the end: {', '.join(failed)}")
    return failed


def _measured(figure: Figure, ground: Ground, scale: str) -> tuple[list[Line], str | None]:
    """Its lines, as far as it came, and what went wrong."""
    lines: list[Line] = []
    try:
        with _at_most(figure.minutes[scale]):
            for line in figure.run(ground, scale):
                lines.append(line)
                print(line.as_json(), flush=True)
                say(" | ".join(line.as_cells()))
    except Exception as problem:
        traceback.print_exc()
        last = (str(problem).strip().splitlines() or [""])[-1]
        return lines, f"{type(problem).__name__}: {last}"
    return lines, None


@contextmanager
def _at_most(minutes: float) -> Iterator[None]:
    """Raise TimeoutError in the block after so many minutes."""

    def over(number: int, frame: object) -> None:
        raise TimeoutError(f"given up after {minutes:g} minutes")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
