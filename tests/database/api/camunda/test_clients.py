"""What simple clients ask: definitions, instances, variables, messages, signals, tasks, deployments, incidents."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from bpm.store import access
from tests.database.api.camunda.conftest import ALARM, SALE, Rest, basic, bearer, names
from tests.database.engine.drawing import end, flows, message, model, start, user

DEFINITION = names(
    "id key category description name version resource deploymentId diagram suspended tenantId versionTag "
    "historyTimeToLive startableInTasklist"
)
INSTANCE = names("links id definitionId definitionKey businessKey caseInstanceId ended suspended tenantId")
TASK = names(
    "id name assignee owner created lastUpdated due followUp delegationState description executionId "
    "parentTaskId priority processDefinitionId processInstanceId caseExecutionId caseDefinitionId "
    "caseInstanceId taskDefinitionKey suspended formKey camundaFormRef tenantId taskState"
)
INCIDENT = names(
    "id processDefinitionId processInstanceId executionId incidentTimestamp incidentType activityId "
    "failedActivityId causeIncidentId rootCauseIncidentId configuration tenantId incidentMessage "
    "jobDefinitionId annotation"
)
PAST = names(
    "id rootProcessInstanceId superProcessInstanceId superCaseInstanceId caseInstanceId processDefinitionName "
    "processDefinitionKey processDefinitionVersion processDefinitionId businessKey startTime endTime "
    "removalTime durationInMillis startUserId startActivityId deleteReason tenantId state "
    "restartedProcessInstanceId"
)


def xml(content: bytes, name: str = "sale.bpmn") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "application/octet-stream")


def at_check(rest, worker, pay) -> str:
    """The sale goes on to its user task. Out: the task's id."""
    assert worker.post(f"/external-task/{pay}/complete", {"workerId": "w"}).status == 204
    assert rest.post("/message", {"messageName": "money", "businessKey": "s-1"}).status == 204
    (task,) = rest.get("/task").body
    return str(task["id"])


def test_who_asks_has_a_token(transactional_db, rest, worker):
    assert Rest().get("/engine").body == [{"name": "default"}]
    for headers in ({}, bearer("tt_no"), basic("tt_no"), {"Authorization": "Basic ?"}, {"Authorization": "Digest x"}):
        for path in ("/version", "/task", "/process-definition"):
            assert Rest(headers).get(path).refused(401, "token")
    token = access.issue_token("auditor", "auditor")
    for headers in (bearer(token), basic(token), basic(token, user="")):
        assert Rest(headers).get("/version").body == {"version": "7.24.0"}
        assert Rest(headers).get("/process-instance").body == []
        assert Rest(headers).post("/message", {"messageName": "m"}).refused(403, "operator")
    assert worker.get("/task").refused(403, "auditor")
    assert Rest(rest.headers, "/engine-rest/engine/default").get("/task/count").body == {"count": 0}


def test_what_is_not_here_is_said_in_camundas_shape(rest):
    for method, path in (("GET", "/user"), ("POST", "/condition"), ("GET", "/"), ("DELETE", "/batch/x")):
        assert rest.ask(method, path).refused(404, "is not supported here")
    assert Rest(rest.headers, "/engine-rest/engine/other").get("/task").refused(404, "is not supported here")
    answer = rest.ask("DELETE", "/message")
    assert answer.refused(405, "POST")
    assert answer.headers["Allow"] == "POST"
    assert rest.get("/task?name=%00").refused(400, "NUL")
    assert rest.post("/task", {"name": "\0"}).refused(400, "name")
    assert rest.post("/message", {"messageName": "\ud800"}).refused(400, "")
    assert rest.ask("POST", "/message", []).refused(400, "")


