"""Shapes that several resources share: a commit as an answer, the idempotency key of a request."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse

from bpm.api.authentication import Caller
from bpm.api.problems import Problem
from bpm.store.records import CommitRecord


def commit(record: CommitRecord) -> dict[str, Any]:
    """A commit for CommitOut."""
    return {
        "sequence": record.sequence,
        "instance_id": record.thread_id,
        "version": record.version,
        "at": record.at,
        "command": record.command,
        "repeated": record.repeated,
    }


def model_file(source: str | None, name: str) -> HttpResponse:
    """The XML of a deployed model. Problem where there is none."""
    if source is None:
        raise Problem("not_found", f"there is no definition {name.partition('.')[0]}")
    response = HttpResponse(source, content_type="application/xml; charset=utf-8")
    # A model is somebody else's document: never shown as a page of this site.
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def known(words: Sequence[str], vocabulary: Collection[str], what: str) -> Sequence[str]:
    """The words, each of which the vocabulary has. Problem for another: its list would be empty and not say why."""
    for word in words:
        if word not in vocabulary:
            raise Problem("invalid", f"query.{what}: {word[:60]!r} is none of {', '.join(sorted(vocabulary))}")
    return words


def key_of(request: HttpRequest) -> str | None:
    """The header Idempotency-Key, if there is one."""
    return request.headers.get("Idempotency-Key") or None


def caller_of(request: HttpRequest) -> Caller:
    """Who authentication found."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    return caller
