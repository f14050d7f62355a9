"""What the checker finds: in small processes with a fault each, in sound ones, in the examples; and that it is so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpm.checker import Bounds, Finding, Report, Space, as_text, check, explore, replay, shown_by
from bpm.checker.exploring import Edge
from bpm.checker.fault import FAULTS
from bpm.checker.faults import faults
from bpm.checker.situations import Shape, situation
from bpm.compiler import compile_bpmn
from bpm.graph import Process
from bpm.scenarios import CoreDriver, run
from bpm.scenarios.parse import parse
from bpm.semantics import State
from tests.pure.checker.models import BAD, GOOD

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").rglob("*.bpmn"))


def compiled(xml: str | bytes) -> Process:
    found = compile_bpmn(xml if isinstance(xml, bytes) else xml.encode(), file="p.bpmn")
    assert found.errors == ()
    return found.processes[0]


def said(report: Report) -> list[str]:
    return [f"{finding.code} {'+'.join(finding.elements)}" for finding in report.findings]


@pytest.mark.parametrize("name", BAD)
def test_a_fault_is_found_and_nothing_else(name):
    expected, xml = BAD[name]
    report = check(compiled(xml), file="p.bpmn")
    assert said(report) == expected
    assert {finding.severity for finding in report.findings} <= {"error", "warning", "note"}
    assert all(finding.line for finding in report.findings)


def test_every_kind_of_fault_has_a_process_that_has_it():
    assert {finding.split()[0] for expected, _ in BAD.values() for finding in expected} == set(FAULTS)


@pytest.mark.parametrize("name", GOOD)
def test_a_sound_process_has_no_finding(name):
    report = check(compiled(GOOD[name]))
    assert (said(report), report.complete) == ([], True)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_examples_have_no_finding(file):
    for process in compile_bpmn(file.read_bytes()).processes:
        report = check(process)
        assert (said(report), report.complete) == ([], True)


def all_processes() -> dict[str, Process]:
    small = GOOD | {name: xml for name, (_, xml) in BAD.items()}
    found = {name: compiled(xml) for name, xml in small.items()}
    return found | {process.id: process for file in EXAMPLES for process in compile_bpmn(file.read_bytes()).processes}


PROCESSES = all_processes()


def shape(space: Space, state: State) -> Shape:
    return situation(state, aged=space.aged).shape


@pytest.mark.parametrize("name", PROCESSES)
def test_the_live_semantics_come_to_every_situation_by_its_way(name):
    """Decided and evolved command by command, with all its history, a way leads to the situation that it is of."""
    space: Space = explore(PROCESSES[name])
    for number in range(len(space.states)):
        there = replay(space, space.way(number))
        assert shape(space, there) == shape(space, space.states[number])
    for fault in faults(space):
        if fault.there is not None:
            assert shape(space, replay(space, fault.way)) == shape(space, fault.there)


# What is never reached has no way; that an escalation is of no consequence no scenario can tell.
UNSHOWN = ("never-reached", "escalation-uncaught")


@pytest.mark.parametrize("name", [name for name, (found, _) in BAD.items() if found[0].split()[0] not in UNSHOWN])
def test_a_scenario_shows_it_on_the_real_process(name, tmp_path):
    _, xml = BAD[name]
    (tmp_path / "p.bpmn").write_text(xml)
    finding = check(compiled(xml), models=["p.bpmn"]).findings[0]
    assert shown_by(finding, lambda document: runs(document, tmp_path)).shown is True


def runs(document: dict[str, object], folder: Path) -> bool:
    scenario = parse(document, file="ways.yaml", number=1)
    assert scenario.problems == ()
    assert scenario.scenario is not None
    return run(scenario.scenario, lambda: CoreDriver(folder)).passed


def test_what_no_run_has_shown_is_an_error_only_where_data_has_no_say():
    finding = check(compiled(BAD["a parallel join after an exclusive split"][1])).findings[0]
    assert finding.data
    assert shown_by(finding, lambda document: False).severity == "warning"
    finding = check(compiled(BAD["a fork in a round"][1])).findings[0]
    assert not finding.data
    assert shown_by(finding, lambda document: False).severity == "error"


@pytest.mark.parametrize("name", PROCESSES)
def test_the_same_is_found_in_the_same_order_each_time(name):
    process = PROCESSES[name]
    first, second = explore(process), explore(process)
    assert (first.numbers, first.came, first.leaving) == (second.numbers, second.came, second.leaving)


@pytest.mark.parametrize("name", PROCESSES)
def test_leaving_out_orders_leaves_out_no_finding(name):
    process = PROCESSES[name]
    less, all_of_it = explore(process), explore(process, reduce=False)
    assert set(less.numbers) <= set(all_of_it.numbers)
    assert [(f.code, f.elements) for f in faults(less)] == [(f.code, f.elements) for f in faults(all_of_it)]
    assert set(less.reached) == set(all_of_it.reached)


def test_a_bound_that_is_met_is_said_and_nothing_is_claimed_of_what_lies_beyond():
    report = check(compiled(BAD["a join that a branch leaves out"][1]), Bounds(states=4))
    assert not report.complete
    assert report.limits == ("there are more situations than were looked at",)
    assert "deadlock" not in {finding.code for finding in report.findings}
    assert "not complete" in as_text(report)


def test_a_report_is_text_and_json():
    report = check(compiled(BAD["a parallel join after an exclusive split"][1]), file="p.bpmn", models=["p.bpmn"])
    assert as_text(report).splitlines()[:4] == [
        "p.bpmn:8: error deadlock: Nothing can move any more: j waits for a token by p_5 from B.",
        "    1. An instance starts at s.",
        "    2. At x, ${a} holds (the flow to A).",
        "    3. A is completed.",
    ]
    told = json.loads(json.dumps(report.to_json()))
    assert told["findings"][0]["scenario"]["start"] == {"process": "p", "variables": {"a": True}}
    assert told["findings"][0] | {"scenario": None} == told["findings"][0] | {
        "code": "deadlock", "severity": "error", "element": "j", "line": 8, "file": "p.bpmn", "scenario": None,
    }  # fmt: skip


def ended(edges: list[Edge]) -> list[str]:
    return [edge.move.kind for edge in edges]


def test_the_way_is_the_shortest():
    space = explore(compiled(GOOD["a loop"]))
    over = next(n for n, state in enumerate(space.states) if state.instances[0].state == "COMPLETED")
    assert ended(space.way(over)) == ["start", "advance", "complete", "advance"]


def test_findings_name_what_the_modeller_drew():
    process = compiled(BAD["an inclusive fork that a parallel join closes"][1].replace('id="j"', 'id="j" name="All"'))
    finding: Finding = check(process).findings[0]
    assert (finding.element, finding.name) == ("j", "All")
    assert finding.message.startswith('Nothing can move any more: j ("All") waits')