def test_definitions(rest, sale):
    (definition,) = rest.get("/process-definition").body
    assert definition.keys() == DEFINITION
    assert (definition["id"], definition["key"], definition["version"]) == (sale, "sale", 1)
    assert rest.get(f"/process-definition/{sale}").body == definition
    assert rest.get("/process-definition/key/sale").body == definition
    told = {"id": sale, "bpmn20Xml": SALE.decode()}
    assert rest.get(f"/process-definition/{sale}/xml").body == told
    assert rest.get("/process-definition/key/sale/xml").body == told
    # As the Python client looks for a version.
    asked = "key=sale&versionTagLike=1%25&sortBy=version&sortOrder=desc&firstResult=0&maxResults=1"
    assert rest.get(f"/process-definition?{asked}").body == []
    for asked, number in {"key=sale": 1, "keyLike=s%25": 1, "latestVersion=true": 1, "version=2": 0, "active=true": 1,
                          f"processDefinitionId={sale}": 1, "suspended=true": 0, "withoutVersionTag=true": 1,
                          "resourceName=sale.bpmn": 1}.items():  # fmt: skip
        assert rest.get(f"/process-definition/count?{asked}").body == {"count": number}, asked
    for id in (uuid4(), "no"):
        assert rest.get(f"/process-definition/{id}").refused(404, "id")
    missing = rest.get("/process-definition/key/no")
    assert missing.refused(404, "No matching process definition with key: no and no tenant-id")
    assert rest.get("/process-definition?tenantIdIn=a").refused(400, "tenantIdIn is not supported")


def test_starting(rest, sale):
    started = rest.post(
        f"/process-definition/{sale}/start",
        {"variables": {"n": {"value": "42", "type": "Integer"}}, "withVariablesInReturn": True, "businessKey": "b"},
    )
    assert started.status == 200, started
    assert started.body.keys() == INSTANCE | {"variables"}
    assert started.body["variables"] == {"n": {"value": 42, "type": "Integer", "valueInfo": {}}}
    said = [started.body[name] for name in ("definitionId", "definitionKey", "businessKey", "ended", "suspended")]
    assert said == [sale, "sale", "b", False, False]
    id = started.body["id"]
    (link,) = started.body["links"]
    assert (link["method"], link["rel"]) == ("GET", "self")
    assert link["href"] == f"http://testserver/engine-rest/process-instance/{id}"
    del started.body["variables"]
    assert rest.get(f"/process-instance/{id}").body == started.body
    assert rest.post("/process-definition/key/no/start", {}).refused(404, "No matching process definition with key: no")
    for more, words in (
        ({"startInstructions": [{"type": "startBeforeActivity"}]}, "startInstructions is not supported"),
        ({"caseInstanceId": "c"}, "caseInstanceId is not supported"),
        ({"skipCustomListeners": True}, "skipCustomListeners is not supported"),
        ({"variables": {"n": {"value": "1aa", "type": "Integer"}}}, "1aa"),
        ({"variables": {"n": {"value": 1, "valueInfo": {"transient": True}}}}, "transient"),
    ):
        assert rest.post("/process-definition/key/sale/start", more).refused(400, words)
    harmless = {"startInstructions": [], "caseInstanceId": None, "skipCustomListeners": False}
    assert rest.post("/process-definition/key/sale/start", harmless).status == 200


def test_a_definition_is_suspended(rest, sale):
    for _ in range(2):
        assert rest.put("/process-definition/key/sale/suspended", {"suspended": True}).status == 204
    assert rest.post("/process-definition/key/sale/start", {}).refused(500, "suspended")
    refused = rest.put(f"/process-definition/{sale}/suspended", {"suspended": False, "includeProcessInstances": True})
    assert refused.refused(400, "includeProcessInstances is not supported")
    assert rest.put(f"/process-definition/{sale}/suspended", {"suspended": False}).status == 204
    assert rest.post("/process-definition/key/sale/start", {}).status == 200


