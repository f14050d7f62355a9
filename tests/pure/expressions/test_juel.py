"""JUEL as Camunda 7 evaluates it: values, coercions, members, functions, host objects and faults."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from bpm.expressions import EvaluationFault, Host, HostObject, LimitFault, compile_text

SCOPE = {
    "i": 7,
    "d": Decimal("2.50"),
    "s": "text",
    "t": True,
    "n": None,
    "l": [1, "two", None],
    "m": {"a": {"b": 1}, "empty": "", "1": "one"},
    "e": [],
    "j": '{"a": [1, 2.50, {"b": null}], "big": 12345678901234567890.123456789}',
    "due": "2026-01-02T00:00:00Z",
}
CALLED: list[object] = []
HOST = Host(
    now=lambda: datetime(2026, 1, 31, 10, 30, tzinfo=UTC),
    user="kermit",
    groups=("sales", "admin"),
    objects={
        "execution": HostObject("execution", {"businessKey": "K1", "processInstanceId": "p1"}, variables=True),
        "task": HostObject("task", {"assignee": "fozzie", "execution": HostObject("execution", {"id": "e1"})}),
        "authenticatedUserId": "gonzo",
    },
    beans={"calc.add": lambda a, b: a + b, "calc.rate": lambda: 0.1, "pair": lambda a: (a, a), "bad": object},
    assign=lambda name, value: CALLED.append((name, value)),
)

VALUES = [
    # arithmetic (EL 2.2, 1.7)
    ("i + 1", 8),
    ("i / 2", Decimal("3.5")),
    ("i div 7", 1),
    ("-i % 4", -3),
    ("i mod -4", 3),
    ("'3' + 4", 7),
    ("n + n", 0),
    ("-'2'", -2),
    ("d * 2", 5),
    ("'' + 1", 1),
    ("1.5e3 - 500", 1000),
    ("0.1 + 0.2 == 0.3", True),
    ("2 + 3 * 4", 14),
    ("9999999999999999999999999999999999 + 1", Decimal("1E+34")),
    ("1 / 3", Decimal("0." + "3" * 34)),
    # comparison and coercion (1.8, 1.18)
    ("i == '7'", True),
    ("i == 7.0", True),
    ("s == 'text'", True),
    ("t == 'TRUE'", True),
    ("t == 'no'", False),
    ("n == null", True),
    ("n == ''", False),
    ("n < 1", False),
    ("n <= n", True),
    ("i eq 7 and s ne 'x'", True),
    ("'b' gt 'a'", True),
    ("i lt 10 && i ge 7", True),
    ("l == l", True),
    ("m.a == m['a']", True),
    ("l == e", False),
    ("i == s.length() + 3", True),
    ("now() > due", True),
    ("!t || not n", True),
    ("'true' && t", True),
    ("'' || n", False),
    ("empty e && empty n && empty m.empty && !empty s", True),
    ("t ? 'y' : 'n'", "y"),
    ("n ? 1 : t ? 2 : 3", 2),
    # access
    ("m.a.b", 1),
    ("m['a']['b']", 1),
    ("m[1]", "one"),
    ("m.x", None),
    ("m.x.y.z", None),
    ("n.x", None),
    ("l[1]", "two"),
    ("l['0']", 1),
    ("l[9]", None),
    ("l[n]", None),
    # methods
    ("s.length()", 4),
    ("s.toUpperCase().concat('!')", "TEXT!"),
    ("s.substring(1)", "ext"),
    ("s.substring(1, 3)", "ex"),
    ("s.charAt(0)", "t"),
    ("s.contains('ex') && s.startsWith('te') && s.endsWith('t')", True),
    ("s.indexOf('x')", 2),
    ("s.equals('text')", True),
    ("i.equals('7')", False),
    ("s.equalsIgnoreCase('TEXT')", True),
    ("s.replace('t', '')", "ex"),
    ("'a,b,,'.split(',')", ["a", "b"]),
    ("' x '.trim()", "x"),
    ("s.isEmpty()", False),
    ("s.empty", False),
    ("i.toString()", "7"),
    ("i.intValue()", 7),
    ("d.intValue()", 2),
    ("l.size()", 3),
    ("l.contains('two')", True),
    ("l.contains(n)", True),
    ("l.get(0)", 1),
    ("l.indexOf('two')", 1),
    ("e.isEmpty()", True),
    ("s.matches('[a-z]{4}')", True),
    ("s.matches('te')", False),
    ("'a12'.matches('a\\\\d+|b')", True),
    ("m.size()", 3),
    ("m.get('a').b", 1),
    ("m.containsKey('x')", False),
    ("m.getOrDefault('x', 5)", 5),
    ("m.keySet()", ["a", "empty", "1"]),
    ("S(j).prop('a').elements().get(1).numberValue()", Decimal("2.5")),
    ("JSON(j).hasProp('b')", False),
    ("S(j).jsonPath('$.a[2].b').isNull()", True),
    ("JSON(j).big == 12345678901234567890.123456789", True),
    ("S('[1]').toString()", "[1]"),
    ("m.prop('a').prop('b').value()", 1),
    ("now().plusMonths(1).toDate().getTime()", 1772274600000),
    ("dateTime().plusDays(1).isAfter(now())", True),
    ("now().time", 1769855400000),
    ("now().minusYears(1).getDayOfWeek()", 5),
    # functions, host objects, beans
    ("currentUser()", "kermit"),
    ("currentUserGroups()", ["sales", "admin"]),
    ("authenticatedUserId", "gonzo"),
    ("execution.businessKey", "K1"),
    ("execution.getProcessInstanceId()", "p1"),
    ("task.execution.id", "e1"),
    ("task['assignee']", "fozzie"),
    ("execution.getVariable('i')", 7),
    ("execution.getVariable('none')", None),
    ("execution.hasVariable('none')", False),
    ("execution.hasVariable('n')", True),
    ("execution.variables.i", 7),
    ("execution.getVariableNames().size()", 10),
    ("execution.setVariable('x', i + 1)", None),
    ("vars:get(i)", 7),
    ("vars:getOrDefault(none, 'x')", "x"),
    ("variables:eq('i', 7)", True),
    ("var:exists(none)", False),
    ("vars:contains(l, 'two', 1)", True),
    ("vars:gt(i, 6)", True),
    ("vars:lt(none, 6)", False),
    ("calc.add(i, 1)", 8),
    ("calc.rate", Decimal("0.1")),
    ("pair(i)", [7, 7]),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values(text, value):
    result = compile_text("${" + text + "}").evaluate(SCOPE, HOST)
    assert result == value
    assert type(result) is type(value) or isinstance(value, int | Decimal)


def test_setting_a_variable_is_handed_to_the_host():
    CALLED.clear()
    compile_text("${execution.setVariable('x', i + 1)}").evaluate(SCOPE, HOST)
    assert CALLED == [("x", 8)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Order ${i} of ${s}: ${d}", "Order 7 of text: 2.5"),
        ("${n}${t}", "true"),
        ("#{l} ${m.a}", '[1,"two",null] {"b":1}'),
        ("${now()}!", "2026-01-31T10:30:00+00:00!"),
        ("${1e30 / 3}.", "333333333333333333333333333333.3333."),
    ],
)
def test_templates(text, value):
    assert compile_text(text).evaluate(SCOPE, HOST) == value


FAULTS = [
    # text, position, message
    ("${none}", 2, "unknown variable 'none'"),
    ("${i + none}", 6, "unknown variable 'none'"),
    ("${i + s}", 2, "'text' is no number"),
    ("${t + 1}", 2, "True is no number"),
    ("${i && t}", 2, "neither true nor false"),
    ("${l ? 1 : 2}", 2, "neither true nor false"),
    ("${l < m}", 2, "cannot be compared"),
    ("${i / 0}", 2, "division by zero"),
    ("${i % n}", 2, "division by zero"),
    ("${1e6144 * 10}", 2, "out of range"),
    ("${n.size()}", 2, "size() of null"),
    ("${s.getClass()}", 2, "no method 'getClass'"),
    ("${s.class}", 2, "no property 'class'"),
    ("${l.__class__}", 2, "no property '__class__'"),
    ("${s.substring(9)}", 2, "substring from 9"),
    ("${s.substring()}", 2, "got 0 arguments"),
    ("${s.split('.')}", 2, "split by '.'"),
    ("${s.matches('[')}", 2, "is no pattern"),
    ("${l.get(5)}", 2, "no item 5"),
    ("${l.add(5)}", 2, "no method 'add'"),
    ("${m.prop('x')}", 2, "no property 'x'"),
    ("${S('{')}", 2, "is no JSON"),
    ("${S('NaN')}", 2, "is no JSON"),
    ("${execution.engineServices}", 2, "execution has no engineServices"),
    ("${execution.getEngineServices().x}", 2, "execution has no getEngineServices()"),
    ("${execution.__class__}", 2, "execution has no __class__"),
    ("${execution}!", None, "has no text"),
    ("${caseExecution.id}", 2, "there is no 'caseExecution'"),
    ("${service.run(i)}", 2, "unknown variable or bean 'service'"),
    ("${calc.sub(i)}", 2, "bean 'calc' has no method 'sub'"),
    ("${nofn(i)}", 2, "unknown function 'nofn'"),
    ("${vars:nofn(i)}", 2, "unknown function 'vars:nofn'"),
    ("${bad()}", 2, "a bean returned object"),
    ("${now().plusYears(99999)}", 2, "out of range"),
    ("${due > 'x' || now() > s}", 15, "'text' is no date"),
]


@pytest.mark.parametrize(("text", "position", "message"), FAULTS)
def test_faults(text, position, message):
    with pytest.raises(EvaluationFault) as caught:
        compile_text(text).evaluate(SCOPE, HOST)
    assert message in caught.value.message
    assert (caught.value.text, caught.value.position) == (text, position)


def test_without_a_host_there_is_no_time_and_no_writing():
    host = Host(objects={"execution": HostObject("execution", {}, variables=True)})
    for text, message in [("${now()}", "no time"), ("${execution.setVariable('a', 1)}", "may only read")]:
        with pytest.raises(EvaluationFault, match=message):
            compile_text(text).evaluate({}, host)


class Signal(Exception):
    """What the engine raises to say that a variable must be loaded first."""


class Unloaded(Mapping[str, object]):
    def __getitem__(self, name):
        raise Signal(name)

    def __iter__(self):
        raise Signal("*")

    def __len__(self):
        raise Signal("*")


@pytest.mark.parametrize(
    "text",
    [
        "${a}",
        "${a + 1}",
        "${a && b}",
        "${a.b}",
        "${a.b()}",
        "${a[0]}",
        "${!a}",
        "x ${a}",
        "${a ? 1 : 2}",
        "${execution.getVariable('a')}",
        "${execution.hasVariable('a')}",
        "${execution.variables}",
        "${vars:get(a)}",
        "${S(a)}",
        "${a == null}",
        "${empty a}",
        "=a + 1",
        "=f(a)",
    ],
)
def test_what_the_scope_raises_passes_through(text):
    with pytest.raises(Signal):
        compile_text(text).evaluate(Unloaded(), HOST)


def test_what_a_bean_raises_passes_through():
    def bean():
        raise Signal

    with pytest.raises(Signal):
        compile_text("${x.run()}").evaluate({}, Host(beans={"x.run": bean}))


def test_a_variable_wins_over_a_bean_and_the_host_over_a_variable():
    scope = {"calc": {"rate": "mine"}, "execution": {"businessKey": "mine"}}
    assert compile_text("${calc.rate}").evaluate(scope, HOST) == "mine"
    assert compile_text("${execution.businessKey}").evaluate(scope, HOST) == "K1"
    assert compile_text("${execution.businessKey}").evaluate(scope) == "mine"


@pytest.mark.parametrize("text", ["${big.concat(big)}", "${big.replace('a', big)}", "${big}${big}"])
def test_texts_do_not_outgrow_the_limit(text):
    with pytest.raises(LimitFault):
        compile_text(text).evaluate({"big": "a" * 600_000})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("r.getFirstResult().price", 1),
        ("r.firstResult.getFirstEntry()", 1),
        ("r.collectEntries('price')", [1, 2]),
        ("r.collectEntries(r)", []),
        ("r.resultList.size()", 2),
        ("one.getSingleResult().price", 7),
        ("one.singleResult.getEntry('price')", 7),
        ("one.getSingleEntry()", 7),
        ("one.singleEntry", 7),
        ("none.getSingleEntry()", None),
        ("none.singleResult.price", None),
    ],
)
def test_the_result_of_a_decision_answers_as_camunda_7s(text, value):
    scope = {"r": [{"price": 1}, {"price": 2, "tax": 3}], "one": [{"price": 7}], "none": []}
    assert compile_text("${" + text + "}").evaluate(scope, HOST) == value


@pytest.mark.parametrize("text", ["r.getSingleResult()", "r.singleEntry", "r.get(1).getSingleEntry()"])
def test_more_results_than_were_asked_for_are_a_fault(text):
    with pytest.raises(EvaluationFault, match="one at most"):
        compile_text("${" + text + "}").evaluate({"r": [{"price": 1}, {"price": 2, "tax": 3}]}, HOST)
