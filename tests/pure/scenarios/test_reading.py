"""Scenario files: YAML as JSON, folders, and what is wrong with a document."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from bpm.scenarios import UnreadableFile, read_scenarios, scenario_files
from bpm.scenarios.model import Answer
from bpm.scenarios.reading import documents

MINIMAL = "name: a\nmodels: [m.bpmn]\nstart: {process: p}\n"


def problems(tmp_path: Path, text: str) -> tuple[str, ...]:
    file = tmp_path / "s.yaml"
    file.write_text(text)
    (found,) = read_scenarios(file)
    assert (found.scenario is None) == bool(found.problems)
    return found.problems


def test_yaml_says_what_json_can_say(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text("a: 2020-01-31\nb: no\nc: 1.10\nd: 12:30\ne: 010\nf: [true, ~, -3, 1e3]\ng:\n")
    (found,) = documents(file)
    assert found == {
        "a": "2020-01-31",
        "b": "no",
        "c": Decimal("1.10"),
        "d": "12:30",
        "e": "010",
        "f": [True, None, -3, Decimal(1000)],
        "g": None,
    }
    assert str(found["c"]) == "1.10"


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2", "1: x", "a: !!python/object:os.system x", "a: \x00"])
def test_what_is_no_yaml_for_json_cannot_be_read(tmp_path, text):
    file = tmp_path / "s.yaml"
    file.write_text(text)
    with pytest.raises(UnreadableFile) as raised:
        documents(file)
    assert raised.value.file == str(file)


def test_anchors_and_merges_work(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n")
    assert documents(file) == [{"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}]


def test_a_folder_means_all_scenario_files_below_it(tmp_path):
    for name in ("b.yaml", "a.yml", "x/c.yaml", "x/model.bpmn"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = scenario_files([str(tmp_path), str(tmp_path / "b.yaml")])
    assert [file.name for file in found] == ["a.yml", "b.yaml", "c.yaml"]
    with pytest.raises(UnreadableFile):
        scenario_files([str(tmp_path / "nowhere")])


def test_several_documents_are_several_scenarios_and_names_are_unique(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(f"---\n{MINIMAL}---\n{MINIMAL}---\n{MINIMAL.replace('name: a', 'name: b')}")
    first, second, third = read_scenarios(file)
    assert (first.number, second.number, third.number) == (1, 2, 3)
    assert first.scenario and third.scenario
    assert second.problems == ("name: 'a' stands in this file already",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "the document: [] should be a mapping"),
        ("name: a\nstart: {process: p}", "models: is missing"),
        ("name: a\nmodels: []\nstart: {process: p}", "models: [] should be a list of one name or more"),
        ("name: a\nmodels: [m]", "start / deploy_error: exactly one of them must be there"),
        (MINIMAL + "deploy_error: true", "start / deploy_error: exactly one of them must be there"),
        (MINIMAL + "stpes: []", "stpes: unknown key; known are name, models"),
        (MINIMAL + "auto: [robots]", "auto: ['robots'] should be a list of user_task, external_task"),
        (MINIMAL + "steps: [{advance: 1h}]", "steps[1].advance: '1h' should be an ISO 8601 duration"),
        (MINIMAL + "steps: [{jump: far}]", "steps[1]: unknown step 'jump'; known are complete"),
        (MINIMAL + "steps: [{advance: PT1S, signal: {name: x}}]", "steps[1]: a step is a mapping with one key"),
        (MINIMAL + "steps: [{complete: {variables: {}}}]", "steps[1].complete.activity / topic: at least one"),
        (MINIMAL + "steps: [{expect: {wating: []}}]", "steps[1].expect.wating: unknown key"),
        (MINIMAL + "steps: [{expect_error: {step: {expect: {}}}}]", "expect asks the engine for nothing"),
        (
            MINIMAL + "steps: [{expect_error: {step: {signal: {}}}}]",
            "steps[1].expect_error.step.signal.name: is missing",
        ),
        (MINIMAL + "expect: {passed_times: {A: -1}}", "expect.passed_times: {'A': -1} should be a mapping of names"),
        (MINIMAL + "expect: {state: DONE}", "expect.state: 'DONE' should be one of RUNNING"),
        (MINIMAL + "mocks: {A: {error: {}}}", "mocks.A.error.code: is missing"),
        (MINIMAL + "mocks: {A: []}", "mocks.A: the list is empty"),
        (MINIMAL + "mocks: {A: {variables: {}, fail: {}}}", "mocks.A: only one of variables, error, fail"),
        (MINIMAL + "called: {p: {fail: {}}}", "called.p.fail: a called process completes"),
        ("name: a\nmodels: [m]\ndeploy_error: true\nsteps: []", "steps: nothing is started"),
        ("name: a\nmodels: [m]\nstart: {process: p, message: m}", "start.process / message / signal: exactly one"),
    ],
)
def test_a_document_says_what_is_wrong_with_it(tmp_path, text, said):
    assert any(said in problem for problem in problems(tmp_path, text))


def test_all_problems_are_said_at_once(tmp_path):
    assert len(problems(tmp_path, MINIMAL + "stpes: []\nauto: 3\nexpect: {ended: 1}")) == 3


def test_answers_are_read(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(
        MINIMAL
        + "mocks:\n  A: {}\n  topic:t: [{variables: {x: 1}}, {error: {code: E}}, {fail: {retries: 0}}]\n"
        + "called: {q: {variables: {y: 2}}}\n"
    )
    (found,) = read_scenarios(file)
    assert found.scenario is not None
    assert found.scenario.mocks == {
        "A": (Answer(),),
        "topic:t": (Answer(variables={"x": 1}), Answer(kind="error", code="E"), Answer(kind="fail", retries=0)),
    }
    assert found.scenario.called == {"q": Answer(variables={"y": 2})}


def test_every_scenario_of_the_corpus_can_be_read():
    from tests.pure.scenarios.corpus import corpus

    for file in scenario_files([str(corpus("betsy").parent)]):
        for document in read_scenarios(file):
            assert document.problems == (), json.dumps(document.problems)
