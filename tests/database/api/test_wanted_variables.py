"""A worker says over HTTP which variables it wants of a topic."""

from __future__ import annotations

import pytest

from bpm import engine
from tests.database.engine.drawing import end, flows, model, service, start

FETCH = "/external-tasks/fetch-and-lock"
ROW = model(start(), service("pay"), service("pack"), end(), flows("start -> pay -> pack -> end"))


@pytest.fixture
def row(operator) -> None:
    engine.deploy({"row.bpmn": ROW}, actor="tester")
    begun = {"process": "p", "variables": {"n": 1, "order": {"a": 1.50}, "large": list(range(1_000))}}
    assert operator.post("/instances", begun).status == 201


def test_a_fetch_and_a_completion_give_what_was_named(row, worker):
    asked = {"worker": "w", "topics": {"pay": {"variables": ["order", "nobody's"], "lock_seconds": 30}, "other": 5}}
    (pay,) = worker.post(FETCH, asked, Idempotency_Key="f").body
    assert pay["variables"] == {"order": {"a": engine.loads("1.50")}}
    assert worker.post(FETCH, asked, Idempotency_Key="f").body == [pay]
    asked["topics"]["pay"]["variables"] = ["n"]
    assert worker.post(FETCH, asked, Idempotency_Key="f").body["code"] == "key_conflict"

    said = {"worker": "w", "variables": {"paid": True}, "next_topics": {"pack": {"variables": ["paid"]}}}
    done = worker.post(f"/external-tasks/{pay['id']}/complete", said, Idempotency_Key="k")
    assert (done.status, done.body["next"]["variables"]) == (200, {"paid": True})
    again = worker.post(f"/external-tasks/{pay['id']}/complete", said, Idempotency_Key="k")
    assert (again.body["repeated"], again.body["next"]) == (True, done.body["next"])


@pytest.mark.parametrize(
    ("topics", "names"),
    [(["pay"], {"n", "order", "large"}), ({"pay": 5}, {"n", "order", "large"}), ({"pay": {}}, {"n", "order", "large"}),
     ({"pay": {"variables": None}}, {"n", "order", "large"}), ({"pay": {"variables": []}}, set())],
)  # fmt: skip
def test_all_where_none_are_named_and_none_where_the_list_is_empty(row, worker, topics, names):
    (pay,) = worker.post(FETCH, {"worker": "w", "topics": topics}).body
    assert pay["variables"].keys() == names


@pytest.mark.parametrize(
    "topics",
    [
        [], {}, "pay", {"pay": "soon"}, {"pay": {"variables": "order"}}, {"pay": {"variables": [5]}},
        {"pay": {"variables": [""]}}, {"pay": {"variables": ["a\x00"]}}, {"pay": {"variables": ["x" * 256]}},
        {"pay": {"variables": ["x"] * 101}}, {"pay": {"seconds": 5}}, {"pay": {"lock_seconds": 0}},
        {f"t{number}": {} for number in range(101)},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_told(row, worker, topics):
    answer = worker.post(FETCH, {"worker": "w", "topics": topics})
    assert answer.status in (400, 422), answer
    assert len(worker.post(FETCH, {"worker": "w", "topics": ["pay"]}).body) == 1