def test_instances(rest, started, sale):
    (instance,) = rest.get("/process-instance").body
    assert instance.keys() == INSTANCE
    for asked, number in {
        "processDefinitionKey=sale": 1, f"processDefinitionId={sale}": 1, "businessKey=s-1": 1, "businessKey=s-2": 0,
        "active=true": 1, "suspended=true": 0, "activityIdIn=pay,x": 1, "withIncident=true": 0,
        "variables=customer_eq_Ada": 1, "variables=customer_eq_Ada,customer_like_B%25": 0,
        # As Camunda does, a query's values are texts.
        "variables=amount_eq_5": 0, f"processInstanceIds={started}": 1,
    }.items():  # fmt: skip
        assert rest.get(f"/process-instance/count?{asked}").body == {"count": number}, asked
    over = {"variables": [{"name": "amount", "operator": "gteq", "value": 5}], "processDefinitionKeyIn": ["sale"]}
    assert rest.post("/process-instance", over).body == [instance]
    assert rest.post("/process-instance/count", over | {"businessKey": "no"}).body == {"count": 0}
    sorting = {"sorting": [{"sortBy": "businessKey", "sortOrder": "asc"}]}
    assert rest.post("/process-instance", sorting).body == [instance]
    for wrong in ({"orQueries": [{}]}, {"variables": ["x"]}, {"variables": [{"name": "a", "operator": "notLike"}]}):
        assert rest.post("/process-instance", wrong).refused(400, "")
    assert rest.get("/process-instance?variables=a_b").refused(400, "condition")

    for _ in range(2):
        assert rest.put(f"/process-instance/{started}/suspended", {"suspended": True}).status == 204
    assert rest.get(f"/process-instance/{started}").body["suspended"] is True
    assert rest.put(f"/process-instance/{started}/suspended", {"suspended": False}).status == 204

    assert rest.ask("DELETE", f"/process-instance/{started}?skipCustomListeners=true").refused(400, "not supported")
    assert rest.ask("DELETE", f"/process-instance/{started}").status == 204
    assert rest.get(f"/process-instance/{started}").refused(404, "does not exist")
    assert rest.ask("DELETE", f"/process-instance/{started}").refused(404, "does not exist")
    assert rest.ask("DELETE", f"/process-instance/{started}?failIfNotExists=false").status == 204
    past = rest.get(f"/history/process-instance/{started}").body
    assert past.keys() == PAST
    assert (past["state"], past["businessKey"]) == ("EXTERNALLY_TERMINATED", "s-1")
    assert rest.get("/history/process-instance?finished=true&variables=customer_eq_Ada").body == [past]
    assert rest.get("/history/process-instance/count?unfinished=true").body == {"count": 0}
    assert rest.get("/history/process-instance/no").refused(404, "does not exist")


def test_variables(rest, started):
    at = f"/process-instance/{started}/variables"
    assert rest.get(f"{at}/amount").body == {"value": 5, "type": "Integer", "valueInfo": {}}
    assert rest.put(f"{at}/amount", {"value": 6, "type": "Long"}).status == 204
    assert rest.put(f"{at}/amount", {"value": "x", "type": "Long"}).refused(400, "amount")
    assert rest.post(at, {"modifications": {"more": {"value": True}}, "deletions": ["customer"]}).status == 204
    told = rest.get(f"{at}?deserializeValues=false").body
    assert {name: one["value"] for name, one in told.items()} == {"amount": 6, "more": True}
    assert rest.ask("DELETE", f"{at}/more").status == 204
    assert rest.get(f"{at}/more").refused(404, "more")
    assert rest.put(f"/process-instance/{uuid4()}/variables/n", {"value": 1}).refused(404, "does not exist")
    assert rest.put("/process-instance/no/variables/n", {"value": 1}).refused(404, "does not exist")


def test_messages(rest, worker, pay, started):
    early = {"messageName": "money", "businessKey": "s-1"}
    why = "MismatchingMessageCorrelationException: Cannot correlate message 'money'"
    assert rest.post("/message", early).refused(400, why)
    assert worker.post(f"/external-task/{pay}/complete", {"workerId": "w"}).status == 204
    # As the Python client sends it.
    said = {
        "messageName": "money", "resultEnabled": True, "tenantId": None, "withoutTenantId": True,
        "processInstanceId": None, "correlationKeys": {"customer": {"value": "Ada", "type": "String"}},
        "processVariables": {"paid": {"value": 5}}, "variablesInResultEnabled": True,
    }  # fmt: skip
    for more in ({"all": True}, {"tenantId": "a"}, {"localCorrelationKeys": {"a": {"value": 1}}}):
        assert rest.post("/message", said | more).refused(400, f"{next(iter(more))} is not supported")
    answer = rest.post("/message", said)
    assert answer.status == 200, answer
    (result,) = answer.body
    assert result["resultType"] == "Execution"
    assert result["execution"] == {"id": started, "processInstanceId": started, "ended": False, "tenantId": None}
    assert result["processInstance"] is None
    assert result["variables"]["paid"]["value"] == 5


