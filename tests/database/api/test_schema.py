"""Whatever the schema allows, and much that it does not: the API answers, and never with an error of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, settings
from schemathesis.core import NOT_SET

from bpm.api.app import api

schema = schemathesis.openapi.from_dict(json.loads(json.dumps(api.get_openapi_schema(), default=str)))
# Random requests only: one of each kind of violation for every field would take minutes.
schema.config.phases.coverage.enabled = False


@pytest.fixture
def token(operator, order) -> str:
    return operator.token


@schema.parametrize()
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_request_is_an_error_of_the_server(case: Any, token: str):
    body: bytes = b""
    kind = case.media_type or "application/json"
    if case.body is not NOT_SET:
        body = json.dumps(case.body, default=str).encode() if "json" in kind else b""
    headers = {name: str(value).encode("ascii", "ignore").decode() for name, value in dict(case.headers or {}).items()}
    query = [(name, value) for name, values in dict(case.query or {}).items() for value in _listed(values)]
    response: Any = Client(raise_request_exception=False).generic(
        case.method,
        case.formatted_path,
        body,
        content_type="application/json",
        headers={**headers, "Authorization": f"Bearer {token}"},
        query_params=query,
    )
    assert response.status_code < 500 or response.status_code == 503, response.content
    if response.status_code >= 400 and response.status_code != 404:
        assert response["Content-Type"] == "application/problem+json"


def _listed(values: Any) -> list[str]:
    return [str(value) for value in (values if isinstance(values, list) else [values])]
