"""Answers that are sent while they are read, however long they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

PARTS_AT_ONCE = 100


def streamed(request: HttpRequest, parts: Iterator[bytes], content_type: str) -> StreamingHttpResponse:
    """The parts as an answer: an asynchronous server would collect a plain iterator whole before it sends the first."""
    sent = in_parts(parts) if isinstance(request, ASGIRequest) else parts
    return StreamingHttpResponse(sent, content_type=content_type)


def download(request: HttpRequest, parts: Iterator[bytes], name: str) -> StreamingHttpResponse:
    """The parts as a file that the browser keeps under that name."""
    response = streamed(request, parts, "application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, name)
    response["Cache-Control"] = "private, no-store"
    return response


async def in_parts(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The parts for an asynchronous server, some at a time, read in the thread that has the request's connection."""
    read = sync_to_async(lambda: b"".join(islice(parts, PARTS_AT_ONCE)))
    while part := await read():
        yield part
