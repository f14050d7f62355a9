"""Scenarios of public models: processes of the English civil courts pass, all 158 of them."""

from __future__ import annotations

from bpm.scenarios import CoreDriver, read_scenarios, run_document, scenario_files
from tests.pure.scenarios.corpus import corpus
from tests.pure.scenarios.writing import told


def test_the_processes_of_the_civil_courts_pass():
    files = scenario_files([str(corpus("prod_hmcts_civil"))])
    results = [
        run_document(document, lambda file=file: CoreDriver(file.parent))
        for file in files
        for document in read_scenarios(file)
    ]
    assert told(results) == []
    assert len(results) == 158


def test_no_scenario_of_the_corpus_meets_a_defect():
    """What cannot be run is refused with a reason; nothing ends in an exception of the engine's own."""
    for source in ("betsy", "bpmn_js_token_simulation"):
        for file in scenario_files([str(corpus(source))]):
            for document in read_scenarios(file):
                result = run_document(document, lambda file=file: CoreDriver(file.parent))
                assert not [f for f in result.failures if f.expected == "the engine goes on"], document.name
