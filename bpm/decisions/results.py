"""What of a decision's result goes into the process: Camunda's result mappings (`camunda:mapDecisionResult`)."""

from __future__ import annotations

from collections.abc import Callable

from bpm.decisions.evaluate import Evaluation
from bpm.expressions import EvaluationFault


def mapped(evaluation: Evaluation, mapping: str | None) -> object:
    """The result by the name of a mapping; EvaluationFault when the result is larger than the mapping allows.

    singleEntry: the only value there is, or null; singleResult: the only row, or null; collectEntries: the
    values of the only
    column; resultList: the rows; None, as Zeebe has it: the value as DMN defines it."""
    if mapping is None:
        return evaluation.value
    try:
        return MAPPINGS[mapping](evaluation)
    except KeyError:
        raise EvaluationFault(f"there is no result mapping {mapping!r}", expected=", ".join(MAPPINGS)) from None


def _single_result(evaluation: Evaluation) -> dict[str, object] | None:
    if len(evaluation.rows) > 1:
        raise EvaluationFault(f"the decision gives {len(evaluation.rows)} results", expected="one at most")
    return dict(evaluation.rows[0]) if evaluation.rows else None


def _single_entry(evaluation: Evaluation) -> object:
    row = _single_result(evaluation) or {}
    if len(row) > 1:
        raise EvaluationFault(f"the decision gives {len(row)} values", expected="one at most")
    return next(iter(row.values()), None)


def _collect_entries(evaluation: Evaluation) -> list[object]:
    if any(len(row) > 1 for row in evaluation.rows):
        raise EvaluationFault("the rows of the decision have several values", expected="one column")
    return [value for row in evaluation.rows for value in row.values()]


def _result_list(evaluation: Evaluation) -> list[dict[str, object]]:
    return [dict(row) for row in evaluation.rows]


MAPPINGS: dict[str, Callable[[Evaluation], object]] = {
    "singleEntry": _single_entry,
    "singleResult": _single_result,
    "collectEntries": _collect_entries,
    "resultList": _result_list,
}
