"""Business rule tasks whose decision (DMN) the engine evaluates itself.

Which version of the decision is meant lies outside the instance: the shell answers with the id of the decision's
definition, which is logged with the command, and brings the compiled model, which never changes. What matched on which
inputs is an event of its own, DECISION_EVALUATED.
"""

from __future__ import annotations

from typing import Any

from bpm.decisions import Evaluation, mapped
from bpm.expressions import ExpressionError, to_json
from bpm.graph import DecisionSpec, Node
from bpm.semantics import view
from bpm.semantics.formulas import host, seen_by, text
from bpm.semantics.mappings import bring_back, keep_beside, take_in
from bpm.semantics.work import Stuck, Work

# By this name output mappings find the result (as in Camunda 7): a list of one context a rule.
RESULT = "decisionResult"


def enter_decision(work: Work, token: int, node: Node) -> bool:
    """Evaluate the decision with the variables that the token sees, and write its result. Raises Stuck, also where more
    rules match than a hit policy allows: DMN makes null of that, which a process must not go on with unseen (Camunda 7
    and 8 stop there, too: DmnHitPolicyException).
    """
    spec = node.decision
    assert spec is not None
    take_in(work, work.token(token), node)
    key = text(work, token, spec.target)
    if not key:
        raise Stuck("decision", f"{node.id} names no decision")
    id = _definition(work, token, spec, key)
    try:
        evaluation = view.model(work.state, id).evaluate(key, seen_by(work, token, "feel"), host(work, token, "feel"))
        result = to_json(mapped(evaluation, spec.mapping))
        rows = to_json(list(evaluation.rows))
        said = _said(evaluation)
    except ExpressionError as fault:
        raise Stuck("decision", f"the decision {key} cannot be evaluated: {fault}") from None
    if evaluation.broken:
        raise Stuck("decision", f"the decision {key} is not clear: {evaluation.broken[0]}")
    # A variable's value stands in history once: with the event that writes it.
    said |= {"variable": spec.result_variable} if spec.result_variable else {"result": result}
    work.emit("DECISION_EVALUATED", work.new_id(), token=token, node=node.id, reason="work", decision=id, key=key,
              **said)  # fmt: skip
    if node.outputs:
        keep_beside(work, token, {RESULT: rows})
    if spec.result_variable:
        bring_back(work, token, node, {spec.result_variable: result})
    return True


def _definition(work: Work, token: int, spec: DecisionSpec, key: str) -> str:
    """The id of the decision's definition that is meant now. Raises Stuck where there is none."""
    version = text(work, token, spec.version)
    found = work.answer("decision", key, spec.binding, version)
    if found is None:
        which = "" if version is None else f" ({spec.binding.replace('_', ' ')} {version})"
        raise Stuck("decision", f"there is no decision {key}{which}")
    return str(found)


def _said(evaluation: Evaluation) -> dict[str, Any]:
    """What history keeps of the way to the result: tables with inputs and matched rules; why something is null."""
    said: dict[str, Any] = {"tables": [table.to_json() for table in evaluation.tables]}
    return said | ({"warnings": list(evaluation.warnings)} if evaluation.warnings else {})
