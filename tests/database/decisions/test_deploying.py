"""Decisions are deployed beside processes: versioned, immutable, refused with every problem."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DatabaseError, connection, transaction

from bpm import engine
from tests.database.decisions.conftest import BOUND, decides, deploy, tiers
from tests.pure.decisions.writing import HEAD, decision, file, literal


def stored(world, columns: str = "key, version"):
    return world.ask(f"SELECT {columns} FROM decision_definitions ORDER BY key, version")


def test_what_is_deployed_together_is_one_deployment_and_one_commit(world):
    found = deploy(p_bpmn=decides(BOUND), tier_dmn=tiers())
    assert [(d.key, d.version, d.new) for d in found.definitions] == [("p", 1, True)]
    assert [(d.key, d.version, d.name, d.new) for d in found.decisions] == [("tier", 1, "tier", True)]
    (process,) = world.ask("SELECT deployment_id, commit_version FROM process_definitions")
    assert stored(world, "deployment_id, commit_version") == [process]
    assert stored(world, "source, resource, created_by") == [(tiers().decode(), "tier.dmn", "ann")]


def test_the_same_content_keeps_its_version_and_another_gets_the_next(world):
    deploy(tier_dmn=tiers())
    assert [d.new for d in deploy(tier_dmn=tiers()).decisions] == [False]
    assert deploy(tier_dmn=tiers()).id is None
    assert [(d.version, d.new) for d in deploy(tier_dmn=tiers('"anybody"')).decisions] == [(2, True)]
    assert stored(world) == [("tier", 1), ("tier", 2)]


def test_every_decision_of_a_file_has_versions_of_its_own(world):
    other = decision("other", literal("1"))
    deploy(a_dmn=file(other))
    deploy(b_dmn=file(other, decision("more", literal("2"))))
    assert stored(world) == [("more", 1), ("other", 1), ("other", 2)]


def test_an_import_counts_as_content(world):
    def library(number: str) -> bytes:
        return file(decision("base", literal(number)), head=HEAD.replace('"own"', '"lib"'))

    uses = file(
        '<import name="lib" namespace="lib" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>',
        '<decision id="twice" name="twice"><variable name="twice"/><informationRequirement>'
        '<requiredDecision href="lib#base"/></informationRequirement>'
        f"{literal('lib.base * 2')}</decision>",
    )
    deploy(lib_dmn=library("1"), uses_dmn=uses)
    assert engine.evaluate_decision("twice").result == 2
    deploy(lib_dmn=library("4"), uses_dmn=uses)
    assert engine.evaluate_decision("twice").result == 8
    assert engine.evaluate_decision("twice", version=1).result == 2


def test_problems_of_all_files_refuse_all(world):
    with pytest.raises(engine.DeployRefused) as refused:
        deploy(
            p_bpmn=decides('camunda:decisionRef="tier" camunda:mapDecisionResult="nonsense"'),
            tier_dmn=tiers(small="1 +"),
            bad_dmn=b"<no",
            twice_dmn=tiers(),
        )
    found = {(d.file, d.code) for d in refused.value.diagnostics if d.severity == "error"}
    assert {file for file, _ in found} == {"p.bpmn", "tier.dmn", "bad.dmn", "twice.dmn"}
    assert ("tier.dmn", "expression-broken") in found
    assert ("twice.dmn", "decision-duplicate") in found
    assert stored(world) == []
    assert world.ask("SELECT count(*) FROM process_definitions") == [(0,)]


def test_a_file_is_told_by_its_content(world):
    found = engine.deploy({"tiers.xml": tiers()}, actor="ann")
    assert [d.key for d in found.decisions] == ["tier"]


def test_a_definition_never_changes(world):
    deploy(tier_dmn=tiers())
    for statement in ("UPDATE decision_definitions SET name = 'x'", "DELETE FROM decision_definitions"):
        with pytest.raises(DatabaseError, match="a decision definition is immutable"), transaction.atomic():
            world.ask(statement)
    with pytest.raises(DatabaseError, match="never truncated"), transaction.atomic():
        world.ask("TRUNCATE decision_definitions")


def test_a_definition_needs_its_commit(world):
    deploy(tier_dmn=tiers())
    columns = "name, decisions, decisions_hash, source, source_hash, resource, deployment_id, created_at, created_by"
    forged = f"""INSERT INTO decision_definitions (id, key, version, commit_version, commit_at, {columns})
                 SELECT gen_random_uuid(), 'forged', 1, commit_version + 1, commit_at, {columns}
                 FROM decision_definitions"""
    with pytest.raises(DatabaseError, match="has no event in runtime_commit"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(forged)
        connection.check_constraints()


def test_two_deployments_at_once_make_two_versions(world):
    ready = threading.Barrier(2)

    def deploying(text: str) -> None:
        ready.wait()
        deploy(tier_dmn=tiers(small=text))
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(deploying, ['"one"', '"two"']))
    assert stored(world) == [("tier", 1), ("tier", 2)]
