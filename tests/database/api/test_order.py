"""One order through the API alone: deploy, start, work, fail, retry, pack, finish, read its trace."""

from __future__ import annotations

from decimal import Decimal

from tests.database.api.conftest import ORDER

WORKER = "worker-1"


def fetched(worker, topic):
    answer = worker.post("/external-tasks/fetch-and-lock", {"worker": WORKER, "topics": [topic], "max": 5})
    assert answer.status == 200, answer
    (task,) = answer.body
    return task


def test_an_order_from_file_to_trace(operator, worker, auditor):
    deployed = operator.post("/deployments", {"name": "shop", "files": {"order.bpmn": ORDER.read_text()}})
    assert deployed.status == 201, deployed
    assert [(d["key"], d["version"], d["new"]) for d in deployed.body["definitions"]] == [("order", 1, True)]

    started = operator.post(
        "/instances",
        {"process": "order", "business_key": "A-1", "variables": {"quantity": 1, "amount": 12.50}},
        Idempotency_Key="order A-1",
    )
    assert started.status == 201, started
    id = started.body["instance_id"]
    again = operator.post(
        "/instances",
        {"process": "order", "business_key": "A-1", "variables": {"quantity": 1, "amount": 12.50}},
        Idempotency_Key="order A-1",
    )
    assert (again.status, again.body["instance_id"], again.body["repeated"]) == (200, id, True)

    task = fetched(worker, "orders.check-stock")
    assert (task["instance_id"], task["business_key"], task["variables"]["amount"]) == (id, "A-1", Decimal("12.5"))
    assert (
        worker.post(
            f"/external-tasks/{task['id']}/complete", {"worker": WORKER, "variables": {"in_stock": True}}
        ).status
        == 200
    )

    task = fetched(worker, "payments.charge")
    failed = worker.post(
        f"/external-tasks/{task['id']}/fail",
        {"worker": WORKER, "message": "timeout", "details": "at line 1", "retries": 0},
    )
    assert failed.status == 200, failed
    incidents = operator.get("/incidents?process=order").body["items"]
    assert [(i["message"], i["node_name"], i["business_key"]) for i in incidents] == [("timeout", "Charge card", "A-1")]
    assert operator.get("/instances?incident=true").body["items"][0]["incidents"] == 1

    retried = operator.post(f"/incidents/{incidents[0]['id']}/retry", {"reason": "the gateway is back"})
    assert retried.status == 200, retried
    task = fetched(worker, "payments.charge")
    worker.post(f"/external-tasks/{task['id']}/complete", {"worker": WORKER})

    (packing,) = operator.get(f"/user-tasks?instance_id={id}").body["items"]
    assert packing["candidate_groups"] == ["warehouse"]
    assert operator.post(f"/user-tasks/{packing['id']}/claim", {"user": "maria"}).status == 200
    done = operator.post(f"/user-tasks/{packing['id']}/complete", {"user": "maria", "variables": {"boxes": 2}})
    assert done.status == 200, done

    task = fetched(worker, "orders.ship")
    worker.post(f"/external-tasks/{task['id']}/complete", {"worker": WORKER})
    assert auditor.get(f"/instances/{id}").body["state"] == "COMPLETED"

    trace = auditor.get(f"/instances/{id}/trace").body
    order = [(event["commit_sequence"], event["ordinal"]) for event in trace]
    assert order == sorted(order)
    assert [e["type"] for e in trace if e["type"].startswith("TASK_") and e.get("topic") == "payments.charge"] == [
        "TASK_CREATED", "TASK_LOCKED", "TASK_FAILED", "TASK_RETRIED", "TASK_LOCKED", "TASK_COMPLETED",
    ]  # fmt: skip
    (failure,) = [event for event in trace if event["type"] == "TASK_FAILED"]
    assert (failure["error"], failure["worker"], failure["node"], failure["node_name"]) == (
        "timeout", WORKER, "ChargeCard", "Charge card",
    )  # fmt: skip
    (resolved,) = [event for event in trace if event["type"] == "INCIDENT_RESOLVED"]
    assert (resolved["actor"], resolved["stated_reason"]) == ("token:tests-operator", "the gateway is back")
    assert [e["variables"] for e in trace if e.get("variables", {}).get("boxes")] == [{"boxes": 2}]
    completed = [(e["actor"], e["payload"]["user"]) for e in trace if e["type"] == "USER_TASK_COMPLETED"]
    assert completed == [("token:tests-operator", "maria")]


def test_an_empty_filter_is_one_that_nothing_passes(operator, order):
    operator.post("/instances", {"process": order})
    lists = {"/user-tasks": ["assignee", "process"], "/external-tasks": ["topic"], "/instances": ["process", "node"]}
    for address, filters in (lists | {"/incidents": ["node"], "/definitions": ["key"]}).items():
        for name in filters:
            assert operator.get(f"{address}?{name}=").body["items"] == [], (address, name)


def test_a_trace_is_filtered_paged_both_ways_and_streamed(operator, worker, order):
    id = operator.post("/instances", {"process": order}).body["instance_id"]
    task = fetched(worker, "orders.check-stock")
    worker.post(f"/external-tasks/{task['id']}/complete", {"worker": WORKER, "variables": {"in_stock": True}})
    path = f"/instances/{id}/trace"
    whole = operator.get(path).body

    paged, after = [], ""
    while True:
        page = operator.get(f"{path}?size=3{after}")
        paged += page.body
        if "X-Next" not in page.headers:
            break
        assert 'rel="next"' in page.headers["Link"]
        after = f"&after={page.headers['X-Next']}"
    assert paged == whole
    assert operator.get(f"{path}?order=desc").body == whole[::-1]
    assert operator.get(f"{path}?type=TASK_LOCKED&type=TASK_COMPLETED&worker={WORKER}").body == [
        event for event in whole if event["type"] in ("TASK_LOCKED", "TASK_COMPLETED")
    ]
    assert operator.get(f"{path}?node=CheckStock").body == [e for e in whole if e.get("node") == "CheckStock"]
    lines = operator.get(path, Accept="application/x-ndjson").body.splitlines()
    assert len(lines) == len(whole)
    assert operator.get(f"{path}?after=nonsense").code == "bad_cursor"


def test_variables_are_exact_and_changed_with_a_reason(operator, order):
    id = operator.post("/instances", b'{"process":"order","variables":{"price":0.10,"big":12345678901234567890}}').body[
        "instance_id"
    ]
    assert operator.get(f"/instances/{id}/variables").body == {"price": Decimal("0.1"), "big": 12345678901234567890}
    operator.patch(f"/instances/{id}/variables", {"variables": {"price": 2}, "unset": ["big"], "reason": "a typo"})
    assert operator.get(f"/instances/{id}/variables").body == {"price": 2}


def test_an_instance_is_suspended_resumed_and_cancelled(operator, order):
    id = operator.post("/instances", {"process": order}).body["instance_id"]
    assert operator.post(f"/instances/{id}/suspend", {"reason": "stop"}).status == 200
    assert operator.get(f"/instances/{id}").body["state"] == "SUSPENDED"
    assert operator.post(f"/instances/{id}/suspend", {}).code == "not_running"
    assert operator.post(f"/instances/{id}/resume", {}).status == 200
    assert operator.post(f"/instances/{id}/cancel", {"reason": "enough"}).status == 200
    assert operator.get("/instances?state=CANCELLED").body["items"][0]["id"] == id
