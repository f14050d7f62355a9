"""Variables over the API: found by value, Camunda's typed values, files, the scopes of tokens."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from bpm import engine
from bpm.api import instances
from bpm.audit.replaying import replay_stored
from bpm.engine.variables import loads
from tests.database.engine.drawing import end, flows, model, service, start

PDF = b"%PDF-1.7 \x00\xff"


@pytest.fixture
def instance(operator) -> str:
    engine.deploy({"p.bpmn": model(start(), service("pay"), end(), flows("start -> pay -> end"))}, actor="tester")
    return str(engine.start("p", {"amount": 100}, actor="tester").thread_id)


def put(api, path: str, content: bytes, media_type: str) -> Any:
    headers = {"Authorization": f"Bearer {api.token}"}
    return Client().generic("PUT", f"/api{path}", content, content_type=media_type, headers=headers)


def fetched(api, path: str) -> Any:
    return Client().get(f"/api{path}", headers={"Authorization": f"Bearer {api.token}"})


def test_instances_are_found_by_value(operator, instance):
    def ids(*conditions: str) -> list[str]:
        answer = operator.get("/instances?" + "&".join(f"variable={quote(one)}" for one in conditions))
        assert answer.status == 200, answer
        return [item["id"] for item in answer.body["items"]]

    assert ids("amount:gteq:100") == [instance]
    assert ids("amount:gteq:100", "customer:exists") == []
    ending = operator.get("/instances?variable=" + quote("customer:like:A\\"))
    assert (ending.status, ending.code) == (422, "invalid")
    wrong = operator.get("/instances?variable=amount")
    assert (wrong.status, wrong.code) == (422, "invalid")
    assert "name:operator:value" in wrong.body["detail"]


def test_a_search_that_takes_too_long_is_refused(operator, instance, monkeypatch):
    monkeypatch.setattr(instances, "SEARCHED", 0.0)
    assert operator.get("/instances").status == 200
    refused = operator.get("/instances?variable=amount:exists")
    assert (refused.status, refused.code) == (400, "search_too_wide")
    assert refused.body["detail"].startswith("given up after 0 seconds")


HALF = loads("0.5")
JAVA = "application/x-java-serialized-object"
# Camunda's typed value -> the variable, and what `?typed=true` says of it.
TYPED: dict[str, tuple[Any, Any, Any]] = {
    "text": ({"value": "a", "type": "String"}, "a", {"value": "a", "type": "String", "valueInfo": {}}),
    "yes": ({"value": "TRUE", "type": "Boolean"}, True, {"value": True, "type": "Boolean", "valueInfo": {}}),
    "count": ({"value": "42", "type": "integer"}, 42, {"value": 42, "type": "Integer", "valueInfo": {}}),
    "long": ({"value": 2**40, "type": "Long"}, 2**40, {"value": 2**40, "type": "Long", "valueInfo": {}}),
    "half": ({"value": 0.5, "type": "Double"}, HALF, {"value": HALF, "type": "Double", "valueInfo": {}}),
    "none": ({"value": None, "type": "Null"}, None, {"value": None, "type": "Null", "valueInfo": {}}),
    "guessed": ({"value": 7}, 7, {"value": 7, "type": "Integer", "valueInfo": {}}),
    "due": (
        {"value": "2013-01-23T14:42:45.000+0200", "type": "Date", "valueInfo": {}},
        {"$type": "dateTime", "value": "2013-01-23T14:42:45+02:00"},
        {"value": "2013-01-23T14:42:45.000+0200", "type": "Date", "valueInfo": {}},
    ),
    "doc": ({"value": '{"b":1.50}', "type": "Json"}, {"b": loads("1.50")},
            {"value": '{"b":1.50}', "type": "Json", "valueInfo": {}}),
    "bean": (
        {"value": "[1]", "type": "Object",
         "valueInfo": {"objectTypeName": "java.util.List", "serializationDataFormat": "application/json"}},
        [1], {"value": "[1]", "type": "Json", "valueInfo": {}},
    ),
    "file": (
        {"value": base64.b64encode(PDF).decode(), "type": "File",
         "valueInfo": {"filename": "a.pdf", "mimetype": "application/pdf"}},
        {"$type": "file", "value": {"name": "a.pdf", "mediaType": "application/pdf", "size": len(PDF),
                                    "sha256": hashlib.sha256(PDF).hexdigest()}},
        {"value": None, "type": "File", "valueInfo": {"filename": "a.pdf", "mimeType": "application/pdf"}},
    ),
}  # fmt: skip


def test_typed_values_come_and_go(operator, worker, instance):
    given = {name: {"$typed": said} for name, (said, _value, _told) in TYPED.items()}
    set_ = operator.patch(
        f"/instances/{instance}/variables", {"variables": given | {"plain": {"value": 1, "type": "x"}}}
    )
    assert set_.status == 200, set_

    kept = operator.get(f"/instances/{instance}/variables").body
    told = operator.get(f"/instances/{instance}/variables?typed=true").body
    assert {name: kept[name] for name in TYPED} == {name: value for name, (_said, value, _told) in TYPED.items()}
    assert {name: told[name] for name in TYPED} == {name: said for name, (_said, _value, said) in TYPED.items()}
    assert kept["plain"] == {"value": 1, "type": "x"}
    assert operator.get(f"/instances/{instance}/variables/due?typed=true").body == TYPED["due"][2]
    assert fetched(worker, f"/instances/{instance}/variables/file/file").content == PDF
    assert replay_stored([UUID(instance)], again=True)[0].problems == ()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"value": "4.2", "type": "Integer"}, "an Integer is a whole number of 32 bits"),
        ({"value": 2**31, "type": "Integer"}, "an Integer is a whole number of 32 bits"),
        ({"value": 40000, "type": "Short"}, "a Short is a whole number of 16 bits"),
        ({"value": "yes", "type": "Boolean"}, "a Boolean is true or false"),
        ({"value": "tomorrow", "type": "Date"}, "a Date is a text such as"),
        ({"value": "2013-02-30", "type": "Date"}, "there is no date"),
        ({"value": {"a": 1}, "type": "Json"}, "the document as a text"),
        ({"value": "{", "type": "Json"}, "no JSON"),
        ({"value": 1, "type": "JSON"}, "unsupported value type 'JSON'"),
        ({"value": 1, "type": "Null"}, "a Null has no value"),
        ({"value": "rO0AB", "type": "Object", "valueInfo": {"serializationDataFormat": JAVA}},
         "what Java wrote, Java reads"),
        ({"value": "a", "type": "String", "valueInfo": {"transient": True}}, "transient"),
        ({"value": "!", "type": "File", "valueInfo": {"filename": "a"}}, "base64"),
        ({"value": "", "type": "File"}, "filename"),
        ({"value": "", "type": "File", "valueInfo": {"filename": "../../etc/passwd"}}, "no path"),
        ({"type": "String", "more": 1}, "an object of value, type and valueInfo"),
        ("a", "an object of value, type and valueInfo"),
    ],
)  # fmt: skip
def test_what_is_none_of_its_type_is_refused_by_name(operator, instance, said, why):
    answer = operator.patch(f"/instances/{instance}/variables", {"variables": {"wrong one": {"$typed": said}}})
    assert (answer.status, answer.code) == (422, "invalid_variables"), answer
    assert answer.body["detail"].startswith("wrong one: ")
    assert why in answer.body["detail"]
    assert operator.get(f"/instances/{instance}/variables").body == {"amount": 100}


def test_a_file_is_kept_outside_of_history(operator, auditor, worker, instance):
    path = f"/instances/{instance}/variables/invoice/file"
    answer = put(operator, path + "?filename=" + quote("Rechnung März.pdf"), PDF, "application/pdf")
    assert answer.status_code == 200, answer.content
    sha256 = hashlib.sha256(PDF).hexdigest()
    value = operator.get(f"/instances/{instance}/variables/invoice").body
    assert value["value"] == {
        "name": "Rechnung März.pdf",
        "mediaType": "application/pdf",
        "size": len(PDF),
        "sha256": sha256,
    }

    got = fetched(auditor, path)
    assert (got.content, got["Content-Type"], got["ETag"]) == (PDF, "application/pdf", f'"{sha256}"')
    assert got["Content-Disposition"].startswith("attachment; filename*=utf-8''Rechnung%20M%C3%A4rz.pdf")
    assert (got["X-Content-Type-Options"], got["Content-Security-Policy"]) == ("nosniff", "default-src 'none'; sandbox")

    # The same content is kept once; another one beside it; what was there before stays.
    assert put(operator, path + "?filename=again", PDF, "application/pdf").status_code == 200
    assert put(operator, path + "?filename=page.html", b"<script>", "text/html; charset=utf-8").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SELECT sha256, content, size FROM variable_files ORDER BY kept_at")
        kept = [(hash, bytes(content), size) for hash, content, size in cursor.fetchall()]
    assert kept == [(sha256, PDF, len(PDF)), (hashlib.sha256(b"<script>").hexdigest(), b"<script>", 8)]
    assert replay_stored([UUID(instance)], again=True)[0].problems == ()

    # An instance that is done, and a variable that is unset, take no content away.
    assert operator.ask("DELETE", f"/instances/{instance}/variables/invoice").status == 200
    assert fetched(auditor, path).status_code == 404
    assert put(worker, path + "?filename=a", PDF, "text/plain").status_code == 403


def test_a_worker_keeps_a_file_and_an_auditor_reads_what_history_refers_to(worker, auditor, instance):
    headers = {"Authorization": f"Bearer {worker.token}"}
    answer = Client().generic("POST", "/api/files?filename=a.txt", b"hello", content_type="text/plain", headers=headers)
    assert answer.status_code == 201, answer.content
    value = loads(answer.content)
    (task,) = worker.post("/external-tasks/fetch-and-lock", {"worker": "w", "topics": ["pay"]}).body
    done = worker.post(f"/external-tasks/{task['id']}/complete", {"worker": "w", "variables": {"receipt": value}})
    assert done.status == 200, done
    assert replay_stored([UUID(instance)], again=True)[0].problems == ()

    kept = fetched(auditor, f"/files/{value['value']['sha256']}")
    assert (kept.content, kept["Content-Type"]) == (b"hello", "application/octet-stream")
    assert kept["Content-Disposition"].startswith("attachment;")
    assert fetched(auditor, "/files/" + "0" * 64).status_code == 404
    assert fetched(auditor, "/files/x").status_code == 404
    assert fetched(worker, f"/files/{value['value']['sha256']}").status_code == 403


def test_the_database_keeps_contents_as_they_are(operator):
    engine.keep_file(PDF, name="a")
    for statement in ("UPDATE variable_files SET kept_at = now()", "DELETE FROM variable_files",
                      "TRUNCATE variable_files",
                      "INSERT INTO variable_files VALUES (repeat('0', 64), '\\x00', 1, now())"):  # fmt: skip
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize(
    ("filename", "media_type", "content", "status"),
    [
        ("../secret", "text/plain", b"x", 422),
        ("a%0d%0aSet-Cookie:x", "text/plain", b"x", 422),
        ("%e2%80%aefdp.exe", "text/plain", b"x", 422),
        ("a", "*/*", b"x", 422),
        ("a", "no type", b"x", 422),
        ("", "text/plain", b"x", 422),
        ("a" * 256, "text/plain", b"x", 422),
        ("a", "text/plain", b"x" * 1001, 413),
    ],
)
def test_hostile_files_are_refused(operator, instance, settings, filename, media_type, content, status):
    settings.BPM_FILE_LIMIT = 1000
    answer = put(operator, f"/instances/{instance}/variables/f/file?filename={filename}", content, media_type)
    assert answer.status_code == status, answer.content
    assert operator.get(f"/instances/{instance}/variables/f").status == 404


def test_what_is_no_file_or_was_never_kept(operator, instance):
    assert operator.get(f"/instances/{instance}/variables/amount/file").status == 404
    gone = {"$type": "file", "value": {"name": "a", "mediaType": "text/plain", "size": 1, "sha256": "0" * 64}}
    assert operator.patch(f"/instances/{instance}/variables", {"variables": {"gone": gone}}).status == 200
    answer = operator.get(f"/instances/{instance}/variables/gone/file")
    assert (answer.status, answer.code) == (404, "not_found")


def test_local_variables_of_a_token(operator, instance):
    token = operator.get(f"/instances/{instance}").body["waits_for"]["tokens"][0]["id"]
    path = f"/instances/{instance}/variables"

    def write(**more: Any) -> None:
        answer = operator.patch(path, more)
        assert answer.status == 200, answer

    write(variables={"amount": 5, "mine": 1}, token_id=token, local=True)
    assert operator.get(path).body == {"amount": 100}
    assert operator.get(f"{path}?token_id={token}").body == {"amount": 5, "mine": 1}
    write(variables={"amount": 6, "new": True}, token_id=token)  # where it is; a new one in the process
    assert operator.get(path).body == {"amount": 100, "new": True}
    assert operator.get(f"{path}?token_id={token}").body == {"amount": 6, "mine": 1, "new": True}
    write(unset=["amount", "new"], token_id=token, local=True)  # only what is local
    assert operator.get(f"{path}?token_id={token}").body == {"amount": 100, "mine": 1, "new": True}
    assert operator.ask("DELETE", f"{path}/new").status == 200
    assert operator.ask("DELETE", f"{path}/new").status == 404

    wrong = operator.patch(path, {"variables": {"a": 1}, "local": True})
    assert (wrong.status, wrong.code) == (422, "invalid")
    other = str(engine.start("p", actor="tester").thread_id)
    stranger = operator.get(f"/instances/{other}").body["waits_for"]["tokens"][0]["id"]
    assert operator.patch(path, {"variables": {"a": 1}, "token_id": stranger}).status == 404
    assert operator.get(f"{path}?token_id={stranger}").status == 404
    with connection.cursor() as cursor:
        cursor.execute("SELECT op, name, scope > 0 FROM runtime_state_command WHERE instance_id = %s AND op = 'UNSET' "
                       "ORDER BY name", [instance])  # fmt: skip
        assert cursor.fetchall() == [("UNSET", "amount", True), ("UNSET", "new", False)]
    assert replay_stored([UUID(instance)], again=True)[0].problems == ()


def test_whoever_only_asks_keeps_no_file(auditor):
    file = {"$typed": {"type": "file", "value": base64.b64encode(PDF).decode(), "valueInfo": {"filename": "a.pdf"}}}
    refused = auditor.post("/decisions/anything/evaluate", {"variables": {"invoice": file}})
    assert (refused.status, refused.code) == (422, "invalid_variables")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM variable_files")
        assert cursor.fetchone() == (0,)
