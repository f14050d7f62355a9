"""Who may do what, and how the API says no: always a problem document."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client

from bpm import engine
from bpm.api.app import api
from bpm.api.problems import PROBLEMS
from bpm.engine import acting  # noqa: F401 - its refusals are listed below
from bpm.semantics.work import REFUSALS
from bpm.store import access

UNKNOWN = "01a2289e-a924-7e58-8969-e0c400000000"
GETS = ["/definitions", "/instances", "/external-tasks", "/user-tasks", "/incidents", f"/instances/{UNKNOWN}/trace"]


def test_every_refusal_has_a_status():
    assert set(REFUSALS) <= set(PROBLEMS)


@pytest.mark.parametrize("path", GETS)
def test_nobody_gets_nothing(nobody, path):
    answer = nobody.get(path)
    assert (answer.status, answer.code) == (401, "not_authenticated")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_every_operation_asks_who_it_is():
    schema = api.get_openapi_schema()
    open_ones = [
        (path, method)
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if not operation.get("security")
    ]
    assert open_ones == []


def test_roles_do_what_they_may_and_no_more(operator, worker, auditor, order):
    start = {"process": order}
    assert operator.post("/instances", start).status == 201
    for weaker in (worker, auditor):
        refused = weaker.post("/instances", start)
        assert (refused.status, refused.code) == (403, "not_allowed")
    fetch = {"worker": "w", "topics": ["orders.check-stock"]}
    assert auditor.post("/external-tasks/fetch-and-lock", fetch).status == 403
    assert len(worker.post("/external-tasks/fetch-and-lock", fetch).body) == 1
    assert worker.get("/instances").status == 403
    assert auditor.get("/instances").status == 200


def test_a_revoked_token_and_one_of_a_closed_account_are_of_no_use(operator):
    ada = User.objects.create_user("ada")
    token = access.issue_token("ada's", "auditor", ada)
    assert access.find_bearer(token).may("view")
    ada.is_active = False
    ada.save()
    assert access.find_bearer(token) is None
    assert access.revoke_token("tests-operator")
    assert operator.get("/instances").status == 401


def test_a_token_is_kept_as_a_hash_only(operator):
    (row,) = access.list_tokens()
    assert operator.token not in (row.digest, row.name)
    assert row.last_used_at is None
    operator.get("/instances")
    assert access.list_tokens()[0].last_used_at is not None


def test_a_session_works_with_the_csrf_token_only(transactional_db, order):
    access.fill_groups()
    user = User.objects.create_user("olga", password="secret")
    user.groups.add(Group.objects.get(name="operators"))
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    assert client.get("/api/instances").status_code == 200
    refused = client.post("/api/instances", {"process": order}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    client.get("/cockpit/login/")
    csrf = client.cookies["csrftoken"].value if "csrftoken" in client.cookies else ""
    if not csrf:
        client.get("/cockpit/processes/")
        csrf = client.cookies["csrftoken"].value
    answer = client.post(
        "/api/instances", {"process": order}, content_type="application/json", headers={"X-CSRFToken": csrf}
    )
    assert answer.status_code == 201


def test_a_person_acts_for_nobody_else(transactional_db, order):
    access.fill_groups()
    user = User.objects.create_user("olga")
    user.groups.add(Group.objects.get(name="operators"))
    client = Client()
    client.force_login(user)
    refused = client.post(
        f"/api/user-tasks/{UNKNOWN[:-1]}5/complete", {"user": "maria"}, content_type="application/json"
    )
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", f"/instances/{UNKNOWN}", None, 404, "not_found"),
        ("GET", f"/instances/{UNKNOWN}/trace", None, 404, "not_found"),
        ("GET", "/instances/nonsense", None, 422, "invalid"),
        ("GET", "/instances?after=nonsense", None, 400, "bad_cursor"),
        ("GET", "/instances?size=100000", None, 422, "invalid"),
        ("GET", "/instances?business_key=a%00", None, 400, "bad_request"),
        ("POST", "/decisions/a%00/evaluate", {}, 400, "bad_request"),
        ("GET", "/nothing", None, 404, "not_found"),
        ("DELETE", "/instances", None, 405, "method_not_allowed"),
        ("POST", "/instances", b"{", 400, "bad_request"),
        ("POST", "/instances", {"process": "unknown"}, 404, "not_found"),
        ("POST", "/instances", {"process": "order", "colour": "red"}, 422, "invalid"),
        ("POST", "/instances", {"process": "order", "node": "nowhere"}, 422, "invalid"),
        ("POST", "/instances", b'{"process": "order", "variables": {"x": NaN}}', 400, "bad_request"),
        ("POST", "/instances", {"process": "order", "variables": {"x": "\x00"}}, 422, "invalid_variables"),
        ("POST", f"/instances/{UNKNOWN}/cancel", {}, 404, "not_found"),
        ("POST", f"/external-tasks/{UNKNOWN[:-1]}7/complete", {"worker": "w"}, 404, "not_found"),
        ("POST", f"/incidents/{UNKNOWN[:-1]}7/retry", {"retries": 0}, 422, "invalid"),
        ("POST", "/messages/correlate", {"name": "nobody waits"}, 404, "not_found"),
        ("POST", "/deployments", {"files": {}}, 422, "invalid"),
        ("POST", "/deployments", {"files": {"a.bpmn": "<no/>"}}, 422, "deploy_refused"),
        ("POST", "/deployments", {"files": ["a"]}, 422, "invalid"),
        ("POST", "/deployments", {"files": {"a.bpmn": "\ud800"}}, 422, "invalid"),
        ("POST", "/deployments", {"files": {"\ud800.bpmn": "<no/>"}}, 422, "invalid"),
        ("POST", "/instances", {"process": "order", "\x00": 1}, 422, "invalid"),
        ("POST", "/instances", {"process": "order", "\ud800": 1}, 422, "invalid"),
        ("POST", f"/instances/{UNKNOWN}/migrate", {"nodes": {"\x00": "a"}}, 422, "invalid"),
        ("GET", "/instances?started_after=9999-12-31T23:59:59-01:00", None, 422, "invalid"),
        ("GET", "/instances?started_before=0001-01-01T00:00:00%2B01:00", None, 422, "invalid"),
        ("GET", f"/instances/{UNKNOWN}/trace?since=9999-12-31T23:59:59-01:00", None, 422, "invalid"),
        ("POST", "/exports", {"format": "csv", "until": "0001-01-01T00:00:00+01:00"}, 422, "invalid"),
    ],
)
def test_errors_are_problem_documents(operator, order, method, path, body, status, code):
    answer = operator.ask(method, path, body)
    assert answer.status == status, answer
    if code is not None:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.body["code"] == code, answer
        assert answer.body["status"] == status
        assert answer.body["type"] == f"urn:tokentrail:problem:{code}"
        assert answer.body["detail"]


@pytest.mark.parametrize("zone", ["%2B23:00", "-17:30", "Z", ""])
def test_a_time_is_taken_in_any_zone(operator, order, zone):
    """Also in those that PostgreSQL has none of."""
    instance = operator.post("/instances", {"process": order}).body["instance_id"]
    (found,) = operator.get(f"/instances?started_after=2001-01-01T00:00:00{zone}").body["items"]
    assert found["id"] == instance
    assert operator.get(f"/instances/{instance}/trace?until=2001-01-01T00:00:00{zone}").body == []


@pytest.mark.parametrize("charset", ["hex", "rot13", "nonsense", "utf-8"])
def test_a_charset_that_is_none_of_texts_is_not_heeded(operator, charset):
    form = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.bpmn"\r\n\r\n<no/>\r\n--x--\r\n'
    said = Client(raise_request_exception=False).generic(
        "POST",
        "/api/deployments",
        form,
        content_type=f"multipart/form-data; boundary=x; charset={charset}",
        headers={"Authorization": f"Bearer {operator.token}"},
    )
    assert (said.status_code, said.json()["code"]) == (422, "deploy_refused")
    login = Client(raise_request_exception=False, enforce_csrf_checks=True)
    login.get("/cockpit/login/")  # gives the cookie beside which the form is looked into
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    assert login.generic("POST", "/cockpit/login/", b"username=a", content_type=kind).status_code == 403


def test_a_refused_deployment_says_everything_at_once(operator):
    model = (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p" isExecutable="true">'
        '<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="nowhere"/>'
        '<serviceTask id="t"/></process></definitions>'
    )
    answer = operator.post("/deployments", {"files": {"bad.bpmn": model}})
    assert answer.code == "deploy_refused"
    assert all(
        found["file"] == "bad.bpmn" and found["code"] and found["message"] for found in answer.body["diagnostics"]
    )
    assert len(answer.body["diagnostics"]) >= 1


def test_a_worker_hears_why_it_may_not(operator, worker, order):
    operator.post("/instances", {"process": order})
    fetch = {"worker": "one", "topics": ["orders.check-stock"]}
    (task,) = worker.post("/external-tasks/fetch-and-lock", fetch).body
    path = f"/external-tasks/{task['id']}"
    refused = worker.post(f"{path}/complete", {"worker": "two"})
    assert (refused.status, refused.code) == (409, "wrong_worker")
    assert "one" in refused.body["detail"]
    assert worker.post(f"{path}/extend", {"worker": "one", "lock_seconds": 120}).status == 204
    assert worker.post(f"{path}/unlock", {"worker": "two"}).status == 409
    assert worker.post(f"{path}/unlock", {"worker": "one"}).status == 204
    assert worker.post(f"{path}/complete", {"worker": "one"}).code == "not_locked"


def test_the_same_key_with_other_content_is_refused(operator, order):
    operator.post("/instances", {"process": order, "business_key": "A"}, Idempotency_Key="k")
    refused = operator.post("/instances", {"process": order, "business_key": "B"}, Idempotency_Key="k")
    assert (refused.status, refused.code) == (409, "key_conflict")


def test_a_huge_body_is_refused_before_it_is_read(operator, settings):
    settings.BPM_API_BODY_LIMIT = 1000
    refused = operator.post("/instances", {"process": "x" * 2000})
    assert (refused.status, refused.code) == (413, "too_large")


def test_history_keeps_which_token_spoke_for_a_worker(operator, worker, order):
    operator.post("/instances", {"process": order})
    fetch = {"worker": "anybody", "topics": ["orders.check-stock"]}
    (task,) = worker.post("/external-tasks/fetch-and-lock", fetch).body
    path = f"/external-tasks/{task['id']}"
    assert worker.post(f"{path}/extend", {"worker": "anybody", "lock_seconds": 120}).status == 204
    assert worker.post(f"{path}/complete", {"worker": "anybody", "variables": {"inStock": True}}).status == 200
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT event_type, worker_id, actor FROM external_task_events WHERE task_id = %s AND worker_id IS NOT NULL"
            " ORDER BY row_version",
            [task["id"]],
        )
        told = cursor.fetchall()
    assert told == [
        (event, "anybody", "token:tests-worker") for event in ("TASK_LOCKED", "TASK_EXTENDED", "TASK_COMPLETED")
    ]


def test_nobody_works_under_the_name_of_the_engine(worker, order):
    refused = worker.post("/external-tasks/fetch-and-lock", {"worker": "engine", "topics": ["a"]})
    assert refused.code == "invalid"
    with pytest.raises(engine.Invalid, match="name of the engine"):
        engine.start(order, actor="engine")


def test_only_an_operator_takes_a_task_from_another_worker(operator, worker, order):
    operator.post("/instances", {"process": order})
    fetch = {"worker": "one", "topics": ["orders.check-stock"]}
    (task,) = worker.post("/external-tasks/fetch-and-lock", fetch).body
    refused = worker.post(f"/external-tasks/{task['id']}/unlock", {})
    assert (refused.status, refused.code) == (403, "not_allowed")
    assert operator.post(f"/external-tasks/{task['id']}/unlock", {}).status == 204


def test_a_condition_that_is_misspelt_is_refused(operator, order):
    """It would give everything, or nothing, and nobody would know why."""
    for path in (
        "/instances?definition=order",
        "/user-tasks?limit=5",
        "/definitions?proces=order",
        f"/instances/{UNKNOWN}?x=1",
    ):
        answer = operator.get(path)
        assert (answer.status, answer.code) == (422, "invalid"), path
    assert (
        "query.definition: is not known here, but after, business_key,"
        in operator.get(GETS[1] + "?definition=x").body["detail"]
    )
    for path in ("/instances?state=running", "/external-tasks?state=OPEN", "/user-tasks?state=x", f"{GETS[-1]}?type=x"):
        answer = operator.get(path)
        assert (answer.status, answer.code) == (422, "invalid"), path
        assert "is none of" in answer.body["detail"]
    assert operator.get("/instances?state=RUNNING&state=FAILED&size=5&process=order").status == 200
    assert operator.post("/exports", {"format": "csv", "states": ["x"]}).status == 422


def test_what_is_not_there_is_called_by_the_id_that_was_asked_for(operator, order):
    unknown = UNKNOWN[:-1] + "7"
    for path, given, what in (
        ("external-tasks/{}/complete", {"worker": "w"}, "external task"),
        ("external-tasks/{}/retries", {"retries": 1}, "external task"),
        ("user-tasks/{}/claim", {}, "user task"),
        ("incidents/{}/retry", {}, "incident"),
    ):
        of_nobody = operator.post("/" + path.format(unknown), given)
        assert (of_nobody.status, of_nobody.body["detail"]) == (404, f"there is no {what} {unknown}")
    instance = str(engine.start(order, actor="shop").thread_id)
    beyond = instance[:-2] + "ff"
    of_an_instance = operator.post(f"/user-tasks/{beyond}/complete", {})
    assert (of_an_instance.status, of_an_instance.body["detail"]) == (404, f"there is no user task {beyond}")


def test_an_error_names_the_field_as_it_was_sent(operator, worker):
    answer = operator.post("/external-tasks/fetch-and-lock", {"topics": [{"topicName": "x"}]})
    where = {error["where"] for error in answer.body["errors"]}
    assert {"body.worker", "body.topics.0"} <= where
    assert not any("given" in place or "[" in place for place in where)
    refused = worker.get("/instances").body["detail"]
    assert refused == "a token with the role worker may not do this: it needs the role auditor or the role operator"
