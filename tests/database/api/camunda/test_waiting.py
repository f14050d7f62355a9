"""Long polling: it finds what comes, holds no connection, has an end, and locks nothing for who is gone."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from asgiref.sync import sync_to_async
from django.core.asgi import get_asgi_application
from django.db import connection

from bpm import engine
from bpm.api.camunda import waiting
from config.requests import InOneThread
from tests.conftest import wait_for
from tests.database.api.camunda.conftest import Rest
from tests.database.api.camunda.test_workers import fetched

POLL = fetched("pay") | {"asyncResponseTimeout": 20_000}
SOON = 5.0


def test_what_comes_while_it_waits_is_found(worker, sale, monkeypatch):
    held = []

    def come() -> None:
        held.append(connection.connection)
        engine.start("sale", actor="tests")

    async def pause(seconds: float) -> None:
        await sync_to_async(come)()

    monkeypatch.setattr(waiting, "_pause", pause)
    (task,) = worker.post("/external-task/fetchAndLock", POLL).body
    assert task["topicName"] == "pay"
    assert held == [None], "a connection is held while a request waits"


def test_it_ends_when_its_time_is_over(worker, sale):
    began = time.monotonic()
    answer = worker.post("/external-task/fetchAndLock", fetched("pay") | {"asyncResponseTimeout": 150})
    assert (answer.status, answer.body) == (200, [])
    assert 0.15 <= time.monotonic() - began < SOON


def test_it_waits_no_longer_than_the_server_lets_it(worker, sale, monkeypatch):
    monkeypatch.setattr(waiting, "LONGEST", 0.1)
    began = time.monotonic()
    assert worker.post("/external-task/fetchAndLock", fetched("pay") | {"asyncResponseTimeout": 1_800_000}).body == []
    assert time.monotonic() - began < SOON


def test_the_more_wait_the_longer_are_the_pauses(worker, sale, monkeypatch):
    pauses = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 6:
            raise asyncio.CancelledError

    monkeypatch.setattr(waiting, "_pause", pause)
    assert worker.post("/external-task/fetchAndLock", POLL).body == []
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    pauses.clear()
    monkeypatch.setattr(waiting, "_waiting", set(range(10 * waiting.ASKED - 1)))
    assert worker.post("/external-task/fetchAndLock", POLL).body == []
    assert pauses[0] == 10.0, "all of them together ask too often"


def test_who_is_done_waiting_counts_no_more(worker, sale, monkeypatch):
    async def pause(seconds: float) -> None:
        assert len(waiting._waiting) == 1
        raise RuntimeError("the machine is on fire")

    monkeypatch.setattr(waiting, "_pause", pause)
    assert worker.post("/external-task/fetchAndLock", POLL).refused(500, "its log says why")
    assert waiting._waiting == set()


class Impatient:
    """A client that asks, and hangs up once so many have waited at a time; `enough` is the same for all of them."""

    def __init__(self, rest: Rest, many: int, enough: asyncio.Event) -> None:
        self.many = many
        self.enough = enough
        self.asked = False
        headers = {"Host": "localhost", "Content-Type": "application/json", **rest.headers}
        self.scope = {
            "type": "http", "method": "POST", "path": "/engine-rest/external-task/fetchAndLock", "query_string": b"",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip

    async def receive(self) -> dict:
        if self.asked:
            while not self.enough.is_set():
                if len(waiting._waiting) >= self.many:
                    self.enough.set()
                await asyncio.sleep(0.02)
            return {"type": "http.disconnect"}
        self.asked = True
        return {"type": "http.request", "body": json.dumps(POLL).encode(), "more_body": False}

    async def send(self, message: dict) -> None:
        assert message.get("body", b"[]") == b"[]", "it was given something"


@pytest.mark.parametrize("server", [InOneThread, get_asgi_application], ids=["the site's", "Django's"])
def test_who_hangs_up_gets_nothing_and_leaves_nothing_behind(worker, rest, sale, server):
    async def ask() -> None:
        application = server()
        enough = asyncio.Event()
        asking = (Impatient(worker, 3, enough) for _ in range(3))
        await asyncio.gather(*(application(one.scope, one.receive, one.send) for one in asking))

    threads = threading.active_count()
    began = time.monotonic()
    asyncio.run(ask())
    assert time.monotonic() - began < SOON, "a request that nobody waits for goes on"
    wait_for(lambda: threading.active_count() <= threads, SOON)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert cursor.fetchone()[0] == 0, "a connection is held by nobody"
    engine.start("sale", actor="tests")
    assert rest.get("/external-task/count?notLocked=true").body == {"count": 1}
