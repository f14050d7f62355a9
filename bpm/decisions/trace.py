"""What an evaluation leaves behind for history: which rules of which tables matched, on which inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bpm.expressions import Json, to_json

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

    def to_json(self) -> dict[str, Json]:
        """The trace as JSON values, as history keeps it; EvaluationFault for what is no value (a function)."""
        return {
            "decision": self.decision,
            "table": self.table,
            "inputs": [[label, to_json(value)] for label, value in self.inputs],
            "rules": [
                {"number": rule.number, "id": rule.id, "outputs": to_json(dict(rule.outputs))} for rule in self.rules
            ],
        }


@dataclass(slots=True)
class Trace:
    """Where the tables of one evaluation write themselves down, in the order in which they were evaluated."""

    tables: list[TableTrace] = field(default_factory=list)
