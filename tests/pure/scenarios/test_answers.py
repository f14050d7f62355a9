"""Mocks, auto, deployment errors and the bound of moves; and the report."""

from __future__ import annotations

import json

from bpm.scenarios import as_json, as_text, summary
from tests.pure.scenarios.writing import boundary, end, gateway, perform, person, process, start, timer, told, work

LOOP = process("loop", start("s"), work("Validate"), gateway("exclusive", "g", "loop_3"), person("Sign"), end("e"),
               "s > Validate > g", "g > Validate", "g > Sign?${valid}", "Sign > e")  # fmt: skip


def test_mocks_answer_each_visit_and_the_last_one_repeats(tmp_path):
    scenario = """
        start: {process: loop}
        auto: [user_task]
        mocks:
          Validate: [{variables: {valid: false}}, {variables: {valid: false}}, {variables: {valid: true}}]
        expect: {passed_times: {Validate: 3}, ended: true, trace: [validate, validate, validate]}
        ---
        start: {process: loop}
        mocks: {"topic:validate": {variables: {valid: true}}}
        expect: {passed_times: {Validate: 1}, waiting: [Sign]}
        ---
        start: {process: loop}
        mocks: {Validate: [{fail: {message: away, retries: 1}}, {variables: {valid: true}}]}
        expect: {waiting: [Sign], incidents: 0}
        ---
        start: {process: loop}
        mocks: {Validate: {fail: {message: broken, retries: 0}}}
        expect: {waiting: [Validate], incidents: 1}
    """
    assert told(perform(tmp_path, scenario, loop=LOOP)) == []


def test_auto_leaves_alone_what_a_step_names(tmp_path):
    model = process("p", start("s"), person("A"), person("B"), work("C"), work("D"), end("e"), "s > A > B > C > D > e")
    scenario = """
        start: {process: p}
        auto: [user_task, external_task]
        steps:
          - expect: {waiting: [B], passed: [A]}
          - complete: {activity: B}
          - expect: {waiting: [D], passed: [C]}
          - complete: {topic: d}
        expect: {ended: true}
        ---
        start: {process: p}
        auto: [external_task]
        expect: {waiting: [A]}
    """
    assert told(perform(tmp_path, scenario, p=model)) == []


def test_an_endless_loop_is_found(tmp_path):
    model = process("p", start("s"), '<task id="A"/>', '<task id="B"/>', "s > A > B > A")
    (failed,) = perform(tmp_path, "start: {process: p}", p=model)
    (failure,) = failed.failures
    assert failure.expected == "every token waits or has ended after 10000 moves"
    assert failure.there.startswith("it goes on and on: [")
    assert 10_000 < len(failure.path) < 10_400
    assert f"({len(failure.path) - 30} before) > " in as_text(failed)


def test_an_endless_loop_of_answers_is_found(tmp_path):
    scenario = """
        start: {process: loop}
        mocks: {Validate: {variables: {valid: false}}}
    """
    (failed,) = perform(tmp_path, scenario, loop=LOOP)
    assert failed.failures[0].expected == "every token waits or has ended after 10000 moves"


def test_a_timer_that_is_overdue_does_not_wait(tmp_path):
    model = process("p", start("s"), person("A"), boundary("B", "A", timer("PT0S")), end("e"), "s > A > e", "B > e")
    assert told(perform(tmp_path, "start: {process: p}\nexpect: {ended: true, passed: [B]}", p=model)) == []


def test_models_that_are_refused_say_why(tmp_path):
    broken = process("p", start("s"), end("e"), '<complexGateway id="g"/>', "s > g", "s > nowhere")
    scenario = """
        deploy_error: true
        ---
        deploy_error: false
        ---
        start: {process: p}
        ---
        models: [absent.bpmn]
        start: {process: p}
    """
    first, second, third, fourth = perform(tmp_path, scenario, p=broken)
    assert first.passed
    assert second.failures and second.failures == third.failures
    assert {failure.step for failure in third.failures} == {"deploy"}
    assert any("nowhere" in failure.there and "p.bpmn" in failure.there for failure in third.failures)
    assert "absent.bpmn" in fourth.failures[0].there


