"""JSON in and out with exact numbers: 0.1 is 0.1, and 12.50 stays a decimal."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.parser import Parser
from ninja.renderers import BaseRenderer

from bpm.api.problems import Problem
from bpm.engine.errors import InvalidVariables
from bpm.engine.variables import loads
from bpm.store import values

# The largest body. Setting: BPM_API_BODY_LIMIT. Variables have a smaller limit of their own (BPM_VARIABLES_LIMIT).
BODY_LIMIT = 25 * 1024 * 1024


def body_limit() -> int:
    """The largest body that is taken, in bytes."""
    return int(getattr(settings, "BPM_API_BODY_LIMIT", BODY_LIMIT))


def check_size(request: HttpRequest) -> None:
    """Refuse a body that says it is too large, before it is read. Raises Problem."""
    try:
        length = int(request.headers.get("Content-Length") or 0)
    except ValueError:
        raise Problem("bad_request", "Content-Length is no number") from None
    _bounded(length)


def _bounded(length: int) -> None:
    if length > (limit := body_limit()):
        raise Problem("too_large", f"the body has {length} bytes, {limit} are taken")


class ExactParser(Parser):
    """Reads a body as JSON."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The value. Raises Problem for what is no JSON."""
        check_size(request)
        # One that came in pieces has said nothing.
        _bounded(len(request.body))
        try:
            return loads(request.body)
        except InvalidVariables as problem:
            raise Problem("bad_request", problem.message) from None


class ExactRenderer(BaseRenderer):
    """Writes an answer as JSON."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> str:
        """The text."""
        return values.dumps(data)
