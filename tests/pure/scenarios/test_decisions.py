"""DMN files among the models of a scenario."""

from __future__ import annotations

from bpm.compiler.dmn import compile_dmn_or_raise
from bpm.decisions import Evaluator
from bpm.replay import verify
from bpm.scenarios import CoreDriver
from bpm.scenarios.model import Start
from tests.pure.decisions.writing import decision, file, table
from tests.pure.scenarios.writing import end, perform, process, start, told, work

RATE = file(decision("rate", table(["amount"], ["rate"], [["< 100", "1"], [">= 100", "2"]])))
TASK = (
    '<businessRuleTask id="Rate" camunda:decisionRef="rate" camunda:resultVariable="r"'
    ' camunda:mapDecisionResult="singleEntry"/>'
)
ORDER = process("order", start("s"), TASK, work("Charge"), end("e"), "s > Rate > Charge > e")


def test_a_decision_is_evaluated_where_its_file_is_among_the_models(tmp_path):
    (tmp_path / "rate.dmn").write_bytes(RATE)
    scenario = """
        models: [order.bpmn, rate.dmn]
        start: {process: order, variables: {amount: 120}}
        expect: {passed: [s, Rate], waiting: [Charge], variables: {r: 2}}
        ---
        models: [order.bpmn]
        start: {process: order, variables: {amount: 120}}
        expect: {waiting: [Rate], incidents: 1}
    """
    assert told(perform(tmp_path, scenario, order=ORDER)) == []


def test_a_broken_decision_refuses_the_deployment(tmp_path):
    (tmp_path / "rate.dmn").write_bytes(file(decision("rate", table(["amount +"], ["rate"], [["< 100", "1"]]))))
    scenario = """
        models: [order.bpmn, rate.dmn]
        deploy_error: true
    """
    assert told(perform(tmp_path, scenario, order=ORDER)) == []


def test_what_a_scenario_decided_is_decided_the_same_from_its_log(tmp_path):
    (tmp_path / "rate.dmn").write_bytes(RATE)
    (tmp_path / "order.bpmn").write_text(ORDER)
    driver = CoreDriver(tmp_path)
    assert driver.deploy(["order.bpmn", "rate.dmn"], strict=False) == ()
    driver.start(Start(process="order", variables={"amount": 5}))
    (thread,) = driver.world.threads.values()

    library = {"rate": Evaluator(compile_dmn_or_raise(RATE))}
    assert verify(thread.graph, thread.commits, thread=thread.id, library=library) is None
