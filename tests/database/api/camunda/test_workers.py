"""External tasks as Camunda's workers ask for them: the requests of the JavaScript and of the Python client."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from bpm import engine
from tests.database.api.camunda.conftest import names
from tests.database.engine.drawing import end, flows, model, service, start

LOCKED = names(
    "activityId activityInstanceId errorMessage errorDetails executionId id lockExpirationTime "
    "processDefinitionId processDefinitionKey processDefinitionVersionTag processInstanceId tenantId retries "
    "suspended workerId priority topicName businessKey variables extensionProperties createTime"
)
LISTED = LOCKED - {"errorDetails", "variables", "extensionProperties"}
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}")


def fetched(topic: str, worker: str = "w", **more) -> dict:
    """What the JavaScript client sends."""
    return {
        "workerId": worker,
        "maxTasks": 10,
        "usePriority": True,
        "topics": [{"topicName": topic, "lockDuration": 50_000, **more}],
    }


def asked_by_python(topic: str) -> dict:
    """What the Python client sends, with its nulls."""
    return {
        "workerId": "p",
        "maxTasks": 1,
        "topics": [
            {
                "topicName": topic,
                "lockDuration": 300_000,
                "processVariables": {},
                "includeExtensionProperties": False,
                "deserializeValues": False,
                "variables": None,
            }
        ],
        "asyncResponseTimeout": None,
        "usePriority": False,
        "sorting": None,
    }


def state(rest, instance) -> str:
    return rest.get(f"/history/process-instance/{instance}").body["state"]


def test_a_locked_task_has_the_shape_that_clients_read(worker, sale, started):
    answer = worker.post("/external-task/fetchAndLock", fetched("pay"))
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    (task,) = answer.body
    assert task.keys() == LOCKED
    said = {name: task[name] for name in ("topicName", "activityId", "workerId", "businessKey", "processDefinitionKey")}
    assert said == {
        "topicName": "pay", "activityId": "pay", "workerId": "w", "businessKey": "s-1", "processDefinitionKey": "sale"
    }  # fmt: skip
    assert (task["processInstanceId"], task["executionId"], task["processDefinitionId"]) == (started, started, sale)
    assert (task["suspended"], task["tenantId"], task["extensionProperties"]) == (False, None, {})
    assert task["variables"] == {
        "amount": {"value": 5, "type": "Integer", "valueInfo": {}},
        "customer": {"value": "Ada", "type": "String", "valueInfo": {}},
    }
    assert DATE.fullmatch(task["lockExpirationTime"])
    assert DATE.fullmatch(task["createTime"])
    assert worker.post("/external-task/fetchAndLock", fetched("pay")).body == []


def test_the_loop_of_the_javascript_client(rest, worker, started):
    (task,) = worker.post("/external-task/fetchAndLock", fetched("pay", variables=["amount"])).body
    assert task["variables"].keys() == {"amount"}
    assert worker.post(f"/external-task/{task['id']}/extendLock", {"workerId": "w", "newDuration": 9_000}).status == 204
    assert worker.post(f"/external-task/{task['id']}/lock", {"workerId": "w", "lockDuration": 9_000}).status == 204
    assert worker.post(f"/external-task/{task['id']}/unlock", {}).status == 204
    (task,) = worker.post("/external-task/fetchAndLock", fetched("pay")).body
    brought = {
        "paid": {"type": "double", "value": 12.5, "valueInfo": {}},
        "at": {"type": "date", "value": "2026-11-29T10:15:00.000+0000", "valueInfo": {}},
        "bill": {"type": "json", "value": '{"lines":[1,2]}', "valueInfo": {}},
        "none": {"type": "null", "value": None, "valueInfo": {}},
        "scan": {"type": "file", "value": "aGVsbG8=", "valueInfo": {"filename": "a.txt", "mimetype": "text/plain"}},
    }
    answer = worker.post(f"/external-task/{task['id']}/complete", {"workerId": "w", "variables": brought})
    assert (answer.status, answer.body, answer.headers.get("Content-Type")) == (204, b"", None)
    told = rest.get(f"/process-instance/{started}/variables").body
    assert told["at"] == {"type": "Date", "value": "2026-11-29T10:15:00.000+0000", "valueInfo": {}}
    assert (told["bill"]["type"], told["none"]["type"]) == ("Json", "Null")
    assert told["scan"] == {"type": "File", "value": None, "valueInfo": {"filename": "a.txt", "mimeType": "text/plain"}}
    # As the client asks for a file: by the instance's id in place of an execution's.
    content = worker.get(f"/execution/{started}/localVariables/scan/data")
    assert (content.status, content.body, content.headers["Content-Type"]) == (200, b"hello", "text/plain")
    assert worker.get(f"/process-instance/{started}/variables/scan/data").body == b"hello"
    assert worker.get(f"/execution/{started}/localVariables/paid/data").refused(400, "not a binary value")


def test_the_loop_of_the_python_client(rest, worker, started):
    (task,) = worker.post("/external-task/fetchAndLock", asked_by_python("pay")).body
    for left in (2, 1, 0):
        assert task["retries"] == left + 1
        failed = {
            "workerId": "p", "errorMessage": "no answer", "retries": left, "retryTimeout": 0,
            "errorDetails": f"trace {left}",
        }  # fmt: skip
        assert worker.post(f"/external-task/{task['id']}/failure", failed).status == 204
        again = worker.post("/external-task/fetchAndLock", asked_by_python("pay")).body
        task = again[0] if again else task
    assert again == []
    details = rest.get(f"/external-task/{task['id']}/errorDetails")
    assert (details.status, details.body, details.headers["Content-Type"]) == (200, b"trace 0", "text/plain")
    (incident,) = rest.get(f"/incident?processInstanceId={started}").body
    assert (incident["incidentType"], incident["configuration"]) == ("failedExternalTask", task["id"])
    assert rest.put(f"/external-task/{task['id']}/retries", {"retries": 1}).status == 204
    assert rest.get("/incident/count").body == {"count": 0}
    (task,) = worker.post("/external-task/fetchAndLock", asked_by_python("pay")).body
    said = {"workerId": "p", "errorCode": "NO", "errorMessage": "no", "variables": {"why": {"value": "limit"}}}
    assert worker.post(f"/external-task/{task['id']}/bpmnError", said).status == 204
    assert state(rest, started) == "COMPLETED"


def test_a_failure_without_retries_is_the_last(rest, worker, pay):
    assert worker.post(f"/external-task/{pay}/failure", {"workerId": "w", "errorMessage": "no"}).status == 204
    assert rest.get("/external-task/count?noRetriesLeft=true").body == {"count": 1}
    assert rest.get(f"/external-task/{pay}/errorDetails").status == 204


def test_the_pause_after_a_failure_is_kept(worker, rest, pay):
    said = {"workerId": "w", "retries": 1, "retryTimeout": 300_000}
    assert worker.post(f"/external-task/{pay}/failure", said).status == 204
    assert worker.post("/external-task/fetchAndLock", fetched("pay")).body == []
    assert DATE.fullmatch(rest.get(f"/external-task/{pay}").body["lockExpirationTime"])


def test_local_variables_and_properties_come_where_they_are_asked_for(rest, worker):
    inner = (
        "<bpmn:extensionElements><camunda:inputOutput>"
        '<camunda:inputParameter name="inside">1</camunda:inputParameter></camunda:inputOutput>'
        '<camunda:properties><camunda:property name="hint" value="soon"/></camunda:properties></bpmn:extensionElements>'
    )
    engine.deploy(
        {"p.bpmn": model(start(), service("do", inner=inner), end(), flows("start -> do -> end"))}, actor="tests"
    )
    assert rest.post("/process-definition/key/p/start", {"variables": {"outside": {"value": 2}}}).status == 200
    asked = fetched("do", localVariables=True, includeExtensionProperties=True)
    (task,) = worker.post("/external-task/fetchAndLock", asked).body
    assert task["variables"].keys() == {"inside"}
    assert task["extensionProperties"] == {"hint": "soon"}
    assert worker.post(f"/external-task/{task['id']}/unlock").status == 204
    (task,) = worker.post("/external-task/fetchAndLock", fetched("do")).body
    assert task["variables"].keys() == {"inside", "outside"}
    done = {"workerId": "w", "localVariables": {"inside": {"value": 3}}}
    assert worker.post(f"/external-task/{task['id']}/complete", done).status == 204


def test_what_is_refused_is_told_in_words_that_clients_look_for(worker, pay):
    other = {"workerId": "v", "newDuration": 1_000, "lockDuration": 1_000, "errorCode": "NO"}
    for verb, fields in {
        "complete": ("workerId",),
        "failure": ("workerId",),
        "bpmnError": ("workerId", "errorCode"),
        "extendLock": ("workerId", "newDuration"),
        "lock": ("workerId", "lockDuration"),
    }.items():
        said = {name: other[name] for name in fields}
        answer = worker.post(f"/external-task/{pay}/{verb}", said)
        assert answer.refused(400, "by worker 'v'. It is locked by worker 'w'.")
        for id in (uuid4(), "no-id"):
            assert worker.post(f"/external-task/{id}/{verb}", said).refused(404, "does not exist")
        assert worker.post(f"/external-task/{pay}/{verb}", {}).refused(400, "workerId")
    assert worker.post(f"/external-task/{pay}/complete", {"workerId": "w"}).status == 204
    gone = worker.post(f"/external-task/{pay}/complete", {"workerId": "w"})
    assert gone.refused(404, f"External task with id {pay} does not exist")
    assert worker.post(f"/external-task/{pay}/unlock").refused(404, "does not exist")


def test_a_variable_that_fits_not_its_type_changes_nothing(worker, rest, pay):
    for variables in (
        {"n": {"value": "1aa", "type": "Integer"}},
        {"n": {"value": 1, "type": "JSON"}},
        {"n": {"value": "x", "type": "Object"}},
        {"n": None},
        {"n": 1},
    ):
        answer = worker.post(f"/external-task/{pay}/complete", {"workerId": "w", "variables": variables})
        assert answer.refused(400, "n: ")
    assert rest.get("/external-task/count?locked=true").body == {"count": 1}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"topics": [{"topicName": "pay", "lockDuration": 0}]}, "lockDuration"),
        ({"topics": [{"topicName": "pay"}]}, "lockDuration"),
        ({"topics": [{"topicName": "pay", "lockDuration": 1, "businessKey": "s-1"}]}, "businessKey is not supported"),
        ({"topics": [{"topicName": "pay", "lockDuration": 1, "processVariables": {"a": 1}}]}, "processVariables"),
        ({"topics": [{"topicName": "pay", "lockDuration": 1, "tenantIdIn": ["a"]}]}, "tenantIdIn is not supported"),
        ({"topics": [{"topicName": "pay", "lockDuration": 1}] * 2}, "only once"),
        ({"sorting": [{"sortBy": "createTime", "sortOrder": "desc"}]}, "sortOrder"),
        ({"asyncResponseTimeout": 1_800_001}, "asyncResponseTimeout"),
        ({"maxTasks": 0}, "maxTasks"),
        ({"maxTasks": None}, "maxTasks"),
        ({"workerId": None}, "workerId"),
        ({"workerId": "w\0"}, "workerId"),
    ],
)
def test_a_fetch_that_asks_for_what_is_not_here_locks_nothing(rest, worker, started, more, words):
    assert worker.post("/external-task/fetchAndLock", fetched("pay") | more).refused(400, words)
    assert rest.get("/external-task/count?notLocked=true").body == {"count": 1}


def test_tasks_are_listed_counted_and_looked_at(rest, pay, started, sale):
    (task,) = rest.get("/external-task").body
    assert task.keys() == LISTED
    assert (task["id"], task["workerId"], task["processDefinitionId"]) == (pay, "w", sale)
    assert rest.get(f"/external-task/{pay}").body == task
    for asked in (
        "topicName=pay", "workerId=w", f"processInstanceId={started}", "locked=true", "withRetriesLeft=true",
        f"externalTaskId={pay}", f"externalTaskIdIn={uuid4()},{pay}", "activityId=pay", "processDefinitionKey=sale",
        "notLocked=false", "sortBy=createTime&sortOrder=desc", "firstResult=0&maxResults=1", "topicName=",
    ):  # fmt: skip
        assert rest.get(f"/external-task/count?{asked}").body == {"count": 1}, asked
        assert rest.get(f"/external-task?{asked}").body == [task]
    for asked in ("topicName=no", "workerId=v", "processInstanceId=no", "notLocked=true", "activityId=no"):
        assert rest.get(f"/external-task/count?{asked}").body == {"count": 0}, asked
    assert rest.post("/external-task", {"topicName": "pay", "locked": True, "processInstanceIdIn": [started]}).body
    assert rest.get("/external-task?firstResult=1").body == []
    assert rest.get("/external-task?maxResults=0").body == []
    assert rest.get("/external-task?lockExpirationAfter=2026-01-01").refused(400, "lockExpirationAfter is not support")
    assert rest.get("/external-task?locked=true&notLocked=true").refused(400, "beside another filter")
    assert rest.get("/external-task?sortBy=id").refused(400, "together")
    assert rest.get("/external-task?sortBy=tenantId&sortOrder=asc").refused(400, "cannot be sorted by tenantId")
    assert rest.get("/external-task?maxResults=-1").refused(400, "maxResults")
    assert rest.get("/external-task/no").refused(404, "does not exist")


def test_retries_are_those_of_an_operator(rest, worker, pay):
    assert worker.put(f"/external-task/{pay}/retries", {"retries": 5}).refused(403, "operator")
    assert rest.put(f"/external-task/{pay}/retries", {"retries": 5}).status == 204
    assert rest.get(f"/external-task/{pay}").body["retries"] == 5
    assert rest.put(f"/external-task/{pay}/retries", {"retries": 0}).refused(400, "cannot be set to 0")
    assert rest.put(f"/external-task/{pay}/retries", {"retries": -1}).refused(400, "retries")
    assert rest.put(f"/external-task/{uuid4()}/retries", {"retries": 1}).refused(404, "does not exist")