def test_models_that_are_accepted_say_so(tmp_path):
    fine = process("p", start("s"), end("e"), "s > e")
    scenario = "deploy_error: false\n---\ndeploy_error: true"
    assert told(perform(tmp_path, scenario, p=fine)) == [
        "deploy: the models are refused at deployment / they were accepted"
    ]


def test_a_document_with_problems_fails(tmp_path):
    fine = process("p", start("s"), end("e"), "s > e")
    assert told(perform(tmp_path, "start: {process: p}\nexpct: {}", p=fine))[0].startswith("read: a scenario / expct")


def test_every_expectation_tells_what_was_there(tmp_path):
    model = process("p", start("s"), work("A"), person("B"), end("e"), "s > A > B > e")
    scenario = """
        start: {process: p, variables: {x: 1, t: true}}
        auto: [external_task]
        expect:
          waiting: [A]
          passed: [A, s]
          passed_once: [B]
          passed_times: {A: 2, s: 1}
          not_passed: [A, B]
          ended: true
          state: COMPLETED
          end_events: [e]
          variables: {x: true, t: 1, y: null}
          trace: []
          trace_multiset: [b]
          incidents: 1
    """
    (failed,) = perform(tmp_path, scenario, p=model)
    assert [(failure.expected, failure.there) for failure in failed.failures] == [
        ("waiting: [A]", "[B]"),
        ("passed: [A, s]", "s not after those before it"),
        ("passed_once: {B: 1}", "{B: 0}"),
        ("passed_times: {A: 2}", "{A: 1}"),
        ("not_passed: [A, B]", "passed: [A]"),
        ("ended: true", "state: RUNNING, waiting: [B]"),
        ("state: COMPLETED", "RUNNING"),
        ("end_events: [e]", "[]"),
        ("variables: {x: true, t: 1, y: null}", "{x: 1, t: true, y: (no such variable)}"),
        ("trace: []", "[a]"),
        ("trace_multiset: [b]", "[a]"),
        ("incidents: 1", "0"),
    ]
    assert failed.failures[0].path == ("s", "A")


def test_the_report_names_scenario_step_and_path(tmp_path):
    model = process("p", start("s"), person("A"), end("e"), "s > A > e")
    scenario = """
        name: it is signed
        start: {process: p}
        steps: [{complete: {activity: A}}, {complete: {activity: B}}]
        ---
        name: it waits
        start: {process: p}
    """
    results = perform(tmp_path, scenario, p=model)
    file = tmp_path / "scenario.yaml"
    assert as_text(results[0]) == (
        f"FAIL {file}: it is signed\n"
        "     at step 2 (complete B)\n"
        "       expected  the step is carried out\n"
        "       there     B does not wait; waiting: []\n"
        "       path      s > A > e"
    )
    assert as_text(results[1]) == f"ok   {file}: it waits"
    assert summary(results) == "1 passed, 1 failed"
    told_as_json = json.loads(as_json(results[0]))
    assert told_as_json["scenario"] == "it is signed"
    assert told_as_json["passed"] is False
    assert told_as_json["failures"] == [
        {
            "step": "step 2 (complete B)",
            "expected": "the step is carried out",
            "there": "B does not wait; waiting: []",
            "path": ["s", "A", "e"],
        }
    ]


def test_end_events_of_subprocesses_may_be_named_and_need_not(tmp_path):
    inner = '<startEvent id="is"/><endEvent id="ie"/><sequenceFlow id="if" sourceRef="is" targetRef="ie"/>'
    model = process("p", start("s"), f'<subProcess id="S">{inner}</subProcess>', end("e"), "s > S > e")
    scenario = """
        start: {process: p}
        expect: {end_events: [e], passed: [is, ie, S, e]}
        ---
        start: {process: p}
        expect: {end_events: [ie, e]}
        ---
        start: {process: p}
        expect: {end_events: [ie]}
    """
    assert told(perform(tmp_path, scenario, p=model)) == ["expect: end_events: [ie] / [e]"]
