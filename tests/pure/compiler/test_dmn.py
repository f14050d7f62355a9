"""Reading DMN files: versions, what is refused and how it is said, and the models of the corpus."""

from __future__ import annotations

import pytest

from bpm.compiler.diagnostics import CompileError
from bpm.compiler.dmn import compile_dmn, compile_dmn_or_raise, is_dmn
from bpm.compiler.dmn_check import DMN_SEVERITY
from bpm.compiler.dmn_elements import VERSIONS
from bpm.decisions import Evaluator, from_json, to_json
from tests.pure.decisions.writing import compiled, decision, file, literal, table
from tests.pure.scenarios.corpus import corpus

GOOD = decision("d", literal("1"))


@pytest.mark.parametrize("namespace", VERSIONS)
def test_versions(namespace):
    data = file(GOOD, head=f'<definitions xmlns="{namespace}" namespace="x" name="n">')
    assert is_dmn(data)
    assert Evaluator(compile_dmn_or_raise(data)).evaluate("d", {}).value == 1


@pytest.mark.parametrize(
    ("elements", "code"),
    [
        ([decision("d", literal("1 +"))], "expression-broken"),
        ([decision("d", table(["x"], ["o"], [["> > 1", "1"]]))], "expression-broken"),
        ([decision("d", table(["x +"], ["o"], [["1", "1"]]))], "expression-broken"),
        ([decision("d", literal("1", attributes='expressionLanguage="groovy"'))], "unsupported-language"),
        ([decision("d", table(["x"], ["o"], [["1", "1"]], 'hitPolicy="BEST"'))], "hit-policy-unknown"),
        ([decision("d", table(["x"], ["o"], [["1", "1"]], 'aggregation="AVG"'))], "hit-policy-unknown"),
        ([decision("d", literal("1"), "missing")], "reference-missing"),
        ([GOOD, GOOD], "id-duplicate"),
        (["<decision/>"], "id-missing"),
        ([decision("a", literal("b"), "b"), decision("b", literal("a"), "a")], "requirements-circular"),
        (['<import name="i" namespace="nowhere" importType="x"/>', GOOD], "import-missing"),
    ],
)
def test_what_is_refused(elements, code):
    found = compiled(*elements).errors
    assert [one.code for one in found] == [code]
    assert found[0].message and found[0].line
    with pytest.raises(CompileError):
        compile_dmn_or_raise(file(*elements))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "xml-malformed"),
        (b"<definitions/>", "not-dmn"),
        (b'<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"/>', "not-dmn"),
        (b"<!DOCTYPE x><definitions/>", "xml-doctype"),
        (
            file(GOOD, head=f'<definitions xmlns="{next(iter(VERSIONS))}" namespace="http://www.flowable.org/dmn">'),
            "foreign-dmn",
        ),
    ],
)
def test_what_is_no_dmn(data, code):
    assert [one.code for one in compile_dmn(data, file="x.dmn").errors] == [code]


def test_warnings_do_not_refuse():
    assert [one.code for one in compiled().diagnostics] == ["no-decision"]
    java = '<functionDefinition kind="Java"/>'
    found = compiled(decision("d", java))
    assert [one.code for one in found.diagnostics] == ["external-function"]
    assert not found.errors


def test_every_code_has_a_severity():
    assert set(DMN_SEVERITY.values()) <= {"error", "warning", "note"}


def test_all_models_of_the_corpus_are_read_stored_and_evaluated():
    files = sorted(corpus("camunda7").rglob("*.dmn")) + sorted(corpus("dmn_tck").rglob("*.dmn"))
    assert len(files) > 80
    for path in files:
        others = [other.read_bytes() for other in sorted(path.parent.glob("*.dmn")) if other != path]
        found = compile_dmn(path.read_bytes(), file=path.name, others=others)
        if found.decisions is None:
            assert found.errors
            continue
        assert from_json(to_json(found.decisions)) == found.decisions
        Evaluator(found.decisions)
