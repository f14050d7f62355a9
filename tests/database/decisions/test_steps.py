"""Business rule tasks: which version is meant, what history says, and that replay agrees."""

from __future__ import annotations

from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command

from bpm import engine
from bpm.audit.replaying import replay_stored, replay_text
from bpm.store.unit import Unit
from tests.database.decisions.conftest import BOUND, decides, deploy, evaluated, rule, tiers
from tests.database.engine.drawing import call, end, flows, model, start, user


def tier(world, instance: UUID) -> object:
    return world.variables(instance).get("tier")


def test_the_decision_is_made_in_the_step_and_history_says_how(world):
    deploy(p_bpmn=decides(BOUND), tier_dmn=tiers())
    instance = world.start(variables={"amount": 99.5})
    assert world.where(instance) == ["look"]
    assert tier(world, instance) == "team"
    ((definition,),) = world.ask("SELECT id FROM decision_definitions")
    (said,) = evaluated(world, instance)
    assert said == {
        "decision": str(definition),
        "key": "tier",
        "variable": "tier",
        "tables": [
            {
                "decision": "tier",
                "table": "t",
                "inputs": [["amount", engine.loads("99.5")]],
                "rules": [{"number": 1, "id": "r1", "outputs": {"tier": "team"}}],
            }
        ],
    }
    assert world.events(instance, "DECISION_EVALUATED", "INCIDENT_OPENED") == ["DECISION_EVALUATED"]


def test_it_replays_to_the_same_state_and_is_decided_so_again(world):
    deploy(p_bpmn=decides(BOUND), tier_dmn=tiers())
    instance = world.start(variables={"amount": 100})
    deploy(tier_dmn=tiers(large='"nobody"'))
    engine.complete_user_task(world.only("user_tasks", instance), actor="ann")
    outcome = replay_stored([instance], again=True)[0]
    assert outcome.problems == ()
    assert outcome.commits > 0


def test_which_version_was_meant_is_in_the_log(world):
    deploy(p_bpmn=decides(BOUND), tier_dmn=tiers())
    instance = world.start(variables={"amount": 100})
    ((definition,),) = world.ask("SELECT id::text FROM decision_definitions")
    arguments = "SELECT arguments->'answers' FROM runtime_commit WHERE thread_id = %s AND arguments ? 'answers'"
    ((said,),) = world.ask(arguments, instance)
    assert engine.loads(said) == {'["decision", "tier", "latest", null]': definition}


def test_latest_is_the_newest_when_it_is_evaluated(world):
    deploy(p_bpmn=decides(BOUND), tier_dmn=tiers())
    deploy(tier_dmn=tiers(small='"anybody"'))
    assert tier(world, world.start(variables={"amount": 1})) == "anybody"


@pytest.mark.parametrize(("number", "expected"), [("1", "team"), ("2", "anybody"), ("${wanted}", "team")])
def test_a_version_by_its_number(world, number, expected):
    bound = f'{BOUND} camunda:decisionRefBinding="version" camunda:decisionRefVersion="{number}"'
    deploy(p_bpmn=decides(bound), tier_dmn=tiers())
    deploy(tier_dmn=tiers(small='"anybody"'))
    assert tier(world, world.start(variables={"amount": 1, "wanted": 1})) == expected


def test_a_version_by_its_tag(world):
    bound = f'{BOUND} camunda:decisionRefBinding="versionTag" camunda:decisionRefVersionTag="spring"'
    deploy(p_bpmn=decides(bound), tier_dmn=tiers(tag="spring"))
    deploy(tier_dmn=tiers(small='"anybody"', tag="summer"))
    assert tier(world, world.start(variables={"amount": 1})) == "team"


def test_what_was_deployed_together_stays_together(world):
    bound = f'{BOUND} camunda:decisionRefBinding="deployment"'
    deploy(p_bpmn=decides(bound), tier_dmn=tiers())
    deploy(tier_dmn=tiers(small='"anybody"'))
    assert tier(world, world.start(variables={"amount": 1})) == "team"


def test_a_decision_that_did_not_change_counts_as_deployed_with_the_process(world):
    bound = f'{BOUND} camunda:decisionRefBinding="deployment"'
    deploy(p_bpmn=decides(bound), tier_dmn=tiers())
    changed = decides(bound).replace(b'id="look"', b'id="look" name="Look"')
    deploy(p_bpmn=changed, tier_dmn=tiers())
    deploy(tier_dmn=tiers(small='"anybody"'))
    assert tier(world, world.start(version=2, variables={"amount": 1})) == "team"


