"""Decisions (DMN) evaluated for whoever asks; those of business rule tasks are evaluated by the step itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from bpm.decisions import Evaluation
from bpm.engine.acting import named
from bpm.engine.errors import EvaluationFailed, Invalid, NotFound
from bpm.engine.variables import checked
from bpm.expressions import ExpressionError, Host, to_json, typed
from bpm.store import decisions, schedule
from bpm.store.decisions import DecisionDefinition

# The largest version; a column of the database holds it.
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What a decision gives, as JSON values. `rows`: the outputs of the rules that counted, one context each; `tables`:
    every table on the way with its inputs and the rules that matched; `warnings`: why something is null.
    """

    definition: DecisionDefinition
    result: Any
    rows: list[Any]
    tables: list[dict[str, Any]]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """All of it as one JSON object."""
        known = self.definition
        return {
            "decision": {"id": str(known.id), "key": known.key, "version": known.version, "name": known.name},
            "result": self.result,
            "rows": self.rows,
            "tables": self.tables,
            "warnings": list(self.warnings),
        }


def evaluate_decision(
    decision: str | UUID,
    variables: Mapping[str, Any] | None = None,
    *,
    version: int | None = None,
    version_tag: str | None = None,
) -> Evaluated:
    """Evaluate a deployed decision with these variables: its key (the newest version, or the one of that number or tag)
    or the id of a definition. Nothing is recorded.

    Raises NotFound, InvalidVariables, EvaluationFailed.
    """
    definition = find_decision(decision, version=version, version_tag=version_tag)
    try:
        given = typed.for_feel(checked(variables))
        found = definition.evaluator.evaluate(definition.key, given, Host(now=cache(schedule.now)))
        return Evaluated(definition=definition, **_as_json(found), warnings=found.warnings)
    except ExpressionError as fault:
        raise EvaluationFailed(f"the decision {definition.key} cannot be evaluated: {fault}") from None


def find_decision(
    decision: str | UUID, *, version: int | None = None, version_tag: str | None = None
) -> DecisionDefinition:
    """The definition that is meant. Raises NotFound, Invalid."""
    if isinstance(decision, UUID):
        return _known(decision)
    named(decision, "decision")
    if version is not None and not 0 < version <= LARGEST:
        raise Invalid(f"version must be a whole number from 1 to {LARGEST}")
    if version_tag is not None:
        named(version_tag, "version_tag")
    found = decisions.find(decision, version=version, version_tag=version_tag)
    if found is not None:
        return decisions.load(found)
    try:
        return _known(UUID(decision))
    except ValueError:
        said = {"version": version, "version tag": version_tag}
        which = "".join(f" with the {name} {value}" for name, value in said.items() if value is not None)
        raise NotFound(f"there is no decision {decision}{which}") from None


def _known(id: UUID) -> DecisionDefinition:
    try:
        return decisions.load(id)
    except KeyError:
        raise NotFound(f"there is no decision definition {id}") from None


def _as_json(found: Evaluation) -> dict[str, Any]:
    return {
        "result": to_json(found.value),
        "rows": to_json(list(found.rows)),
        "tables": [table.to_json() for table in found.tables],
    }
