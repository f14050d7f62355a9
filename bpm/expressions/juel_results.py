"""What Camunda 7 calls on a decision's result (DmnDecisionResult and DmnDecisionResultEntries), which here is a list of
one map a rule: `${decisionResult.getSingleResult().discount}`, `${decisionResult.collectEntries("price")}`."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

from bpm.expressions.errors import EvaluationFault


def _one_at_most(found: Sized, what: str) -> None:
    if len(found) > 1:
        raise EvaluationFault(f"the decision gives {len(found)} {what}", expected="one at most")


def _first_result(results: list[Any]) -> Any:
    return results[0] if results else None


def _single_result(results: list[Any]) -> Any:
    _one_at_most(results, "results")
    return _first_result(results)


def _single_entry_of_all(results: list[Any]) -> Any:
    result = _single_result(results)
    return _single_entry(result) if isinstance(result, dict) else result


def _collected(results: list[Any], name: object) -> list[Any]:
    if not isinstance(name, str):
        return []
    return [result[name] for result in results if isinstance(result, dict) and name in result]


def _entry(entries: dict[str, Any], name: object) -> Any:
    return entries.get(name) if isinstance(name, str) else None


def _first_entry(entries: dict[str, Any]) -> Any:
    return next(iter(entries.values()), None)


def _single_entry(entries: dict[str, Any]) -> Any:
    _one_at_most(entries, "values")
    return _first_entry(entries)


# name -> fewest and most arguments, and the function of the value and its arguments
RESULTS: dict[str, tuple[int, int, Callable[..., object]]] = {
    "collectEntries": (1, 1, _collected),
    "getFirstResult": (0, 0, _first_result),
    "getResultList": (0, 0, list),
    "getSingleEntry": (0, 0, _single_entry_of_all),
    "getSingleResult": (0, 0, _single_result),
}
ENTRIES: dict[str, tuple[int, int, Callable[..., object]]] = {
    "getEntry": (1, 1, _entry),
    "getEntryMap": (0, 0, dict),
    "getFirstEntry": (0, 0, _first_entry),
    "getSingleEntry": (0, 0, _single_entry),
}
