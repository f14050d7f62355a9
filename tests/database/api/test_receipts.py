"""Every request that changes something takes `Idempotency-Key`: the same again is answered alike, another is 409."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from bpm import engine
from bpm.api.app import api
from tests.database.engine.drawing import catch, end, flows, message, model, service, start, user

MODEL = model(
    start(), service("pay"), user("look"), catch("wait", message("m1")), end(),
    flows("start -> pay -> look -> wait -> end"), before='<bpmn:message id="m1" name="Paid"/>',
)  # fmt: skip
LATER = model(start(), service("pay"), end(), flows("start -> pay -> end"))

# method, path -> how far the instance is before; what is sent, and what else under the same key (None: by one caller
# only the id can differ).
CASES: dict[tuple[str, str], tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    ("post", "/deployments"): ("", {"files": {"a.bpmn": LATER.decode()}}, {"files": {"b.bpmn": LATER.decode()}}),
    ("post", "/instances"): ("", {"process": "p"}, {"process": "p", "variables": {"x": 1}}),
    ("post", "/instances/{id}/cancel"): ("", {"reason": "a"}, {"reason": "b"}),
    ("post", "/instances/{id}/suspend"): ("", {"reason": "a"}, {"reason": "b"}),
    ("post", "/instances/{id}/resume"): ("suspended", {"reason": "a"}, {"reason": "b"}),
    ("post", "/instances/{id}/restart"): ("ended", {"keep": "none"}, {"keep": "start"}),
    ("post", "/instances/{id}/modify"): ("", {"start_before": ["pay"]}, {"start_before": ["look"]}),
    ("post", "/instances/{id}/migrate"): ("migratable", {"version": 2}, {"version": 1}),
    ("patch", "/instances/{id}/variables"): ("", {"variables": {"x": 1.50}}, {"variables": {"x": 2}}),
    ("post", "/external-tasks/fetch-and-lock"): (
        "", {"worker": "w", "topics": ["pay"]}, {"worker": "w", "topics": ["pay"], "max": 2}
    ),
    ("post", "/external-tasks/{task}/complete"): ("locked", {"worker": "w"}, {"worker": "w", "variables": {"x": 1}}),
    ("post", "/external-tasks/{task}/fail"): ("locked", {"worker": "w"}, {"worker": "w", "message": "no"}),
    ("post", "/external-tasks/{task}/error"): ("locked", {"worker": "w", "code": "A"}, {"worker": "w", "code": "B"}),
    ("post", "/external-tasks/{task}/extend"): (
        "locked", {"worker": "w", "lock_seconds": 9}, {"worker": "w", "lock_seconds": 8}
    ),
    ("post", "/external-tasks/{task}/retries"): ("", {"retries": 4}, {"retries": 5}),
    ("post", "/external-tasks/{task}/unlock"): ("locked", {"worker": "w"}, None),
    ("post", "/user-tasks/{person}/claim"): ("paid", {"user": "ann"}, {"user": "bob"}),
    ("post", "/user-tasks/{person}/unclaim"): ("claimed", {}, None),
    ("post", "/user-tasks/{person}/assign"): ("paid", {"user": "ann"}, {"user": "bob"}),
    ("post", "/user-tasks/{person}/delegate"): ("claimed", {"user": "bob"}, {"user": "cleo"}),
    ("post", "/user-tasks/{person}/resolve"): ("delegated", {}, {"variables": {"x": 1}}),
    ("post", "/user-tasks/{person}/complete"): ("paid", {"user": "ann"}, {"user": "ann", "variables": {"x": 1}}),
    ("post", "/user-tasks/{person}/error"): (
        "paid", {"user": "ann", "code": "A"}, {"user": "ann", "code": "B"}
    ),
    ("post", "/messages"): ("", {"name": "Nobody"}, {"name": "Nobody", "ttl": 5}),
    ("post", "/messages/correlate"): ("looked", {"name": "Paid"}, {"name": "Paid", "variables": {"x": 1}}),
    ("post", "/signals"): ("", {"name": "Go"}, {"name": "Stop"}),
    ("post", "/definitions/{id}/suspend"): ("definition", {}, None),
    ("post", "/definitions/{id}/resume"): ("suspended definition", {}, None),
    ("post", "/conditions/evaluate"): ("", {"variables": {"go": 1}}, None),
    ("post", "/incidents/{incident}/retry"): ("failed", {}, {"retries": 2}),
    ("delete", "/instances/{id}/variables/{name}"): ("", {}, None),
    ("put", "/instances/{id}/variables/{name}/file"): ("", {"a": "file"}, {"another": "file"}),
    ("post", "/exports"): ("", {"format": "csv"}, {"format": "jsonl"}),
}  # fmt: skip
# What stands behind the path.
QUERIES = {"/instances/{id}/variables/{name}/file": "?filename=a.json"}
# These change nothing.
READING = {
    ("post", "/instances/{id}/migration-plan"),
    ("post", "/definitions/{id}/migration-plan"),
    ("post", "/decisions/{key}/evaluate"),
    ("post", "/seals/verify"),
}
# These are the same again by themselves: a content lies under its hash, and instances that are through stay there.
NO_KEY = {("post", "/files"), ("post", "/definitions/{id}/migrate")}


def places(far: str) -> dict[str, Any]:
    """A new instance that is so far, and the ids of what it has."""
    instance = engine.start("p", {"note": 1}, actor="ann").thread_id
    if far in ("locked", "paid", "claimed", "delegated", "looked", "failed"):
        (task,) = engine.fetch_and_lock(["pay"], worker="w", max=10)
    if far == "failed":
        engine.fail_task(task.id, worker="w", retries=0)
    if far in ("paid", "claimed", "delegated", "looked"):
        engine.complete_task(task.id, worker="w")
    found: dict[str, Any] = {"id": instance, "name": "note"}
    tables = (("task", "external_tasks"), ("person", "user_tasks"), ("incident", "incidents"))
    with connection.cursor() as cursor:
        for name, table in tables:
            cursor.execute(f"SELECT id FROM {table} WHERE instance_id = %s", [instance])
            found[name] = (cursor.fetchone() or [None])[0]
    if far == "claimed":
        engine.claim_task(found["person"], "ann")
    if far == "delegated":
        engine.delegate_user_task(found["person"], "bob", actor="ann")
    if far == "looked":
        engine.complete_user_task(found["person"], actor="ann")
    if far == "suspended":
        engine.suspend_instance(instance, actor="ann")
    if far == "ended":
        engine.cancel_instance(instance, actor="ann")
    if far.endswith("definition"):
        found["id"] = engine.find_definition("p")
    if far == "suspended definition":
        engine.suspend_definition("p", actor="ann")
    if far == "migratable":
        engine.deploy({"later.bpmn": LATER}, actor="dora")
    return found


def paths() -> set[tuple[str, str]]:
    """Method and path of every operation that is no GET; ids by what they are of."""
    names = {"external-tasks": "{task}", "user-tasks": "{person}", "incidents": "{incident}"}
    found = set()
    for path, operations in api.get_openapi_schema()["paths"].items():
        short = path.removeprefix("/api")
        short = short.replace("{id}", names.get(short.split("/")[1], "{id}"))
        found |= {(method, short) for method in operations if method != "get"}
    return found


def test_the_table_knows_every_request_that_changes_something():
    assert paths() - READING - NO_KEY == set(CASES)


def count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0]


@pytest.mark.parametrize(("method", "path"), CASES)
def test_the_same_again_is_answered_alike_and_another_is_409(operator, settings, tmp_path, method, path):
    settings.BPM_EXPORT_TO = str(tmp_path)
    far, sent, other = CASES[method, path]
    engine.deploy({"p.bpmn": MODEL}, actor="dora")
    at = path.format(**places(far)) + QUERIES.get(path, "")
    first = operator.ask(method.upper(), at, sent, Idempotency_Key="k")
    assert first.status in (200, 201, 202, 204), first
    commits = count("runtime_commit")
    second = operator.ask(method.upper(), at, sent, Idempotency_Key="k")
    assert second.status in (first.status, 200)
    if isinstance(first.body, dict):
        assert {**second.body, "repeated": 0} == {**first.body, "repeated": 0}
    else:
        assert second.body == first.body
    if other is not None:
        refused = operator.ask(method.upper(), at, other, Idempotency_Key="k")
        assert (refused.status, refused.code) == (409, "key_conflict")
    assert count("runtime_commit") == commits
