"""What an evaluation leaves behind for history: which rules of which tables matched, on which inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TRACE = "\0trace"
"""Where the scope holds the trace; no expression can write this name."""


@dataclass(frozen=True, slots=True)
class RuleTrace:
    """A rule that matched: its place in the table from 1, its id, its outputs by column."""

    number: int
    id: str
    outputs: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TableTrace:
    """One evaluation of a table: the decision it belongs to, its own id, the inputs by label, the matched rules."""

    decision: str
    table: str
    inputs: tuple[tuple[str, object], ...]
    rules: tuple[RuleTrace, ...]


@dataclass(slots=True)
class Trace:
    """Where the tables of one evaluation write themselves down, in the order in which they were evaluated."""

    tables: list[TableTrace] = field(default_factory=list)