def test_a_message_and_a_signal_start_what_begins_with_them(rest):
    order = model(
        start("start", message("order")), user("look"), end(), flows("start -> look -> end"), id="ordered",
        before='<bpmn:message id="order" name="order"/>',
    )  # fmt: skip
    assert rest.form("/deployment/create", {"a": xml(order, "a.bpmn"), "b": xml(ALARM, "b.bpmn")}).status == 200
    (result,) = rest.post("/message", {"messageName": "order", "resultEnabled": True, "businessKey": "o"}).body
    assert (result["resultType"], result["execution"]) == ("ProcessDefinition", None)
    assert result["processInstance"].keys() == INSTANCE
    assert result["processInstance"]["businessKey"] == "o"
    assert rest.post("/signal", {"name": "alarm", "variables": {"n": {"value": 1}}}).status == 204
    assert rest.get("/process-instance/count?processDefinitionKey=alarm").body == {"count": 1}
    assert rest.post("/signal", {"name": "alarm", "executionId": "e"}).refused(400, "executionId is not supported")


def test_tasks(rest, worker, pay, started, sale):
    id = at_check(rest, worker, pay)
    (task,) = rest.get("/task").body
    assert task.keys() == TASK
    said = [task[name] for name in ("name", "taskDefinitionKey", "processInstanceId", "processDefinitionId")]
    assert said == ["Check it", "check", started, sale]
    assert rest.get(f"/task/{id}").body == task
    for asked, number in {
        "candidateGroup=sales": 1, "candidateGroups=a,sales": 1, "candidateGroup=no": 0, "unassigned=true": 1,
        "assigned=true": 0, "assignee=ada": 0, "nameLike=Check%25": 1, "processInstanceBusinessKey=s-1": 1,
        "processDefinitionKey=sale": 1, f"processInstanceId={started}": 1, "sortBy=created&sortOrder=desc": 1,
    }.items():  # fmt: skip
        assert rest.get(f"/task/count?{asked}").body == {"count": number}, asked
    assert rest.post("/task/count", {"taskDefinitionKeyIn": ["check"], "unassigned": True}).body == {"count": 1}
    assert rest.get("/task?dueBefore=x").refused(400, "dueBefore is not supported")

    assert rest.post(f"/task/{id}/unclaim").status == 204
    assert rest.post(f"/task/{id}/claim", {"userId": "ada"}).status == 204
    assert rest.post(f"/task/{id}/claim", {"userId": "bob"}).refused(500, "ada")
    assert rest.get("/task/count?candidateGroup=sales").body == {"count": 0}
    assert rest.post(f"/task/{id}/assignee", {"userId": "bob"}).status == 204
    assert rest.post(f"/task/{id}/delegate", {"userId": "cy"}).status == 204
    assert rest.get(f"/task/{id}").body["delegationState"] == "PENDING"
    assert rest.post(f"/task/{id}/resolve", {"variables": {"seen": {"value": True}}}).status == 204
    assert rest.post(f"/task/{id}/unclaim", {}).status == 204
    done = rest.post(f"/task/{id}/complete", {"variables": {"ok": {"value": True}}, "withVariablesInReturn": True})
    assert done.status == 200, done
    told = {name: one["value"] for name, one in done.body.items()}
    assert (told["ok"], told["seen"]) == (True, True)
    assert rest.get(f"/task/{id}").refused(404, id)
    assert rest.post(f"/task/{id}/complete", {}).refused(500, "")
    assert rest.get(f"/history/process-instance/{started}").body["state"] == "COMPLETED"


def test_a_task_is_completed_without_an_answer(rest, worker, pay):
    id = at_check(rest, worker, pay)
    assert rest.post(f"/task/{id}/claim", {"userId": "ada"}).status == 204
    answer = rest.post(f"/task/{id}/complete", {})
    assert (answer.status, answer.body) == (204, b"")


def test_an_error_of_a_task_is_reported(rest, worker, pay, started):
    id = at_check(rest, worker, pay)
    assert rest.post(f"/task/{id}/bpmnError", {"errorCode": "E", "errorMessage": "no"}).status == 204
    assert rest.get(f"/history/process-instance/{started}").body["state"] == "INTERNALLY_TERMINATED"


