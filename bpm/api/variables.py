"""Variables of an instance: read, written, unset, and the files that they refer to."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Path, Query, Router

from bpm.api.answers import caller_of, commit, key_of
from bpm.api.authentication import may
from bpm.api.files import BODY, Filename, kept, saved
from bpm.api.problems import Problem
from bpm.api.schemas.given import VariablesIn
from bpm.api.schemas.told import CommitOut
from bpm.api.typed import told
from bpm.engine import operators, read_file
from bpm.queries import instances, variables
from bpm.queries.rows import Variable

router = Router()

Name = Annotated[str, Path(min_length=1, max_length=255)]
Scope = Annotated[int, Query(ge=0, le=2**63 - 1, description="0: the process; another: one visit of an activity")]
Typed = Annotated[bool, Query(description="Camunda's typed values: {value, type, valueInfo}")]


@router.get("/{id}/variables", auth=may("view"))
def get_variables(request: HttpRequest, id: UUID, typed: Typed = False, token_id: UUID | None = None) -> Any:
    """The variables of the process by name; with `token_id`, those that this token sees."""
    _found(id)
    if token_id is None:
        found = {variable.name: variable.value for variable in instances.variables_of(id) if variable.scope == 0}
    else:
        seen = variables.variables_seen(id, token_id)
        if seen is None:
            raise Problem("not_found", f"the instance {id} has no token {token_id}")
        found = {variable.name: variable.value for variable in seen}
    return {name: told(value) for name, value in found.items()} if typed else found


@router.patch("/{id}/variables", response=CommitOut, auth=may("operate"))
def set_variables(request: HttpRequest, id: UUID, given: VariablesIn) -> Any:
    """Set and unset variables; the others stay as they are."""
    record = operators.set_variables(
        id,
        given.variables,
        unset=given.unset,
        token=given.token_id,
        local=given.local,
        actor=caller_of(request).name,
        reason=given.reason,
        key=key_of(request),
    )
    return commit(record)


@router.get("/{id}/variables/{name}", auth=may("view"))
def get_variable(request: HttpRequest, id: UUID, name: Name, typed: Typed = False, scope: Scope = 0) -> Any:
    """One variable: its value."""
    value = _variable(id, name, scope).value
    return told(value) if typed else value


@router.delete("/{id}/variables/{name}", response=CommitOut, auth=may("operate"))
def unset_variable(request: HttpRequest, id: UUID, name: Name) -> Any:
    """Take a variable of the process away; its history stays. There is none: 404, unless a key was sent, which may be
    that of the request which took it away.
    """
    actor, key = caller_of(request).name, key_of(request)
    if key is None:
        _variable(id, name, 0)
    return commit(operators.set_variables(id, unset=[name], actor=actor, key=key))


@router.put(
    "/{id}/variables/{name}/file",
    response=CommitOut,
    auth=may("operate"),
    openapi_extra=BODY,
)
def put_file(request: HttpRequest, id: UUID, name: Name, filename: Filename) -> Any:
    """Set a variable of the process to a file: the body is its content, `Content-Type` its media type."""
    file = kept(request, filename)
    actor = caller_of(request).name
    return commit(operators.set_variables(id, {name: file}, actor=actor, key=key_of(request)))


@router.get("/{id}/variables/{name}/file", auth=may("view", "work"), url_name="variable-file")
def get_file(request: HttpRequest, id: UUID, name: Name, scope: Scope = 0) -> Any:
    """The content of a variable that is a file: to be saved, never to be shown or run in the browser."""
    return saved(read_file(_variable(id, name, scope).value))


def _found(id: UUID) -> None:
    if instances.get_instance(id) is None:
        raise Problem("not_found", f"there is no instance {id}")


def _variable(id: UUID, name: str, scope: int) -> Variable:
    found = variables.variable(id, name, scope)
    if found is None:
        _found(id)
        raise Problem("not_found", f"the instance {id} has no variable {name[:80]!r}")
    return found
