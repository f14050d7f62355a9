"""Deploying: all files together, every problem at once, versions by content."""

from __future__ import annotations

import pytest

from bpm import engine
from tests.database.engine.drawing import HEAD, end, flows, message, model, service, start, user

ONE = model(start(), service("pay"), end(), flows("start -> pay -> end"))
TWO = model(start(), user("look"), end(), flows("start -> look -> end"), id="q")


def versions(world):
    return world.ask("SELECT key, version FROM process_definitions ORDER BY key, version")


def test_files_are_deployed_together_and_kept_as_they_came(world):
    found = engine.deploy({"one.bpmn": ONE, "two.bpmn": TWO}, name="both", actor="anna")
    assert [(d.key, d.version, d.new) for d in found.definitions] == [("p", 1, True), ("q", 1, True)]
    assert len(set(world.ask("SELECT deployment_id FROM process_definitions"))) == 1
    stored = world.ask("SELECT source, resource, created_by FROM process_definitions WHERE key = 'p'")
    assert stored == [(ONE.decode(), "one.bpmn", "anna")]


def test_the_same_content_keeps_its_version_and_another_gets_the_next(world):
    engine.deploy({"one.bpmn": ONE, "two.bpmn": TWO}, actor="anna")
    changed = ONE.replace(b'topic="pay"', b'topic="charge"')
    again = engine.deploy({"one.bpmn": changed, "two.bpmn": TWO}, actor="anna")
    assert [(d.key, d.version, d.new) for d in again.definitions] == [("p", 2, True), ("q", 1, False)]
    assert versions(world) == [("p", 1), ("p", 2), ("q", 1)]


def test_one_bad_file_refuses_all_and_says_everything(world):
    bad = model(start(), '<bpmn:businessRuleTask id="r" camunda:decisionRef=""/>', flows("start -> nowhere"))
    with pytest.raises(engine.DeployRefused) as refusal:
        engine.deploy({"one.bpmn": ONE, "bad.bpmn": bad, "worse.bpmn": b"<no"}, actor="anna")
    files = {d.file for d in refusal.value.diagnostics if d.severity == "error"}
    assert files == {"bad.bpmn", "worse.bpmn"}
    assert all(d.code and d.message for d in refusal.value.diagnostics)
    assert versions(world) == []


@pytest.mark.parametrize(
    "files", [{}, {"empty.bpmn": b""}, {"x.bpmn": HEAD.encode() + b"</bpmn:definitions>"}, {"": ONE}, {"a\x00": ONE}]
)
def test_nothing_to_run_is_refused(world, files):
    with pytest.raises(engine.EngineError):
        engine.deploy(files, actor="anna")
    assert versions(world) == []


def test_two_processes_of_one_id_are_refused(world):
    other = model(start(), user("look"), end(), flows("start -> look -> end"))
    with pytest.raises(engine.DeployRefused, match="process-duplicate"):
        engine.deploy({"a.bpmn": ONE, "b.bpmn": other}, actor="anna")


def test_the_same_process_in_two_files_is_one(world):
    engine.deploy({"a.bpmn": ONE, "b.bpmn": ONE}, actor="anna")
    assert versions(world) == [("p", 1)]


def test_the_newest_version_alone_is_started_by_a_message(world):
    before = '<bpmn:message id="m" name="Go"/>'
    for node in ("old", "new"):
        engine.deploy(
            {
                "x.bpmn": model(
                    start(inner=message("m")), user(node), end(), flows(f"start -> {node} -> end"), before=before
                )
            },
            actor="anna",
        )
    record = engine.correlate("Go", actor="anna")
    assert world.where(record.thread_id) == ["new"]
    assert world.ask("SELECT state FROM start_subscriptions ORDER BY state") == [("CLOSED",), ("OPEN",)]
