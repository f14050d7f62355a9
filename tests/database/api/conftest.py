"""A client that speaks JSON, with a token of each role; the order process, deployed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from bpm.engine import deploying
from bpm.engine.variables import loads
from bpm.store import access

ORDER = Path(__file__).resolve().parents[3] / "examples" / "orders" / "order.bpmn"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: Any
    headers: Any

    @property
    def code(self) -> str:
        return str(self.body["code"])


@dataclass(frozen=True)
class Api:
    """Asks as one role."""

    token: str | None

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        response: Any = Client().generic(method, f"/api{path}", data, content_type="application/json", headers=sent)
        read = b"".join(response.streaming_content) if response.streaming else response.content
        is_json = "json" in response.get("Content-Type", "") and "ndjson" not in response["Content-Type"]
        return Answer(response.status_code, loads(read) if is_json and read else read, response.headers)

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("PATCH", path, body, **headers)


@pytest.fixture
def nobody(transactional_db) -> Api:
    return Api(None)


@pytest.fixture
def operator(transactional_db) -> Api:
    return Api(access.issue_token("tests-operator", "operator"))


@pytest.fixture
def worker(transactional_db) -> Api:
    return Api(access.issue_token("tests-worker", "worker"))


@pytest.fixture
def auditor(transactional_db) -> Api:
    return Api(access.issue_token("tests-auditor", "auditor"))


@pytest.fixture
def order(transactional_db) -> str:
    """The order process is deployed. Out: its key."""
    deploying.deploy({"order.bpmn": ORDER.read_bytes()}, actor="tests")
    return "order"
