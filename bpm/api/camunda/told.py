"""What comes out: the frozen rows of `bpm.queries` by Camunda's names. What there is none of here is null."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import get_script_prefix

from bpm.api.typed import camunda_date, told
from bpm.engine import LockedTask
from bpm.queries import rows

type Told = dict[str, Any]

ROOT = "engine-rest"
# Of an instance: our state -> Camunda's.
STATES = {
    "RUNNING": "ACTIVE",
    "SUSPENDED": "SUSPENDED",
    "COMPLETED": "COMPLETED",
    "FAILED": "INTERNALLY_TERMINATED",
    "CANCELLED": "EXTERNALLY_TERMINATED",
}


def date(moment: datetime | None) -> str | None:
    """With milliseconds and a numeric zone."""
    return None if moment is None else camunda_date(moment)


def variables(values: Mapping[str, Any]) -> Told:
    """Variables as typed values."""
    return {name: told(value) for name, value in values.items()}


def links(request: HttpRequest, *path: object) -> list[Told]:
    """Where the thing itself is."""
    href = "/".join([get_script_prefix() + ROOT, *map(str, path)])
    return [{"method": "GET", "href": request.build_absolute_uri(href), "rel": "self"}]


def definition(row: rows.Definition) -> Told:
    return {
        "id": row.id,
        "key": row.key,
        "category": None,
        "description": None,
        "name": row.name or None,
        "version": row.version,
        "resource": row.resource,
        "deploymentId": row.deployment_id,
        "diagram": None,
        "suspended": row.suspended,
        "tenantId": None,
        "versionTag": row.version_tag,
        "historyTimeToLive": None,
        "startableInTasklist": True,
    }


def instance(request: HttpRequest, row: rows.Instance) -> Told:
    return {
        "links": links(request, "process-instance", row.id),
        "id": row.id,
        "definitionId": row.definition_id,
        "definitionKey": row.definition_key,
        "businessKey": row.business_key,
        "caseInstanceId": None,
        "ended": not row.is_open,
        "suspended": row.state == "SUSPENDED",
        "tenantId": None,
    }


def past_instance(row: rows.Instance) -> Told:
    took = None if row.ended_at is None else round((row.ended_at - row.started_at).total_seconds() * 1000)
    return {
        "id": row.id,
        "businessKey": row.business_key,
        "processDefinitionId": row.definition_id,
        "processDefinitionKey": row.definition_key,
        "processDefinitionName": row.definition_name or None,
        "processDefinitionVersion": row.definition_version,
        "startTime": date(row.started_at),
        "endTime": date(row.ended_at),
        "removalTime": None,
        "durationInMillis": took,
        "startUserId": row.started_by,
        "startActivityId": None,
        "deleteReason": None,
        "rootProcessInstanceId": None,
        "superProcessInstanceId": row.parent_instance_id,
        "superCaseInstanceId": None,
        "caseInstanceId": None,
        "tenantId": None,
        "state": STATES[row.state],
        "restartedProcessInstanceId": None,
    }


def locked_task(task: LockedTask, properties: Mapping[str, str]) -> Told:
    """A task that was just locked, with its variables."""
    shared = _task(task, task.definition_id) | {"workerId": task.worker}
    return shared | {
        "suspended": False,
        "errorDetails": None,
        "lockExpirationTime": date(task.lock_expire_at),
        "variables": variables(task.variables),
        "extensionProperties": dict(properties),
    }


def external_task(row: rows.ExternalTask, definition: UUID | None) -> Told:
    shared = _task(row, definition) | {"workerId": row.worker}
    return shared | {"lockExpirationTime": date(row.locked_until or row.retry_at)}


def _task(task: LockedTask | rows.ExternalTask, definition: UUID | None) -> Told:
    return {
        "id": task.id,
        "activityId": task.node_id,
        "activityInstanceId": None,
        "errorMessage": None,
        # The instance has the id of its root execution, as in Camunda.
        "executionId": task.instance_id,
        "processDefinitionId": definition,
        "processDefinitionKey": task.definition_key,
        "processDefinitionVersionTag": None,
        "processInstanceId": task.instance_id,
        "tenantId": None,
        "retries": task.retries,
        "suspended": None,
        "topicName": task.topic,
        "priority": task.priority,
        "businessKey": task.business_key,
        "createTime": date(task.created_at),
    }


def task(row: rows.UserTask, definition: UUID | None) -> Told:
    return {
        "id": row.id,
        "name": row.node_name or None,
        "assignee": row.assignee,
        "owner": row.owner,
        "created": date(row.created_at),
        "lastUpdated": None,
        "due": _due(row.due),
        "followUp": _due(row.follow_up),
        "delegationState": row.delegation,
        "description": None,
        "executionId": row.instance_id,
        "parentTaskId": None,
        "priority": row.priority,
        "processDefinitionId": definition,
        "processInstanceId": row.instance_id,
        "caseExecutionId": None,
        "caseDefinitionId": None,
        "caseInstanceId": None,
        "taskDefinitionKey": row.node_id,
        "suspended": None,
        "formKey": row.form_key,
        "camundaFormRef": None,
        "tenantId": None,
        "taskState": "Created",
    }


def incident(row: rows.Incident) -> Told:
    return {
        "id": row.id,
        "processDefinitionId": row.definition_id,
        "processInstanceId": row.instance_id,
        "executionId": row.instance_id,
        "incidentTimestamp": date(row.created_at),
        "incidentType": incident_type(row),
        "activityId": row.node_id,
        "failedActivityId": row.node_id,
        "causeIncidentId": row.id,
        "rootCauseIncidentId": row.id,
        "configuration": row.task_id,
        "tenantId": None,
        "incidentMessage": row.message,
        "jobDefinitionId": None,
        "annotation": None,
    }


def incident_type(row: rows.Incident) -> str:
    """Camunda has two kinds: what its workers gave up, and what its own jobs did."""
    return "failedJob" if row.task_id is None else "failedExternalTask"


def _due(text: str | None) -> str | None:
    """A due date as the model gives it: where it is a moment, in Camunda's form."""
    try:
        return None if text is None else camunda_date(datetime.fromisoformat(text))
    except ValueError:
        return text
