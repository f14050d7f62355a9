"""A trace as a stream of lines, from an asynchronous server."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.test import AsyncRequestFactory

from bpm import engine
from bpm.api import streaming, traces


def test_lines_leave_before_all_are_read():
    drawn: list[int] = []

    def endless() -> Any:
        for number in count():
            drawn.append(number)
            yield b"%d\n" % number

    async def two_parts() -> bytes:
        parts = streaming.in_parts(endless())
        return await anext(parts) + await anext(parts)

    assert asyncio.run(two_parts()).count(b"\n") == len(drawn) == 2 * streaming.PARTS_AT_ONCE


def test_an_asynchronous_server_gets_the_lines_in_parts_and_another_the_same_lines(operator, order):
    id = engine.start(order, actor="shop").thread_id
    plain = operator.get(f"/instances/{id}/trace", Accept=traces.LINES).body
    request = AsyncRequestFactory().get(f"/api/instances/{id}/trace", headers={"Accept": traces.LINES})

    response = traces.get_trace(request, id, type=[], order="asc")

    assert isinstance(request, ASGIRequest)
    assert response.is_async
    assert plain.count(b"\n") > 1
