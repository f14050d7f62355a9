"""Whatever is sent to any operation is answered in Camunda's shape, and never by an error of the server."""

from __future__ import annotations

import json

from django.test import Client

from bpm.api.camunda.app import api
from tests.database.api.camunda.conftest import Answer, Rest, names

DESCRIBED = api.get_openapi_schema(path_prefix="")["paths"]
OPERATIONS = [(method.upper(), path) for path, methods in DESCRIBED.items() for method in methods]
NAMES = names(
    "workerId topicName messageName name businessKey userId errorCode errorMessage errorDetails processInstanceId "
    "assignee nameLike processDefinitionKey incidentMessage value"
)
TEXTS = ("\0", "\ud800", "x" * 5_000, "%", "\\")
WHOLE = {"name": "n", "messageName": "n", "workerId": "w", "errorCode": "E"}
VALUED = ("variables", "processVariables", "correlationKeys", "modifications")
BODIES = [
    b"", b"{", b"null", b"5", b"[]", b'"x"', b"[" * 2_000, b"\xff", b'{"workerId": NaN}', b'{"variables": [1]}',
    b'{"variables": {"x": []}}', b'{"topics": {}}', b'{"sorting": 1}', b'{"maxResults": 1e999}', b'{"a": {"a": {}}}',
    *(json.dumps(dict.fromkeys(NAMES, text) | {"lockDuration": 1, "newDuration": 1}).encode() for text in TEXTS),
    *(json.dumps(WHOLE | {key: {text: {"value": text}} for key in VALUED}).encode() for text in TEXTS),
]  # fmt: skip
QUERIES = [
    "", "?maxResults=x", "?firstResult=-1", "?sortBy=x", "?sortBy=id&sortOrder=x", "?name=%FF", "?key=%ED%A0%80",
    "?variables=_eq_", "?variables=a_eq_" + "x" * 300, "?processInstanceId=x", "?businessKey=%5C", "?x=",
]  # fmt: skip


def at(path: str, id: str) -> str:
    return path.replace("{id}", id).replace("{key}", "sale").replace("{name}", "n")


def test_junk_is_answered(rest: Rest, sale):
    client = Client(raise_request_exception=False)
    asked = [(method, at(path, id)) for method, path in OPERATIONS for id in dict.fromkeys((sale, "no%ED%A0%80id"))]
    for method, path in dict.fromkeys(asked):
        sent = [(query, b"") for query in QUERIES] if method in ("GET", "DELETE") else [("", body) for body in BODIES]
        for query, body in sent:
            response = client.generic(method, rest.root + path + query, body, "application/json", headers=rest.headers)
            where = (method, path, query, body[:200], response.content[:300])
            assert response.status_code < 500, where
            if response.status_code >= 400:
                answer = Answer(response.status_code, response.json(), response.headers)
                assert answer.body.keys() >= {"type", "message", "code"}, where
