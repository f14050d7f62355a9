"""Exports for auditors: ask for one, see how far it is, fetch the file and its manifest."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Status

from bpm.api.answers import caller_of, key_of
from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.given import ExportIn
from bpm.api.schemas.told import ExportOut
from bpm.api.streaming import download
from bpm.audit.export import requests
from bpm.audit.export.masking import Masking
from bpm.audit.export.selection import NothingSuch, Selection
from bpm.audit.places import PlaceError
from bpm.store.errors import KeyConflict

router = Router()


@router.post("", response={202: ExportOut}, auth=may("audit"))
def ask(request: HttpRequest, given: ExportIn) -> Any:
    """Ask for an export: a worker carries it out. All conditions hold together; left out, one is none."""
    selection = Selection(
        definitions=tuple(given.definitions),
        instances=tuple(given.instances),
        states=tuple(given.states),
        since=given.since,
        until=given.until,
        workers=tuple(given.workers),
        users=tuple(given.users),
    )
    try:
        asked = requests.ask_export(
            selection,
            given.format,
            masking=Masking(names=frozenset(given.mask), everything=given.without_variables),
            packed=given.packed,
            actor=caller_of(request).name,
            reason=given.reason,
            key=key_of(request),
        )
    except KeyConflict as conflict:
        raise Problem("key_conflict", str(conflict)) from None
    except NothingSuch as nothing:
        raise Problem("invalid", str(nothing)) from None
    except requests.NoPlace as missing:
        raise Problem("not_set_up", str(missing)) from None
    return Status(202, asked)


@router.get("", response=list[ExportOut], auth=may("audit"))
def list_exports(request: HttpRequest, limit: int = Query(50, ge=1, le=200)) -> Any:
    """The exports that were asked for last, the newest first."""
    return requests.list_exports(limit)


@router.get("/{id}", response=ExportOut, auth=may("audit"))
def get_export(request: HttpRequest, id: UUID) -> Any:
    """One export: how far it is; when it is done, its manifest."""
    return found_export(id)


@router.get("/{id}/file", auth=may("audit"))
def get_file(request: HttpRequest, id: UUID) -> StreamingHttpResponse:
    """The file of an export that is done."""
    export = found_export(id)
    if export.state != "DONE":
        raise Problem("wrong_state", f"the export is {export.state}")
    try:
        return download(request, requests.read_file(export), export.name)
    except (OSError, PlaceError, requests.NoPlace) as missing:
        raise Problem("not_found", f"the file is not where it was written: {missing}") from None


def found_export(id: UUID) -> requests.Request:
    """The request. Raises Problem."""
    try:
        return requests.get_export(id)
    except KeyError:
        raise Problem("not_found", f"there is no export {id}") from None
