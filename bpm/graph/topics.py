"""The topics that tasks of a process have."""

from __future__ import annotations

from collections.abc import Iterable

from bpm.expressions import ExpressionError, compile_text
from bpm.graph.model import Formula, Process


def topics_of(processes: Iterable[Process]) -> frozenset[str] | None:
    """The topics of the processes' tasks; None where one of them is computed, and so may be any."""
    nodes = (node for process in processes for node in process.nodes.values())
    formulas = {node.work.topic for node in nodes if node.work is not None}
    return frozenset(one.text for one in formulas) if all(map(_literal, formulas)) else None


def _literal(formula: Formula) -> bool:
    if formula.kind != "text" or formula.language is not None:
        return False
    try:
        return compile_text(formula.text).language is None
    except ExpressionError:
        return False
