"""Public models: those in production compile without a finding that stops them; the standard's rules judge as the
corpus says.

The corpus lies beside the checkout (TOKENTRAIL_CORPUS names another place) and is not part of the tree."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
import yaml

from bpm.compiler import Compiled, check_together, compile_bpmn
from bpm.graph import from_json, graph_hash, to_json

CORPUS = Path(os.environ.get("TOKENTRAIL_CORPUS", Path(__file__).resolve().parents[4] / "shared" / "corpus"))

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the checkout")

# The expectation is wrong: both are the repaired version of a broken model and keep every rule.
MISJUDGED = {
    "EXT.012 EXT012_failure_sequenceFlow_manualFix is refused",  # not executable: natural language is allowed (8.4.6)
    "EXT.106 fail_sub_process_manualFix is refused",  # has no cancel event at all
}


def models(source: str) -> list[Path]:
    folder = CORPUS / source / "models"
    return sorted(path for path in folder.rglob("*") if path.suffix in (".bpmn", ".xml") and "dmn" not in path.name)


def read(path: Path, *, strict: bool = False) -> Compiled:
    return compile_bpmn(path.read_bytes(), file=path.name, strict=strict)


def test_every_production_model_compiles():
    found = [read(path) for path in models("prod_hmcts_civil")]
    assert len(found) == 45
    assert [str(error) for item in found for error in item.errors] == []
    assert Counter(d.code for item in found for d in item.diagnostics) == {
        "extension-ignored": 48,
        "condition-missing": 4,
    }
    assert [d.code for d in check_together(found) if d.severity == "error"] == []


@pytest.mark.parametrize(
    ("source", "files", "refused"),
    [
        ("bpmn_js_token_simulation", 52, {}),
        (
            "lib_bpmn_engine_go",
            56,
            {
                "service-task-invalid-input.bpmn": "expression-broken",
                "service-task-invalid-output.bpmn": "expression-broken",
                "message-intermediate-invalid-timer-event.bpmn": "timer-missing",
                "simple-link-event-broken.bpmn": "link-pair",
            },
        ),
        (
            "miwg",
            21,
            {
                "C.4.0.bpmn": "message-missing",
                "C.5.0.bpmn": "signal-missing",
                "C.6.0.bpmn": "message-missing",
                "C.7.0.bpmn": "collection-missing",
            },
        ),
    ],
)
def test_models_of_others(source, files, refused):
    """All are read; what is refused is broken or drawn without what an engine needs. Features that are not run do not
    count here."""
    found = [read(path) for path in models(source)]
    assert len(found) == files
    reasons = {item.file: [e.code for e in item.errors if e.code != "unsupported-feature"] for item in found}
    assert {file: codes[0] for file, codes in reasons.items() if codes} == refused


def scenarios(*files: str) -> list[tuple[Path, dict]]:
    loaded = [(CORPUS / file, yaml.load_all((CORPUS / file).read_text(), Loader=yaml.CSafeLoader)) for file in files]
    return [(path, scenario) for path, documents in loaded for scenario in documents if "deploy_error" in scenario]


def refused(path: Path, scenario: dict) -> bool:
    found = [read(path.parent / name, strict=bool(scenario.get("strict"))) for name in scenario["models"]]
    errors = [error for item in found for error in item.errors]
    return bool(errors or [d for d in check_together(found) if d.severity == "error"])


@pytest.mark.parametrize(
    ("file", "judged"),
    [
        ("bpmnspector/scenarios/invalid.yaml", 118),
        ("bpmnspector/scenarios/valid.yaml", 93),
        ("betsy/scenarios/static_analysis.yaml", 129),
    ],
)
def test_the_standards_rules(file, judged):
    cases = scenarios(file)
    assert len(cases) == judged
    wrong = {scenario["name"] for path, scenario in cases if refused(path, scenario) is not scenario["deploy_error"]}
    assert wrong == {scenario["name"] for _, scenario in cases} & MISJUDGED


def test_models_of_camunda_7():
    """Nothing raises, and every graph comes back from its JSON. What is refused, by reason; features aside."""
    found = [read(path) for path in models("camunda7")]
    assert all(from_json(to_json(process)) == process for item in found for process in item.processes)
    assert all(len(graph_hash(to_json(process))) == 64 for item in found for process in item.processes)
    reasons = [{error.code for error in item.errors if error.code != "unsupported-feature"} for item in found]
    assert (len(found), sum(not codes for codes in reasons)) == (1006, 889)
    assert Counter(code for codes in reasons for code in codes) == {
        "listener-not-run": 36,
        "unsupported-extension": 25,  # CMMN cases 17, inputs and outputs where nothing sees them 8
        "unsupported-language": 21,  # Groovy and JavaScript in conditions and parameters
        "trigger-misplaced": 7,  # what is left: tests of the peer's parser, which refuses them, too
        "value-wrong": 7,
        "expression-missing": 4,
        "reference-missing": 4,
        "subscription-twice": 3,
        "event-gateway-target": 2,
        "form-field-untyped": 2,
        "timer-broken": 2,
        "timer-missing": 2,
        "xml-doctype": 2,
        "called-element-missing": 1,
        "event-subprocess-flow": 1,
        "id-missing": 1,
        "link-flow": 1,
        "name-computed": 1,
        "topic-missing": 1,
        "trigger-missing": 1,
    }
