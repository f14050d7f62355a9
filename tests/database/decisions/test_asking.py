"""Evaluating a deployed decision: from Python, at the terminal, over HTTP."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from bpm import engine
from tests.database.api.conftest import Api, auditor, nobody, operator, worker
from tests.database.decisions.conftest import BOUND, decides, deploy, evaluated, tiers
from tests.pure.decisions.writing import decision, file, literal, table

__all__ = ["Api", "auditor", "nobody", "operator", "worker"]

# A table that asks another decision, and one that is ambiguous.
BASE = decision("risk", table(["age"], ["risk"], [["< 18", '"high"'], [">= 18", '"low"']]))
OFFER = decision("offer", table(["risk"], ["price", "note"], [['"low"', "10.50", '"ok"'], ["-", "99", '"?"']]), "risk")
MODEL = file(BASE, OFFER)


def bpm(*arguments: str) -> str:
    out = StringIO()
    call_command("bpm", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def commits(world) -> int:
    return world.ask("SELECT count(*) FROM runtime_commit")[0][0]


def test_from_python(world):
    deploy(tier_dmn=tiers())
    deploy(tier_dmn=tiers(small='"anybody"', tag="spring"))
    before = commits(world)
    found = engine.evaluate_decision("tier", {"amount": 1})
    assert (found.result, found.definition.version) == ("anybody", 2)
    assert engine.evaluate_decision("tier", {"amount": 1}, version=1).result == "team"
    assert engine.evaluate_decision("tier", {"amount": 1}, version_tag="spring").result == "anybody"
    assert engine.evaluate_decision(found.definition.id, {"amount": 100}).result == "board"
    assert engine.evaluate_decision(str(found.definition.id), {"amount": 100}).result == "board"
    assert commits(world) == before


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"decision": "absent"}, "not_found"),
        ({"decision": uuid4()}, "not_found"),
        ({"decision": "tier", "version": 2}, "not_found"),
        ({"decision": "tier", "version_tag": "autumn"}, "not_found"),
        ({"decision": "tier", "version": 0}, "invalid"),
        ({"decision": "tier", "version": 2**40}, "invalid"),
        ({"decision": "\x00"}, "invalid"),
        ({"decision": "tier", "variables": {"amount": object()}}, "invalid_variables"),
        ({"decision": "large"}, "evaluation_failed"),
    ],
)
def test_what_cannot_be_asked(world, asked, code):
    deploy(tier_dmn=tiers(more=(decision("large", literal("for x in 1..9999999 return x * x")),)))
    with pytest.raises(engine.EngineError) as refused:
        engine.evaluate_decision(**asked)
    assert refused.value.code == code


def test_time_is_the_database_s(world):
    deploy(now_dmn=file(decision("today", literal("today()"))))
    world.move_clock(60 * 86400)
    ((today,),) = world.ask("SELECT (bpm_now() AT TIME ZONE 'UTC')::date::text")
    assert engine.evaluate_decision("today").result == {"$type": "date", "value": today}


def test_at_the_terminal(world):
    deploy(offer_dmn=MODEL)
    lines = bpm("decide", "offer", "--variables", '{"age": 20}').splitlines()
    assert json.loads(lines[0]) is None
    assert lines[2:] == [
        "offer version 1",
        "table of risk: age = 20",
        '  rule 2: risk = "low"',
        'table of offer: risk = "low"',
        '  rule 1: price = 10.50, note = "ok"',
        '  rule 2: price = 99, note = "?"',
        "note: 2 rules match where the hit policy is UNIQUE",
    ]
    said = engine.loads(bpm("decide", "offer", "--variables", '{"age": 2}', "--json"))
    assert said["result"] == {"price": 99, "note": "?"}
    assert [len(one["rules"]) for one in said["tables"]] == [1, 1]
    assert said["decision"]["version"] == 1


def test_at_the_terminal_from_a_file_and_with_versions(world, tmp_path):
    deploy(tier_dmn=tiers(tag="spring"))
    deploy(tier_dmn=tiers(small='"anybody"'))
    given = tmp_path / "variables.json"
    given.write_text('{"amount": 0.1}')
    asked = ("decide", "tier", "--variables", f"@{given}")
    assert bpm(*asked).splitlines()[0] == '"anybody"'
    assert bpm(*asked, "--version", "1").splitlines()[0] == '"team"'
    assert bpm(*asked, "--version-tag", "spring").splitlines()[0] == '"team"'
    for wrong in (["absent"], ["tier", "--version", "9"], ["tier", "--variables", "{"], ["tier", "--variables", "[1]"]):
        with pytest.raises(CommandError) as refused:
            bpm("decide", *wrong)
        assert refused.value.returncode == 1
    with pytest.raises(CommandError):
        bpm("decide", "tier", "--variables", "@absent.json")


def test_deployed_at_the_terminal(world, tmp_path):
    (tmp_path / "p.bpmn").write_bytes(decides(BOUND))
    (tmp_path / "tier.dmn").write_bytes(tiers())
    assert bpm("deploy", str(tmp_path)).splitlines() == [
        "p version 1: deployed",
        "decision tier version 1: deployed",
    ]
    assert json.loads(bpm("deploy", str(tmp_path), "--json"))["decisions"][0]["new"] is False


def test_over_http(operator, worker, nobody):
    deployed = operator.post(
        "/deployments", {"files": {"offer.dmn": MODEL.decode(), "p.bpmn": decides(BOUND).decode()}}
    )
    assert deployed.status == 201, deployed
    assert [(d["key"], d["version"], d["new"]) for d in deployed.body["decisions"]] == [
        ("risk", 1, True),
        ("offer", 1, True),
    ]
    answer = operator.post("/decisions/offer/evaluate", {"variables": {"age": 2}})
    assert answer.status == 200, answer
    assert answer.body["result"] == {"price": 99, "note": "?"}
    assert answer.body["rows"] == [{"price": 99, "note": "?"}]
    assert answer.body["tables"][0] == {
        "decision": "risk",
        "table": "t",
        "inputs": [["age", 2]],
        "rules": [{"number": 1, "id": "r1", "outputs": {"risk": "high"}}],
    }
    exact = operator.post("/decisions/offer/evaluate", {"variables": {"risk": "low", "age": 20}, "version": 1})
    assert exact.body["tables"][1]["rules"][0]["outputs"]["price"] == Decimal("10.50")
    assert str(exact.body["tables"][1]["rules"][0]["outputs"]["price"]) == "10.50"

    listed = operator.get("/decisions").body["items"]
    assert [(one["key"], one["version"], one["latest"]) for one in listed] == [("offer", 1, True), ("risk", 1, True)]
    id = listed[0]["id"]
    assert operator.get(f"/decisions/{id}").body["resource"] == "offer.dmn"
    xml = operator.get(f"/decisions/{id}/xml")
    assert xml.body == MODEL
    assert "attachment" in xml.headers["Content-Disposition"]
    assert operator.post(f"/decisions/{id}/evaluate", {}).status == 200
    assert nobody.get("/decisions").status == 401
    assert nobody.post("/decisions/offer/evaluate", {}).status == 401
    assert worker.post("/decisions/offer/evaluate", {}).status == 403


def test_over_http_versions_are_paged(operator):
    for number in range(5):
        deploy(tier_dmn=tiers(small=f'"{number}"'))
    first = operator.get("/decisions?key=tier&latest=false&size=3").body
    rest = operator.get(f"/decisions?key=tier&latest=false&size=3&after={first['after']}").body
    assert [one["version"] for one in first["items"] + rest["items"]] == [5, 4, 3, 2, 1]
    assert rest["after"] is None
    assert [one["version"] for one in operator.get("/decisions?search=TIE").body["items"]] == [5]


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/decisions/absent/evaluate", {}, 404, "not_found"),
        ("/decisions/tier/evaluate", {"version": 9}, 404, "not_found"),
        ("/decisions/tier/evaluate", {"version": 0}, 422, "invalid"),
        ("/decisions/tier/evaluate", {"variable": {}}, 422, "invalid"),
        ("/decisions/tier/evaluate", {"variables": []}, 422, "invalid"),
        ("/decisions/tier/evaluate", b"{", 400, "bad_request"),
        ("/decisions/large/evaluate", {}, 422, "evaluation_failed"),
    ],
)
def test_over_http_a_problem_says_which(operator, path, body, status, code):
    deploy(tier_dmn=tiers(more=(decision("large", literal("for x in 1..9999999 return x * x")),)))
    answer = operator.post(path, body)
    assert (answer.status, answer.code) == (status, code)


def test_history_shows_how_it_was_decided(world, operator):
    deploy(p_bpmn=decides(BOUND), tier_dmn=tiers())
    instance = world.start(variables={"amount": 100})
    found = operator.get(f"/instances/{instance}/trace").body
    (event,) = [event for event in found if event["type"] == "DECISION_EVALUATED"]
    assert event["payload"] == evaluated(world, instance)[0]
    assert event["node"] == "decide"
