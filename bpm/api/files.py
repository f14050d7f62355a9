"""Contents of files by themselves: kept before a variable refers to them, read by their hash from history."""

from __future__ import annotations

import re
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from ninja import Path, Query, Router, Status

from bpm.api.authentication import may
from bpm.api.exact import check_size
from bpm.api.problems import Problem
from bpm.engine import File, keep_file
from bpm.store import files

router = Router()

BODY: dict[str, Any] = {"requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}}
Filename = Annotated[str, Query(min_length=1, max_length=255)]


@router.post("", response={201: dict[str, Any]}, auth=may("work", "operate"), openapi_extra=BODY)
def post_file(request: HttpRequest, filename: Filename) -> Any:
    """Keep a file: the body is its content, `Content-Type` its media type. The answer is the value of a variable that
    refers to it, for any request that takes variables.
    """
    return Status(201, kept(request, filename))


@router.get("/{sha256}", auth=may("audit"))
def get_content(request: HttpRequest, sha256: Annotated[str, Path(max_length=64)]) -> Any:
    """The content that history refers to by this hash, when the instance's variables are long swept away."""
    content = files.content(sha256) if re.fullmatch("[0-9a-f]{64}", sha256) else None
    if content is None:
        raise Problem("not_found", "no content of that hash was kept here")
    return saved(File(name=sha256, media_type="application/octet-stream", sha256=sha256, content=content))


def kept(request: HttpRequest, filename: str) -> dict[str, Any]:
    """The body, kept; the value of a variable that refers to it. Raises Problem, InvalidVariables."""
    check_size(request)
    media_type = (request.content_type or "application/octet-stream").lower()
    return keep_file(request.body, name=filename, media_type=media_type)


def saved(file: File) -> HttpResponse:
    """The file, to be saved: a browser neither shows nor runs it."""
    response = HttpResponse(file.content, content_type=file.media_type)
    response["Content-Disposition"] = content_disposition_header(True, file.name)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cache-Control"] = "private, no-cache"
    response["ETag"] = f'"{file.sha256}"'
    return response