def test_deploying(rest):
    form = {"deployment-name": "sales", "deployment-source": "tests", "enable-duplicate-filtering": "true"}
    made = rest.form("/deployment/create", form | {"any": xml(SALE)})
    assert made.status == 200, made
    assert made.body.keys() == names(
        "links id name source deploymentTime tenantId deployedProcessDefinitions deployedCaseDefinitions "
        "deployedDecisionDefinitions deployedDecisionRequirementsDefinitions"
    )
    (definition,) = made.body["deployedProcessDefinitions"].values()
    assert definition.keys() == DEFINITION
    assert (made.body["name"], made.body["source"]) == ("sales", "tests")
    assert rest.get("/process-definition/key/sale").body == definition
    again = rest.form("/deployment/create", form | {"any": xml(SALE)})
    assert (again.body["id"], again.body["deployedProcessDefinitions"]) == (made.body["id"], None)

    # As the Modeler asks whether it is connected.
    assert rest.get("/deployment?maxResults=0").body == []
    (deployment,) = rest.get("/deployment").body
    assert deployment.keys() == {"links", "id", "name", "source", "deploymentTime", "tenantId"}
    assert (deployment["id"], deployment["deploymentTime"]) == (made.body["id"], made.body["deploymentTime"])
    assert rest.get(f"/deployment/{deployment['id']}").body == deployment
    assert rest.get(f"/deployment/count?id={deployment['id']}").body == {"count": 1}
    assert rest.get(f"/deployment/{uuid4()}").refused(404, "does not exist")
    assert rest.get("/deployment?name=x").refused(400, "name is not supported")

    broken = rest.form("/deployment/create", {"any": xml(SALE.replace(b'targetRef="pay"', b'targetRef="x"'))})
    assert broken.refused(400, "")
    assert broken.body["type"] == "ParseException"
    (found, *_) = broken.body["details"]["sale.bpmn"]["errors"]
    assert found.keys() == {"message", "line", "column", "mainElementId", "elementIds"}
    for wrong, words in (
        ({"deployment-name": "x"}, "No deployment resources contained in the form upload."),
        ({"any": "text"}, "No file name found in the deployment resource described by form parameter 'any'."),
        ({"tenant-id": "t", "any": xml(SALE)}, "tenant-id is not supported"),
        ({"a": xml(SALE), "b": xml(ALARM)}, "two files"),
    ):
        assert rest.form("/deployment/create", wrong).refused(400, words)
    assert rest.post("/deployment/create", {}).refused(400, "multipart")


def test_incidents(rest, worker, pay, started):
    assert worker.post(f"/external-task/{pay}/failure", {"workerId": "w", "errorMessage": "no"}).status == 204
    (incident,) = rest.get("/incident").body
    assert incident.keys() == INCIDENT
    assert (incident["incidentMessage"], incident["activityId"]) == ("no", "pay")
    assert rest.get(f"/incident/{incident['id']}").body == incident
    for asked in (f"processInstanceId={started}", "activityId=pay", "incidentType=failedExternalTask",
                  "incidentMessage=no", "processDefinitionKeyIn=sale", f"configuration={pay}"):  # fmt: skip
        assert rest.get(f"/incident/count?{asked}").body == {"count": 1}, asked
    assert rest.get("/incident/count?incidentType=failedJob").body == {"count": 0}
    assert rest.get(f"/incident/{uuid4()}").refused(404, "incident")


@pytest.mark.parametrize("asked", ["firstResult=1&maxResults=1", "sortBy=businessKey&sortOrder=asc&maxResults=2"])
def test_a_page_is_a_part_of_the_list(rest, sale, asked):
    for number in range(3):
        assert rest.post("/process-definition/key/sale/start", {"businessKey": f"b-{number}"}).status == 200
    keys = [one["businessKey"] for one in rest.get(f"/process-instance?{asked}").body]
    assert keys == (["b-1"] if "firstResult" in asked else ["b-0", "b-1"])


def test_a_list_that_is_too_long_is_refused(rest, sale, monkeypatch):
    monkeypatch.setattr("bpm.api.camunda.listing.READ", 1)
    monkeypatch.setattr("bpm.api.camunda.listing.LARGEST_SIZE", 1)
    for _ in range(2):
        assert rest.post("/process-definition/key/sale/start", {}).status == 200
    assert rest.get("/process-instance?maxResults=1").status == 200
    assert rest.get("/process-instance/count").refused(400, "ask for less")
