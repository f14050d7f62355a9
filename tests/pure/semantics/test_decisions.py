"""Decisions that the engine evaluates: which one, what it sees, where its result goes, what history says of it."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

import pytest

from bpm.decisions import Decisions, Evaluator
from bpm.decisions.model import Decision, Expression, Input, Model, Output, Rule, Table
from bpm.graph import DecisionSpec, Formula, Mapping
from bpm.replay import verify
from bpm.semantics import commands as c
from tests.pure.replay.recording import Recording
from tests.pure.semantics.drawing import Run, draw

RATES = Table(
    inputs=(Input(Expression("amount"), label="Amount"),),
    outputs=(Output("rate", type="number"),),
    rules=(
        Rule((Expression("< 100"),), (Expression("1"),), id="small"),
        Rule((Expression(">= 50"),), (Expression("amount / 100"),), id="large"),
    ),
    hit_policy="COLLECT",
    id="t",
)


def evaluator(logic: Any) -> Evaluator:
    return Evaluator(Decisions((Model("tests", elements=(Decision("D", "rate", logic),)),)))


KNOWN = {"D": evaluator(RATES)}
GRAPH = ("start s > decision D > external A > end e",)


def spec(**said: Any) -> dict[str, Any]:
    return {"decision": DecisionSpec(target=Formula(text="D"), **said)}


def test_the_result_and_the_way_to_it_are_in_history() -> None:
    run = Run(draw(*GRAPH), decisions=KNOWN, variables={"amount": 80})

    assert run.variable("result") == [1, Decimal("0.8")]
    (evaluated,) = [event for event in run.events if event.type == "DECISION_EVALUATED"]
    assert (evaluated.node, evaluated.token) == ("D", 1)
    assert evaluated.payload == {
        "decision": "D",
        "key": "D",
        "variable": "result",
        "tables": [
            {
                "decision": "D",
                "table": "t",
                "inputs": [["Amount", 80]],
                "rules": [
                    {"number": 1, "id": "small", "outputs": {"rate": 1}},
                    {"number": 2, "id": "large", "outputs": {"rate": Decimal("0.8")}},
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("mapping", "amount", "result"),
    [
        ("singleEntry", 20, 1),
        ("singleResult", 20, {"rate": 1}),
        ("collectEntries", 80, [1, Decimal("0.8")]),
        ("resultList", 80, [{"rate": 1}, {"rate": Decimal("0.8")}]),
        (None, 20, [1]),
    ],
)
def test_the_mappings_of_the_result(mapping: str | None, amount: int, result: Any) -> None:
    graph = draw(*GRAPH, D=spec(mapping=mapping, result_variable="r"))
    assert Run(graph, decisions=KNOWN, variables={"amount": amount}).variable("r") == result


def test_a_decision_sees_inputs_and_outputs_see_its_result() -> None:
    graph = draw(
        *GRAPH,
        D=spec()
        | {
            "inputs": (Mapping(target="amount", source=Formula(text="${order.total}")),),
            "outputs": (Mapping(target="best", source=Formula(text="${decisionResult[0].rate}")),),
        },
    )
    run = Run(graph, decisions=KNOWN, variables={"order": {"total": 20}})

    assert run.variable("best") == 1
    assert not any(name == "decisionResult" and scope == 0 for scope, name in run.state.variables)
    (evaluated,) = [event for event in run.events if event.type == "DECISION_EVALUATED"]
    assert evaluated.payload["result"] == [1]


@pytest.mark.parametrize(
    ("known", "said", "problem"),
    [
        ({}, {}, "there is no decision D"),
        (KNOWN, {"binding": "version", "version": Formula(text="2")}, "there is no decision D (version 2)"),
        (KNOWN, {"mapping": "singleEntry"}, "the decision D cannot be evaluated: the decision gives 2 results"),
        ({"D": evaluator(Expression("${a.b.c}", language="juel"))}, {}, "the decision D cannot be evaluated"),
    ],
)
def test_what_goes_wrong_is_an_incident_that_can_be_tried_again(
    known: dict[str, Evaluator], said: dict[str, Any], problem: str
) -> None:
    run = Run(draw(*GRAPH, D=spec(**said)), decisions=known, variables={"amount": 80})
    (incident,) = run.state.incidents.values()
    assert incident.kind == "decision"
    assert incident.message.startswith(problem)

    run.decisions = {"D": evaluator(Expression("7"))}
    run.state.library.clear()
    run.process = draw(*GRAPH)
    run.do(c.RetryIncident, incident=incident.id)

    assert run.waiting == ["A"]
    assert run.variable("result") == 7


def test_replay_answers_from_the_log() -> None:
    run = Recording(draw(*GRAPH), decisions=KNOWN, variables={"amount": 80})
    run.work("A")
    assert run.commits[0].arguments["answers"] == {'["decision", "D", "latest", null]': "D"}
    assert verify(run.process, run.commits, thread="i", library=KNOWN) is None
    divergence = verify(run.process, run.commits, thread="i")
    assert divergence is not None and "('model', 'D')" in divergence.reason


@pytest.mark.parametrize(("policy", "said"), [("UNIQUE", "2 rules match"), ("ANY", "rules with different outputs")])
def test_more_rules_than_the_hit_policy_allows_are_an_incident(policy: str, said: str) -> None:
    """Camunda 7, DmnHitPolicyException: the decision fails; DMN 1.5, 8.2.11, has null for it."""
    broken = {"D": evaluator(dataclasses.replace(RATES, hit_policy=policy))}
    run = Run(draw(*GRAPH), decisions=broken, variables={"amount": 80})
    assert run.waiting == ["D"]
    (incident,) = run.state.incidents.values()
    assert said in incident.message
