"""A worker that completes a task over HTTP and has the next one of the same instance with the answer."""

from __future__ import annotations

from datetime import datetime

from bpm import engine
from tests.database.engine.drawing import end, flows, model, service, start

ROW = model(
    start(), service("pay"), service("pack"), service("ship"), end(), flows("start -> pay -> pack -> ship -> end")
)


def test_the_next_task_comes_with_the_answer(operator, worker):
    engine.deploy({"row.bpmn": ROW}, actor="tester")
    assert operator.post("/instances", {"process": "p", "business_key": "o-1", "variables": {"n": 1}}).status == 201
    (pay,) = worker.post("/external-tasks/fetch-and-lock", {"worker": "w", "topics": ["pay"]}).body

    said = {"worker": "w", "variables": {"paid": 1.50}, "next_topics": ["pack"], "lock_seconds": 30}
    done = worker.post(f"/external-tasks/{pay['id']}/complete", said, Idempotency_Key="k")
    assert done.status == 200, done
    pack = done.body["next"]
    assert (pack["topic"], pack["worker"], pack["business_key"]) == ("pack", "w", "o-1")
    assert pack["variables"] == {"n": 1, "paid": engine.loads("1.50")}
    assert pack.keys() == pay.keys()
    again = worker.post(f"/external-tasks/{pay['id']}/complete", said, Idempotency_Key="k")
    assert (again.body["repeated"], again.body["next"]) == (True, pack)
    assert worker.post("/external-tasks/fetch-and-lock", {"worker": "v", "topics": ["pack"]}).body == []
    assert worker.post(f"/external-tasks/{pack['id']}/complete", {"worker": "v"}).status == 409

    done = worker.post(f"/external-tasks/{pack['id']}/complete", {"worker": "w", "next_topics": ["pay", "pack"]})
    assert (done.status, done.body["next"]) == (200, None)
    assert len(worker.post("/external-tasks/fetch-and-lock", {"worker": "v", "topics": ["ship"]}).body) == 1


def test_each_topic_may_have_its_own_seconds(operator, worker):
    engine.deploy({"row.bpmn": ROW}, actor="tester")
    assert operator.post("/instances", {"process": "p"}).status == 201
    (task,) = worker.post("/external-tasks/fetch-and-lock", {"worker": "w", "topics": ["pay"]}).body
    for seconds in (7, 2.5):
        said = {"worker": "w", "next_topics": {"ship": 2.5, "pack": 7}, "lock_seconds": 90}
        done = worker.post(f"/external-tasks/{task['id']}/complete", said)
        assert done.status == 200, done
        task = done.body["next"]
        held = datetime.fromisoformat(task["lock_expire_at"]) - datetime.fromisoformat(task["created_at"])
        assert held.total_seconds() == seconds


def test_what_makes_no_sense_is_told(operator, worker):
    engine.deploy({"row.bpmn": ROW}, actor="tester")
    assert operator.post("/instances", {"process": "p"}).status == 201
    (pay,) = worker.post("/external-tasks/fetch-and-lock", {"worker": "w", "topics": ["pay"]}).body
    for wrong in (
        {"next_topics": "pack"},
        {"next_topics": [""]},
        {"next_topics": ["pack"], "lock_seconds": 0},
        {"next_topics": {"pack": 0}},
        {"next_topics": {"pack": 604_801}},
        {"next_topics": {"": 5}},
        {"next_topics": {f"t{number}": 5 for number in range(101)}},
        {"next_topics": {"pack": {"variables": ["x"] * 101}}},
        {"next_topics": {"pack": {"variable": ["x"]}}},
    ):
        answer = worker.post(f"/external-tasks/{pay['id']}/complete", {"worker": "w", **wrong})
        assert answer.status in (400, 422), answer