def test_zeebe_names_it_otherwise(world):
    called = (
        '<bpmn:extensionElements><zeebe:calledDecision xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
        ' decisionId="=which" resultVariable="tier" bindingType="deployment"/></bpmn:extensionElements>'
    )
    process = model(start(), rule("decide", "", called), user("look"), end(), flows("start -> decide -> look -> end"))
    deploy(p_bpmn=process, tier_dmn=tiers())
    assert tier(world, world.start(variables={"amount": 1, "which": "tier"})) == "team"


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (BOUND.replace('"tier" ', '"absent" ', 1), "there is no decision absent"),
        (f'{BOUND} camunda:decisionRefBinding="version" camunda:decisionRefVersion="7"', "version 7"),
        (f'{BOUND} camunda:decisionRefBinding="version" camunda:decisionRefVersion="x"', "version x"),
        (f'{BOUND} camunda:decisionRefBinding="versionTag" camunda:decisionRefVersionTag="no"', "version tag no"),
    ],
)
def test_without_such_a_decision_an_operator_is_asked_and_may_try_again(world, bound, said):
    deploy(p_bpmn=decides(bound), tier_dmn=tiers())
    instance = world.start(variables={"amount": 1})
    assert world.where(instance) == ["decide"]
    ((message,),) = world.ask("SELECT message FROM incidents WHERE instance_id = %s", instance)
    assert said in message
    engine.retry_incident(world.only("incidents", instance, state="OPEN"), actor="ann")
    assert world.where(instance) == ["decide"]
    assert replay_stored([instance], again=True)[0].problems == ()


def test_deployed_later_it_is_found_at_the_next_try(world):
    deploy(p_bpmn=decides(BOUND))
    instance = world.start(variables={"amount": 1})
    deploy(tier_dmn=tiers())
    engine.retry_incident(world.only("incidents", instance, state="OPEN"), actor="ann")
    assert world.where(instance) == ["look"]
    assert tier(world, instance) == "team"
    assert replay_stored([instance], again=True)[0].problems == ()


def test_what_a_decision_reads_is_loaded_with_the_rest(world, monkeypatch):
    """Its inputs are known only while it is evaluated; they do not cost a question each."""
    asked: list[object] = []
    read = Unit.answer
    monkeypatch.setattr(Unit, "answer", lambda unit, thread, keys: asked.append(keys) or read(unit, thread, keys))
    sums = " + ".join(f"v{number}" for number in range(30))
    table = tiers().replace(b"<text>amount</text>", f"<text>{sums}</text>".encode())
    process = model(
        start(), user("first"), rule("decide", BOUND), user("look"), end(),
        flows("start -> first -> decide -> look -> end"),
    )  # fmt: skip
    deploy(p_bpmn=process, tier_dmn=table)
    instance = world.start(variables={f"v{number}": number for number in range(30)})
    asked.clear()
    engine.complete_user_task(world.only("user_tasks", instance), actor="ann")
    assert tier(world, instance) == "board"
    assert asked == []


def test_a_called_process_binds_by_its_own_deployment(world):
    bound = f'{BOUND} camunda:decisionRefBinding="deployment"'
    deploy(child_bpmn=decides(bound, id="child"), tier_dmn=tiers())
    outer = model(
        start(), call("c", "child", '<camunda:in variables="all"/>'), end(), flows("start -> c -> end"), id="outer"
    )
    deploy(outer_bpmn=outer, tier_dmn=tiers(small='"anybody"'))
    world.start("outer", variables={"amount": 1})
    ((child,),) = world.ask("SELECT id FROM process_instances WHERE caller IS NOT NULL")
    assert tier(world, child) == "team"


def test_what_cannot_be_evaluated_waits_for_an_operator(world):
    bound = BOUND.replace("singleEntry", "singleResult")
    collected = tiers().replace(b'id="t" ', b'id="t" hitPolicy="COLLECT" ').replace(b"&lt; 100", b"&lt; 1000")
    deploy(p_bpmn=decides(bound), tier_dmn=collected)
    instance = world.start(variables={"amount": 500})
    assert world.where(instance) == ["decide"]
    ((message,),) = world.ask("SELECT message FROM incidents WHERE instance_id = %s", instance)
    assert "2 results" in message
    assert evaluated(world, instance) == []
    engine.set_variables(instance, {"amount": 5000}, actor="ann")
    engine.retry_incident(world.only("incidents", instance, state="OPEN"), actor="ann")
    assert tier(world, instance) == {"tier": "board"}


def test_an_exported_file_is_decided_again_without_a_database(world, tmp_path):
    deploy(p_bpmn=decides(BOUND), tier_dmn=tiers())
    world.start(variables={"amount": 1})
    deploy(tier_dmn=tiers(small="for x in 1..9999999 return x * x"))
    stuck = world.start(variables={"amount": 1})
    assert world.where(stuck) == ["decide"]
    file = tmp_path / "all.jsonl"
    call_command("bpm", "export", "--format", "jsonl", "--to", str(file), stdout=StringIO(), stderr=StringIO())
    outcomes = replay_text(file.read_text().splitlines(), again=True)
    assert [outcome.problems for outcome in outcomes] == [(), ()]
    without = [line for line in file.read_text().splitlines() if '"decisions"' not in line]
    codes = {problem.code for outcome in replay_text(without, again=True) for problem in outcome.problems}
    assert codes == {"decided-otherwise"}
