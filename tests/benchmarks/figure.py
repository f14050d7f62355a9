"""A figure: what is measured under a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.benchmarks.ground import Ground
from tests.benchmarks.lines import Line

type Run = Callable[[Ground, str], Iterator[Line]]


@dataclass(frozen=True, slots=True)
class Figure:
    """`run` yields lines as it has them. One that takes more than so many minutes (by scale) is given up."""

    name: str
    run: Run
    minutes: Mapping[str, float]
