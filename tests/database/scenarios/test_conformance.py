"""How the page of conformance is made: what the peer's tests say, why models are refused, what has no reason."""

from __future__ import annotations

import json
from contextlib import nullcontext
from io import StringIO

import pytest
from django.core.management import call_command

from bpm import engine
from bpm.compiler import Diagnostic
from bpm.management import conformance, driving
from bpm.management.conformance import Judged, Survey, page
from bpm.management.conformance.models import feature, read_models
from bpm.management.conformance.peer import verdicts
from bpm.scenarios import Failure, Result
from tests.pure.scenarios.writing import end, person, process, start


def judged(name: str, *failures: Failure, source: str = "betsy", disputed: bool = False) -> Judged:
    result = Result(file="f.yaml", number=1, name=name, failures=failures)
    return Judged(source=source, asked="to run", disputed=disputed, name=name, core=result, engine=result, instances=1)


def written(*scenarios: Judged) -> str:
    models = {"camunda7": (), "miwg": (), "lib_bpmn_engine_go": ()}
    return page(Survey(scenarios=scenarios, models=models, refused_by_peer={}, decisions={"level": ()}))


def test_a_failure_without_a_reason_stands_on_the_page():
    failure = Failure(step="expect", expected="ended: true", there="state: RUNNING | waiting: [A]")
    text = written(judged("good"), judged("bad", failure), judged("EXT.023 open", failure, disputed=True))
    assert "| betsy | to run | 2 | 1 | 1 |" in text
    assert "| betsy | bad | **Unexplained.** At expect: expected ended: true; there: state: RUNNING \\| waiting" in text
    assert "| EXT.023 | 1 | 0 |" in text
    assert "None." in written(judged("good"))


def test_what_the_peer_refuses(tmp_path):
    tests = [
        {"models": ["refused"], "calls": [["fail", "exception expected"], ["assertTextPresent", "no"]]},
        {"models": ["run"], "calls": [["startProcessInstanceByKey", "p"], ["fail"]]},
        {"models": ["both"], "calls": [["fail"]]},
        {"models": ["both"], "calls": [["startProcessInstanceByKey", "p"]]},
        {"models": ["read"], "calls": [["assertEquals", 1], ["fail"]]},
        {"models": ["one", "other"], "calls": [["fail"]]},
    ]
    (tmp_path / "tests.json").write_text(json.dumps(tests))
    found = verdicts(tmp_path / "tests.json")
    assert [model for model, refused in found.items() if refused] == ["refused"]
    assert set(found) == {"refused", "run", "both", "read", "one", "other"}


def test_features_that_are_wanting_have_names():
    def said(code: str, message: str) -> str | None:
        return feature(Diagnostic(code=code, severity="error", element="", line=0, message=message))

    assert said("unsupported-language", "The condition is written in 'Groovy'; no.") == "scripts in groovy"
    assert said("unsupported-extension", "camunda:caseRef is not supported: no cases.") == "`camunda:caseRef`"
    assert said("unsupported-feature", "A wheel: no.") == "A wheel"
    assert said("timer-broken", "The timer cannot be read.") is None


def test_models_are_read_and_begun(tmp_path):
    folder = tmp_path / "models" / "deep"
    folder.mkdir(parents=True)
    (folder / "a.bpmn").write_text(process("p", start("s"), person("A"), end("e"), "s > A > e"))
    (folder / "b.bpmn").write_text(process("p", start("s"), end("e"), "s > A"))
    (folder / "c.bpmn").write_text(process("p", end("e")).replace('isExecutable="true"', 'isExecutable="false"'))
    (folder / "d.bpmn").write_text("no model")
    found = {verdict.path: verdict for verdict in read_models(tmp_path)}
    assert [verdict.outcome for verdict in found.values()] == ["started", "refused", "drawing", "refused"]
    assert found["models/deep/d.bpmn"].code == "xml-malformed"


@pytest.fixture
def command(monkeypatch, tmp_path):
    """`bpm conformance` over nothing: its exit status and what it prints."""
    monkeypatch.setattr(conformance, "judge", lambda *_: [])
    monkeypatch.setattr(conformance, "survey", lambda *_: None)
    monkeypatch.setattr(conformance, "page", lambda _: "all is well\n")
    monkeypatch.setattr(driving, "ground", lambda: nullcontext())
    monkeypatch.setattr(engine, "unregister", lambda _: None)

    def run(*arguments: str) -> tuple[int, str]:
        printed = StringIO()
        try:
            call_command("bpm", "conformance", str(tmp_path), *arguments, stdout=printed)
        except SystemExit as ended:
            return int(ended.code or 0), printed.getvalue()
        return 0, printed.getvalue()

    return run


def test_the_command_prints_writes_and_compares(command, tmp_path):
    file = tmp_path / "page.md"
    assert command() == (0, "all is well\n")
    assert command("--output", str(file)) == (0, "")
    assert file.read_text() == "all is well\n"
    assert command("--check", str(file)) == (0, "")
    file.write_text("all was well\n")
    status, said = command("--check", str(file))
    assert status == 1
    assert "-all was well" in said and "+all is well" in said
