"""Decision tables: hit policies, aggregations, cells, defaults, and what history is told."""

from __future__ import annotations

import sys
from collections import Counter
from decimal import Decimal

import pytest

from bpm.compiler.dmn import compile_dmn_or_raise
from bpm.decisions import Evaluator, RuleTrace, mapped
from bpm.expressions import EvaluationFault
from tests.pure.decisions.writing import decision, evaluate, file, table

RULES = [["> 5", '"low"', "1"], ["> 3", '"high"', "2"], ["> 1", '"low"', "3"]]
VALUES = {"risk": '"high", "low"'}


def outcome(attributes, value, rules=RULES, outputs=("risk", "weight"), values=VALUES):
    chosen = [[row[0], *[row[1 + ["risk", "weight"].index(name)] for name in outputs]] for row in rules]
    return evaluate("d", {"x": value}, decision("d", table(["x"], list(outputs), chosen, attributes, values)))


@pytest.mark.parametrize(
    ("attributes", "outputs", "value", "result"),
    [
        ("", ["risk"], 2, "low"),
        ("", ["risk"], 4, None),  # two rules match
        ("", ["risk"], 0, None),
        ("", ["risk", "weight"], 2, {"risk": "low", "weight": 3}),
        ('hitPolicy="ANY"', ["risk"], 2, "low"),
        ('hitPolicy="ANY"', ["risk"], 4, None),
        ('hitPolicy="FIRST"', ["weight"], 9, 1),
        ('hitPolicy="PRIORITY"', ["risk", "weight"], 9, {"risk": "high", "weight": 2}),
        ('hitPolicy="OUTPUT ORDER"', ["risk"], 9, ["high", "low", "low"]),
        ('hitPolicy="RULE ORDER"', ["weight"], 9, [1, 2, 3]),
        ('hitPolicy="COLLECT"', ["weight"], 4, [2, 3]),
        ('hitPolicy="COLLECT" aggregation="SUM"', ["weight"], 9, 6),
        ('hitPolicy="COLLECT" aggregation="MIN"', ["weight"], 9, 1),
        ('hitPolicy="COLLECT" aggregation="MAX"', ["weight"], 9, 3),
        ('hitPolicy="COLLECT" aggregation="COUNT"', ["weight"], 9, 3),
        ('hitPolicy="COLLECT" aggregation="COUNT"', ["weight"], 0, 0),
        ('hitPolicy="COLLECT"', ["weight"], 0, None),
    ],
)
def test_hit_policies(attributes, outputs, value, result):
    assert outcome(attributes, value, outputs=outputs).value == result


def test_a_default_output_when_no_rule_matches():
    values = {**VALUES, "default risk": '"none"', "default weight": "x"}
    assert outcome("", 0, values=values).value == {"risk": "none", "weight": 0}


def test_what_matched_is_told():
    found = outcome('hitPolicy="RULE ORDER"', 4)
    (trace,) = found.tables
    assert (trace.decision, trace.table, trace.inputs) == ("d", "t", (("x", 4),))
    assert trace.rules == (
        RuleTrace(2, "r2", {"risk": "high", "weight": 2}),
        RuleTrace(3, "r3", {"risk": "low", "weight": 3}),
    )


def test_a_conflict_is_told_too():
    found = outcome("", 4)
    assert [rule.number for rule in found.tables[0].rules] == [2, 3]
    assert "2 rules match where the hit policy is UNIQUE" in found.warnings
    assert found.rows == ()


@pytest.mark.parametrize(
    ("cell", "value", "hit"),
    [
        *[
            ("-", None, True),
            ("", 1, True),
            ("1", 1, True),
            ("1", Decimal("1.0"), True),
            ("1", True, False),
            ("true", 1, False),
        ],
        *[
            ('"1"', 1, False),
            ("1, 2", 2, True),
            ("null", None, True),
            ("1", None, False),
            ("1", [1], True),
            ("1", [1, 2], False),
        ],
        *[("not(1, 2)", 3, True), ("not(null)", 1, True), ("? > 1", 2, True), ("y", 5, True), ("[1..3]", 2, True)],
        *[
            ('"a", "b"', "b", True),
            ("= 1", 1, True),
            ("-1", -1, True),
            ("x = 2", 2, True),
            ("count(?) = 2", [1, 2], True),
        ],
    ],
)
def test_cells(cell, value, hit):
    logic = table(["x"], ["out"], [[cell, "true"]])
    assert (evaluate("d", {"x": value, "y": 5}, decision("d", logic)).value is True) is hit


