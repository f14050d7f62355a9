"""Other engines at the same work, on the same server, in the same run; each in an environment of its own."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """The peers."""
    yield from ()
