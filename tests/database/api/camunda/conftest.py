"""Clients of Camunda's API: one with each role's token, as the JavaScript and Python clients send it."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from bpm import engine
from bpm.engine.variables import loads
from bpm.store import access
from tests.database.engine.drawing import (
    boundary,
    catch,
    end,
    error,
    flows,
    message,
    model,
    service,
    signal,
    start,
    user,
)

# pay, whose error NO leads aside; then a message; then a person.
SALE = model(
    start(),
    service("pay"),
    boundary("declined", "pay", error("no")),
    end("rejected"),
    catch("paid", message("money")),
    user("check", 'name="Check it" camunda:candidateGroups="sales"'),
    end(),
    flows("start -> pay -> paid -> check -> end", "declined -> rejected"),
    id="sale",
    before='<bpmn:error id="no" errorCode="NO"/><bpmn:message id="money" name="money"/>',
)
ALARM = model(
    start("start", signal("fire")),
    service("ring"),
    end(),
    flows("start -> ring -> end"),
    id="alarm",
    before='<bpmn:signal id="fire" name="alarm"/>',
)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: Any
    headers: Any

    def refused(self, status: int, words: str) -> bool:
        """Whether it is an error in Camunda's shape, with this status and these words in its message."""
        assert self.headers["Content-Type"] == "application/json"
        assert self.body.keys() >= {"type", "message", "code"}, self
        assert self.status == status, self
        assert words in self.body["message"], self
        return True


@dataclass(frozen=True)
class Rest:
    """Asks with these headers."""

    headers: dict[str, str] = field(default_factory=dict)
    root: str = "/engine-rest"

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        data = b"" if body is None else json.dumps(body).encode()
        kind = "application/json"
        response: Any = Client().generic(method, self.root + path, data, content_type=kind, headers=self.headers)
        is_json = response.get("Content-Type") == "application/json"
        content = response.content
        return Answer(response.status_code, loads(content) if is_json and content else content, response.headers)

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.ask("POST", path, body)

    def put(self, path: str, body: Any) -> Answer:
        return self.ask("PUT", path, body)

    def form(self, path: str, form: dict[str, Any]) -> Answer:
        response: Any = Client().post(self.root + path, form, headers=self.headers)
        return Answer(response.status_code, loads(response.content), response.headers)


def names(text: str) -> set[str]:
    """The names of a shape."""
    return set(text.split())


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def basic(password: str, user: str = "demo") -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture
def rest(transactional_db) -> Rest:
    """An operator's."""
    return Rest(bearer(access.issue_token("tests-client", "operator")))


@pytest.fixture
def worker(transactional_db) -> Rest:
    """A worker's, who sends HTTP Basic."""
    return Rest(basic(access.issue_token("tests-worker", "worker")))


@pytest.fixture
def sale(transactional_db) -> str:
    """The sale is deployed. Out: its definition's id."""
    return str(engine.deploy({"sale.bpmn": SALE}, actor="tests").definitions[0].id)


@pytest.fixture
def started(rest, sale) -> str:
    """An instance of it, of which pay is to be done. Out: its id."""
    variables = {"amount": {"value": 5, "type": "Integer"}, "customer": {"value": "Ada"}}
    answer = rest.post("/process-definition/key/sale/start", {"businessKey": "s-1", "variables": variables})
    assert answer.status == 200, answer
    return str(answer.body["id"])


@pytest.fixture
def pay(worker, started) -> str:
    """Its task, which the worker w has locked. Out: the task's id."""
    asked = {"workerId": "w", "maxTasks": 1, "topics": [{"topicName": "pay", "lockDuration": 60_000}]}
    (task,) = worker.post("/external-task/fetchAndLock", asked).body
    return str(task["id"])
