"""Bodies that are too large are refused while they come, whoever sends them, whatever they say of their length."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.core.asgi import get_asgi_application

from config import bodies

MEGABYTE = 1024 * 1024


class Endless:
    """A client whose body never ends; `sent` is how much of it was asked for."""

    def __init__(self, more: bool = True, piece: bytes = b"x" * MEGABYTE) -> None:
        self.more = more
        self.piece = piece
        self.sent = 0
        self.told: list[dict] = []

    async def receive(self) -> dict:
        if not self.more and self.sent:
            await asyncio.sleep(60)  # it waits for the answer
        self.sent += len(self.piece)
        return {"type": "http.request", "body": self.piece, "more_body": self.more}

    async def send(self, message: dict) -> None:
        self.told.append(message)

    @property
    def status(self) -> int:
        return self.told[0]["status"]


def ask(client: Endless, path: str, *headers: tuple[bytes, bytes]) -> Endless:
    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json"), *headers],
    }  # fmt: skip
    asyncio.run(bodies.bounded(get_asgi_application())(scope, client.receive, client.send))
    return client


@pytest.mark.parametrize("path", ["/api/instances", "/cockpit/", "/healthz"])
def test_a_body_without_an_end_is_refused(path):
    client = ask(Endless(), path)
    assert client.status == 413
    assert client.sent <= bodies.most() + MEGABYTE
    assert (b"connection", b"close") in client.told[0]["headers"]
    assert json.loads(client.told[1]["body"])["code"] == "too_large"


def test_one_that_says_so_is_refused_before_any_of_it_is_taken(settings):
    settings.BPM_API_BODY_LIMIT = 40 * MEGABYTE
    client = ask(Endless(), "/api/instances", (b"content-length", b"%d" % (40 * MEGABYTE + 1)))
    assert (client.status, client.sent) == (413, 0)


def test_any_other_is_the_applications(settings):
    settings.BPM_API_BODY_LIMIT = 10
    said = {ask(Endless(more=False, piece=b"x" * size), "/healthz").status for size in (1, MEGABYTE)}
    assert said.isdisjoint({413, 500})
