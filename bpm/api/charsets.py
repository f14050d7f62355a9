"""The charset that a request names. Python has codecs under such names that make no text of bytes ("hex", "rot13"):
Django takes them, and fails where it reads the first field. They are as unknown as any other word.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


def as_text(request: HttpRequest) -> None:
    """Let the request be read in its charset, or as UTF-8 where that is none of texts."""
    named = request.encoding
    if named is None:
        return
    try:
        b"x".decode(named, "replace")
    except (LookupError, ValueError):
        request.encoding = "utf-8"


def charsets(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """The same as a middleware, for forms."""

    def middleware(request: HttpRequest) -> HttpResponse:
        as_text(request)
        return get_response(request)

    return middleware
