"""Variables of an instance as typed values, and the contents of those that are files."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from bpm.api.answers import caller_of, key_of
from bpm.api.camunda.authentication import may
from bpm.api.camunda.definitions import variables_of
from bpm.api.camunda.given import VariablesIn, id_of
from bpm.api.camunda.instances import open_instance
from bpm.api.exact import ExactParser
from bpm.api.files import saved
from bpm.api.problems import Problem
from bpm.api.typed import taken
from bpm.api.typed import told as typed
from bpm.engine import operators, read_file
from bpm.expressions.typed import as_file
from bpm.queries.variables import variable

router = Router()
# An execution here is the instance: its root execution has its id, and the JavaScript client asks for files so.
executions = Router()


@router.get("/{id}/variables", auth=may("view"))
def get_variables(request: HttpRequest, id: str) -> Any:
    """The variables of the process by name."""
    return variables_of(open_instance(id).id)


@router.post("/{id}/variables", response={204: None}, auth=may("operate"))
def modify_variables(request: HttpRequest, id: str, given: VariablesIn) -> Any:
    """Set some and take some away, in one step."""
    return _set(request, id, given.modifications, given.deletions)


@router.get("/{id}/variables/{name}", auth=may("view"))
def get_variable(request: HttpRequest, id: str, name: str) -> Any:
    """One variable."""
    return typed(_value(id, name))


@router.put("/{id}/variables/{name}", response={204: None}, auth=may("operate"))
def put_variable(request: HttpRequest, id: str, name: str) -> Any:
    """Set it."""
    return _set(request, id, {name: taken(name, ExactParser().parse_body(request))})


@router.delete("/{id}/variables/{name}", response={204: None}, auth=may("operate"))
def delete_variable(request: HttpRequest, id: str, name: str) -> Any:
    """Take it away; its history stays."""
    return _set(request, id, deletions=[name])


@router.get("/{id}/variables/{name}/data", auth=may("view", "work"))
def get_data(request: HttpRequest, id: str, name: str) -> HttpResponse:
    """The content of a file."""
    return _content(id, name)


@executions.get("/{id}/localVariables/{name}/data", auth=may("view", "work"))
def get_local_data(request: HttpRequest, id: str, name: str) -> HttpResponse:
    """The same, by the id of an execution."""
    return _content(id, name)


def _set(request: HttpRequest, id: str, values: dict[str, Any] | None = None, deletions: Any = ()) -> Any:
    open_instance(id)
    operators.set_variables(id, values, unset=deletions, actor=caller_of(request).name, key=key_of(request))
    return Status(204, None)


def _content(id: str, name: str) -> HttpResponse:
    value = _value(id, name)
    if as_file(value) is None:
        raise Problem("invalid", f"Value of variable {name[:80]} is not a binary value.")
    return saved(read_file(value))


def _value(id: str, name: str) -> Any:
    """Problem where there is no such variable."""
    instance: UUID = id_of(id, "Process instance")
    found = variable(instance, name)
    if found is None:
        raise Problem("not_found", f"process instance variable with name {name[:80]} does not exist")
    return found.value
