"""Messages that reach somebody now, and signals."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from bpm.api.answers import caller_of, key_of
from bpm.api.camunda import told
from bpm.api.camunda.authentication import may
from bpm.api.camunda.definitions import variables_of
from bpm.api.camunda.given import MessageIn, SignalIn
from bpm.api.problems import Problem
from bpm.engine import messages
from bpm.engine.errors import NotFound
from bpm.queries import instances
from bpm.store.records import CommitRecord

router = Router()


@router.post("/message", response={200: list[dict[str, Any]], 204: None}, auth=may("operate"))
def correlate(request: HttpRequest, given: MessageIn) -> Any:
    """Bring a message to who waits for it, or start the process that begins with it."""
    try:
        record = messages.correlate(
            given.message_name,
            actor=caller_of(request).name,
            business_key=given.business_key,
            correlation=given.correlation_keys,
            variables=given.process_variables,
            instance=given.process_instance_id,
            key=key_of(request),
        )
    except NotFound:
        raise Problem(
            "no_match",
            "org.camunda.bpm.engine.MismatchingMessageCorrelationException: Cannot correlate message"
            f" '{given.message_name}': No process definition or execution matches the parameters",
        ) from None
    if not given.result_enabled:
        return Status(204, None)
    result = _result(request, record)
    if given.variables_in_result_enabled:
        result["variables"] = variables_of(record.thread_id)
    return Status(200, [result])


@router.post("/signal", response={204: None}, auth=may("operate"))
def throw_signal(request: HttpRequest, given: SignalIn) -> Any:
    """Throw a signal to all who wait for it now and to every process that starts with it."""
    messages.throw_signal(given.name, actor=caller_of(request).name, variables=given.variables, key=key_of(request))
    return Status(204, None)


def _result(request: HttpRequest, record: CommitRecord) -> dict[str, Any]:
    if record.command == "StartInstance":
        row = instances.get_instance(record.thread_id)
        started = None if row is None else told.instance(request, row)
        return {"resultType": "ProcessDefinition", "execution": None, "processInstance": started}
    id = record.thread_id
    execution = {"id": id, "processInstanceId": id, "ended": False, "tenantId": None}
    return {"resultType": "Execution", "execution": execution, "processInstance": None}
