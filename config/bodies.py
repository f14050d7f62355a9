"""Bodies of requests, before Django has them: one that is too large is refused while it comes.

Django's ASGI handler takes in the whole body, on disk where it is large, before any view is asked; and a body that
comes in pieces says nowhere how large it will be. So anybody could fill the disk.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings

from bpm.api import exact, problems
from bpm.engine import files

type Message = Mapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

# Beside a form's file: its other fields.
FIELDS = 1024 * 1024


def most() -> int:
    """The largest body that anything here takes, in bytes; the API and forms have limits of their own below it."""
    return max(exact.body_limit(), files.size_limit() + FIELDS, settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)


def bounded(application: Application) -> Application:
    """The ASGI application behind a limit: to a larger body the answer is 413, and the connection ends."""

    async def within(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        limit, came = most(), 0

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            # To the application the client hangs up, so that it lets go of what it has.
            return message if came <= limit else {"type": "http.disconnect"}

        if scope["type"] != "http":
            await application(scope, receive, send)
        elif _declared(scope) > limit:
            await _refuse(scope, send)
        else:
            await application(scope, counted, send)
            if came > limit:
                await _refuse(scope, send)

    return within


def _declared(scope: Message) -> int:
    """How large the body says that it is, or more than anything that has 20 digits; what is no number is for the
    application to judge.
    """
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return max((int(length.lstrip(b"0")[:20] or b"0") for length in lengths if length.isdigit()), default=0)


async def _refuse(scope: Message, send: Send) -> None:
    code = "too_large"
    status, title = problems.PROBLEMS[code]
    said = {
        "type": problems.TYPE + code, "title": title, "status": status, "code": code,
        "detail": f"the server takes {most()} bytes", "instance": scope["path"].replace("\x00", "\ufffd"),
    }  # fmt: skip
    headers = [(b"content-type", problems.MEDIA_TYPE.encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(said).encode()})
