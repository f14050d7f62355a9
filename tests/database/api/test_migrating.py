"""All instances of a version go on with another one, some at a time."""

from __future__ import annotations

from bpm.engine import deploying
from bpm.queries import definitions, instances
from tests.database.api.conftest import ORDER

NEXT = ORDER.read_bytes().replace(b'"CheckStock"', b'"LookForIt"').replace(b">CheckStock<", b">LookForIt<")


def test_the_instances_of_a_version_migrate_page_by_page(operator, auditor, order):
    started = [operator.post("/instances", {"process": order}).body["instance_id"] for _ in range(3)]
    deploying.deploy({"order.bpmn": NEXT}, actor="tests")
    old, new = definitions.find_definition(order, 1), definitions.find_definition(order, 2)
    path = f"/definitions/{old.id}"

    plan = auditor.post(f"{path}/migration-plan", {"version": 2}).body
    assert (plan["new"], plan["suggested"]) == (str(new.id), {"CheckStock": "LookForIt"})
    assert "CheckStock has no partner: CheckStock is not in the new definition" in plan["problems"]
    assert auditor.post(f"{path}/migration-plan", {"version": 2, "nodes": plan["suggested"]}).body["problems"] == []

    refused = operator.post(f"{path}/migrate", {"version": 2}).body
    assert [one["code"] for one in refused["refused"]] == ["invalid"] * 3
    first = operator.post(f"{path}/migrate", {"version": 2, "nodes": plan["suggested"], "limit": 2, "reason": "new"})
    assert (len(first.body["done"]), first.body["refused"]) == (2, [])
    last = operator.post(
        f"{path}/migrate", {"version": 2, "nodes": plan["suggested"], "limit": 2, "after": first.body["after"]}
    ).body
    assert (len(last["done"]), last["after"]) == (1, None)
    assert sorted(first.body["done"] + last["done"]) == sorted(started)
    assert instances.open_ids(old.id) == []
    assert auditor.post(f"{path}/migrate", {"version": 2}).status == 403
    assert operator.post(f"{path}/migrate", {"version": 1}).code == "invalid"
    assert operator.post(f"{path}/migrate", {"version": 9}).code == "not_found"
