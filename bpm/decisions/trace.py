"""What an evaluation leaves behind for history: which rules of which tables matched, on which inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bpm.expressions import EvaluationFault, Json, to_json
from bpm.expressions.feel_values import text_of
from bpm.expressions.limits import Budget

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
        """The trace as JSON values, as history keeps it; what no variable could hold (a function) as FEEL writes it."""
        return {
            "decision": self.decision,
            "table": self.table,
            "inputs": [[label, _told(value)] for label, value in self.inputs],
            "rules": [
                {
                    "number": rule.number,
                    "id": rule.id,
                    "outputs": {name: _told(value) for name, value in rule.outputs.items()},
                }
                for rule in self.rules
            ],
        }


def _told(value: object) -> Json:
    try:
        return to_json(value)
    except EvaluationFault:
        return text_of([value], Budget())[1:-1]


@dataclass(slots=True)
class Trace:
    """Where the tables of one evaluation write themselves down, in the order in which they were evaluated. broken: what
    hit policies did not allow."""

    tables: list[TableTrace] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
