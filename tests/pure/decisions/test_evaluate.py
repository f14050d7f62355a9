"""Requirements graphs, boxed expressions, functions, services, item definitions, imports; and their stored form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest

from bpm.compiler.dmn import compile_dmn, compile_dmn_or_raise
from bpm.decisions import Evaluator, from_json, to_json
from bpm.expressions import EvaluationFault, LimitFault
from tests.pure.decisions.writing import DMN, decision, evaluate, file, literal, table

DISH = (
    decision("Season", table(["temperature"], ["season"], [["> 25", '"summer"'], ["<= 25", '"winter"']])),
    decision("Guests", table(["day"], ["guests"], [['"sunday"', "12"], ['not("sunday")', "4"]])),
    decision(
        "Dish",
        table(
            ["season", "guests"],
            ["dish"],
            [['"winter"', "<= 8", '"stew"'], ['"winter"', "> 8", '"roast"'], ['"summer"', "-", '"salad"']],
        ),
        "Season Guests",
    ),
)


def boxed(logic: str, variables: Mapping[str, object] | None = None, *more: str, type: str = "") -> object:
    return evaluate("d", variables or {}, *more, decision("d", logic, type=type)).value


@pytest.mark.parametrize(
    ("variables", "dish"),
    [
        ({"temperature": 10, "day": "monday"}, "stew"),
        ({"temperature": 10, "day": "sunday"}, "roast"),
        ({"temperature": 30, "day": "sunday"}, "salad"),
    ],
)
def test_required_decisions_by_the_names_of_their_outputs(variables, dish):
    found = evaluate("Dish", variables, *DISH)
    assert found.value == dish
    assert [trace.decision for trace in found.tables] == ["Season", "Guests", "Dish"]
    assert [len(trace.rules) for trace in found.tables] == [1, 1, 1]


def test_inputs_have_types():
    data = '<inputData id="in_p" name="Person"><variable name="Person" typeRef="tPerson"/></inputData>'
    types = (
        '<itemDefinition name="tPerson"><itemComponent name="born"><typeRef>date</typeRef></itemComponent>'
        '<itemComponent name="grade"><typeRef>tGrade</typeRef></itemComponent></itemDefinition>'
        '<itemDefinition name="tGrade"><typeRef>string</typeRef>'
        '<allowedValues><text>"a", "b"</text></allowedValues></itemDefinition>'
    )
    logic = decision("d", literal("Person.born.year"), "in_p")
    for person, result in [
        ({"born": "1990-05-01", "grade": "a"}, 1990),
        ({"born": "1990-05-01", "grade": None}, 1990),
        ({"born": "1990-05-01", "grade": "c"}, None),
        ({"born": "1990-05-01"}, None),
        ("no person", None),
    ]:
        assert evaluate("d", {"Person": person}, types, data, logic).value == result


def test_instance_of_a_type_does_not_ask_for_allowed_values():
    types = (
        '<itemDefinition name="tByte"><typeRef>number</typeRef>'
        "<allowedValues><text>[0..255]</text></allowedValues></itemDefinition>"
        '<itemDefinition name="tBytes" isCollection="true"><typeRef>tByte</typeRef></itemDefinition>'
    )
    for text, result in [
        ("256 instance of tByte", True),
        ('"x" instance of tByte', False),
        ("[256] instance of tBytes", True),
        ("256 instance of tBites", None),
    ]:
        assert evaluate("d", {}, types, decision("d", literal(text))).value is result
    assert evaluate("d", {}, types, decision("d", literal("256"), type="tByte")).value is None
    assert evaluate("d", {}, types, decision("d", literal("255"), type="tBytes")).value == [255]


def test_boxed_expressions():
    entry = '<contextEntry><variable name="{}"/>{}</contextEntry>'
    context = entry.format("a", literal("x + 1")) + entry.format("b", literal("a * 2"))
    assert boxed(f"<context>{context}</context>", {"x": 1}) == {"a": 2, "b": 4}
    assert boxed(f"<context>{context}<contextEntry>{literal('a + b')}</contextEntry></context>", {"x": 1}) == 6
    assert boxed(f"<list>{literal('1')}{literal('2')}</list>") == [1, 2]
    relation = '<relation><column name="n"/><column name="m"/><row>{}</row><row>{}</row></relation>'
    rows = [literal("1") + literal("2"), literal("3") + literal("4")]
    assert boxed(relation.format(*rows)) == [{"n": 1, "m": 2}, {"n": 3, "m": 4}]
    conditional = (
        f"<conditional><if>{literal('x')}</if><then>{literal('1')}</then><else>{literal('2')}</else></conditional>"
    )
    assert [boxed(conditional, {"x": x}) for x in (True, False, None, 5)] == [1, 2, 2, None]
    filtered = f"<filter><in>{literal('xs')}</in><match>{literal('item > 1')}</match></filter>"
    assert boxed(filtered, {"xs": [1, 2, 3]}) == [2, 3]
    for kind, body, text, result in [
        ("for", "return", "i * 2", [2, 4]),
        ("for", "return", "count(partial)", [0, 1]),
        ("some", "satisfies", "i = 2", True),
        ("every", "satisfies", "i = 2", False),
        ("every", "satisfies", '"x"', None),
    ]:
        logic = f'<{kind} iteratorVariable="i"><in>{literal("[1, 2]")}</in><{body}>{literal(text)}</{body}></{kind}>'
        assert boxed(logic) == result
    assert boxed(literal('"5"'), type="number") is None
    assert boxed(literal("5"), type="list<number>") == [5]


def test_functions():
    model = (
        '<businessKnowledgeModel id="fact" name="factorial"><variable name="factorial"/>'
        '<encapsulatedLogic><formalParameter name="n" typeRef="number"/>'
        f"{literal('if n < 2 then 1 else n * factorial(n - 1)')}</encapsulatedLogic></businessKnowledgeModel>"
    )
    call = f'<invocation>{literal("factorial")}<binding><parameter name="n"/>{literal("x")}</binding></invocation>'
    assert evaluate("d", {"x": 5}, model, decision("d", call, "!fact")).value == 120
    with pytest.raises(LimitFault):
        evaluate("d", {"x": "a"}, model, decision("d", call, "!fact"))  # null is not less than 2, for ever
    assert evaluate("d", {}, model, decision("d", literal("factorial(4)"), "!fact")).value == 24
    with pytest.raises(LimitFault):
        evaluate("d", {}, model, decision("d", literal("factorial(4000)"), "!fact"))
    java = '<functionDefinition kind="Java"><formalParameter name="a"/></functionDefinition>'
    entry = '<contextEntry><variable name="f"/>{}</contextEntry><contextEntry>{}</contextEntry>'
    assert boxed(f"<context>{entry.format(java, literal('f(1)'))}</context>") is None


def test_services():
    service = (
        '<decisionService id="s" name="Price"><variable name="Price"/><outputDecision href="#total"/>'
        '<inputDecision href="#net"/><inputData href="#in_rate"/></decisionService>'
    )
    elements = (
        '<inputData id="in_rate" name="rate"/>',
        decision("net", literal("100")),
        decision("total", literal("net * (1 + rate)"), "net in_rate"),
        service,
    )
    call = decision("d", literal("Price(0.5, 10)"), "!s")
    assert evaluate("d", {"rate": 3}, *elements, call).value == 15
    assert evaluate("s", {"rate": 1, "net": 7}, *elements).value == 14
    assert evaluate("total", {"rate": 1}, *elements).value == 200


def test_imports():
    library = file(
        '<itemDefinition name="tName"><typeRef>string</typeRef></itemDefinition>',
        '<businessKnowledgeModel id="hi" name="say hi"><encapsulatedLogic><formalParameter name="n" typeRef="tName"/>'
        f"{literal(chr(34) + 'hi ' + chr(34) + ' + n')}</encapsulatedLogic></businessKnowledgeModel>",
        head=f'<definitions xmlns="{DMN}" name="library" namespace="lib">',
    )
    own = file(
        f'<import name="lib" namespace="lib" importType="{DMN}"/>',
        '<decision id="d" name="d"><knowledgeRequirement><requiredKnowledge href="lib#hi"/></knowledgeRequirement>'
        f"{literal('lib.say hi(x)')}</decision>",
    )
    decisions = compile_dmn_or_raise(own, others=[library])
    assert Evaluator(decisions).evaluate("d", {"x": "you"}).value == "hi you"
    assert (
        Evaluator(from_json(json.loads(json.dumps(to_json(decisions))))).evaluate("d", {"x": "you"}).value == "hi you"
    )
    assert [found.code for found in compile_dmn(own).errors] == ["import-missing"]


def test_the_stored_form():
    decisions = compile_dmn_or_raise(file(*DISH))
    stored = json.loads(json.dumps(to_json(decisions), sort_keys=True))
    assert from_json(stored) == decisions
    assert to_json(from_json(stored)) == to_json(decisions)
    for broken in ({}, [], {"is": "Nothing"}, {"is": "Model", "namespace": "x"}, {"is": "Decisions"}):
        with pytest.raises(ValueError, match="stored"):
            from_json(broken)


def test_variables_are_asked_by_name_and_their_exceptions_pass():
    class Missing(Exception):
        pass

    class Lazy(Mapping[str, object]):
        def __getitem__(self, name: str) -> object:
            if name == "temperature":
                raise Missing
            raise KeyError(name)

        def __iter__(self) -> Iterator[str]:
            raise AssertionError

        def __len__(self) -> int:
            raise AssertionError

    with pytest.raises(Missing):
        Evaluator(compile_dmn_or_raise(file(*DISH))).evaluate("Dish", Lazy())


def test_unknown_decisions_and_circles():
    with pytest.raises(EvaluationFault, match="no decision 'x'"):
        evaluate("x", {}, *DISH)
    circle = compile_dmn(file(decision("a", literal("b"), "b"), decision("b", literal("a"), "a")))
    assert [found.code for found in circle.errors] == ["requirements-circular"]
    assert Evaluator(circle.decisions).evaluate("a", {}).value is None


def test_a_deep_graph_is_a_limit():
    chain = [
        decision("d0", literal("1")),
        *[decision(f"d{n}", literal(f"d{n - 1} + 1"), f"d{n - 1}") for n in range(1, 900)],
    ]
    evaluator = Evaluator(compile_dmn_or_raise(file(*chain)))
    assert evaluator.evaluate("d50", {}).value == 51
    with pytest.raises(LimitFault):
        evaluator.evaluate("d899", {})


def test_a_trace_tells_of_values_that_no_variable_can_hold():
    found = evaluate("d", {}, decision("d", table(["[1..3]"], ["out"], [["-", "function(x) x"]])))
    told = found.tables[0].to_json()
    assert told["inputs"] == [["[1..3]", "[1..3]"]]
    assert isinstance(told["rules"][0]["outputs"]["out"], str)