def test_columns_are_read_by_their_types_and_allowed_values():
    logic = (
        '<decisionTable><input label="when"><inputExpression typeRef="date"><text>day</text></inputExpression></input>'
        '<input label="kind"><inputExpression><text>kind</text></inputExpression>'
        '<inputValues><text>"a","b"</text></inputValues></input>'
        "<output/><rule><inputEntry><text>[date(2024,1,1)..date(2024,12,31)]</text></inputEntry>"
        "<inputEntry><text>-</text></inputEntry><outputEntry><text>1</text></outputEntry></rule></decisionTable>"
    )
    for variables, result in [
        ({"day": "2024-06-01", "kind": "a"}, 1),  # JSON has no dates
        ({"day": "2025-06-01", "kind": "a"}, None),
        ({"day": "2024-06-01", "kind": "c"}, None),
        ({"day": "soon", "kind": "a"}, None),
    ]:
        assert evaluate("d", variables, decision("d", logic)).value == result


def test_the_name_of_an_input_in_its_cells():
    logic = (
        '<decisionTable><input camunda:inputVariable="amount">'
        "<inputExpression><text>order.total</text></inputExpression></input>"
        "<output/><rule><inputEntry><text>amount > 5 and amount &lt; 9</text></inputEntry>"
        "<outputEntry><text>true</text></outputEntry></rule></decisionTable>"
    )
    assert evaluate("d", {"order": {"total": 7}}, decision("d", logic)).value is True
    assert evaluate("d", {"order": {"total": 9}}, decision("d", logic)).value is None
    unnamed = logic.replace('camunda:inputVariable="amount"', "").replace("amount", "cellInput")
    assert evaluate("d", {"order": {"total": 7}}, decision("d", unnamed)).value is True  # Camunda 7's default


def test_juel_where_it_is_named():
    logic = (
        '<decisionTable><input><inputExpression expressionLanguage="juel">'
        "<text>${x + 1}</text></inputExpression></input>"
        '<output name="o"/><rule><inputEntry><text>3</text></inputEntry>'
        '<outputEntry expressionLanguage="juel"><text>${x == 2 ? "two" : "other"}</text></outputEntry></rule>'
        "</decisionTable>"
    )
    assert evaluate("d", {"x": 2}, decision("d", logic)).value == "two"
    assert evaluate("d", {"x": 2}, decision("d", table(["x"], ["o"], [["2", '${"a"}']]))).value == "a"


@pytest.mark.parametrize(
    ("attributes", "outputs", "value", "mapping", "result"),
    [
        ("", ["risk"], 2, "singleEntry", "low"),
        ("", ["risk"], 0, "singleEntry", None),
        ("", ["risk", "weight"], 2, "singleResult", {"risk": "low", "weight": 3}),
        ("", ["risk", "weight"], 0, "singleResult", None),
        ('hitPolicy="RULE ORDER"', ["weight"], 4, "collectEntries", [2, 3]),
        ('hitPolicy="RULE ORDER"', ["weight"], 0, "collectEntries", []),
        ('hitPolicy="COLLECT"', ["risk", "weight"], 2, "resultList", [{"risk": "low", "weight": 3}]),
        ('hitPolicy="COLLECT" aggregation="SUM"', ["weight"], 4, "singleEntry", 5),
        ("", ["risk"], 2, None, "low"),
    ],
)
def test_result_mappings(attributes, outputs, value, mapping, result):
    assert mapped(outcome(attributes, value, outputs=outputs), mapping) == result


@pytest.mark.parametrize(
    ("attributes", "outputs", "mapping"),
    [
        ("", ["risk", "weight"], "singleEntry"),
        ('hitPolicy="RULE ORDER"', ["risk"], "singleResult"),
        ("", ["risk", "weight"], "collectEntries"),
        ("", ["risk"], "everything"),
    ],
)
def test_results_too_large_for_their_mapping(attributes, outputs, mapping):
    value = 2 if "hitPolicy" not in attributes else 9
    with pytest.raises(EvaluationFault):
        mapped(outcome(attributes, value, outputs=outputs), mapping)


PLAIN = [[f'"key{at % 500}"', f"[{at}..{at + 10}]", "-" if at % 2 else f"{at}", str(at)] for at in range(1000)]
TESTED = [["-", f"[{at}..{at + 10}]", f"> {at}", str(at)] for at in range(1000)]


@pytest.mark.parametrize(("rules", "result", "calls"), [(PLAIN, [507], 1_000), (TESTED, list(range(500, 507)), 20_000)])
def test_of_a_thousand_rules_few_are_looked_at_where_an_index_serves(rules, result, calls):
    """Counted in calls: 0.02 and 1 ms on an idle machine."""
    logic = table(["a", "b", "c"], ["out"], rules, 'hitPolicy="COLLECT"')
    evaluator = Evaluator(compile_dmn_or_raise(file(decision("d", logic))))
    variables = {"a": "key7", "b": 510, "c": 507}
    assert evaluator.evaluate("d", variables).value == result
    assert _calls(lambda: evaluator.evaluate("d", variables)) < calls


def _calls(run):
    made = Counter()
    sys.setprofile(lambda frame, event, argument: made.update([event]))
    try:
        run()
    finally:
        sys.setprofile(None)
    return made["call"] + made["c_call"]
