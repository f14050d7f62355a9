"""People who log in, the example processes, and a Chromium that fails the test when a page complains."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from playwright.sync_api import ConsoleMessage, Page, sync_playwright

from bpm import engine
from bpm.store import access

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MODELS = ("orders/order.bpmn", "invoice/clarification.bpmn", "invoice/approver.dmn", "invoice/invoice.bpmn")
PASSWORD = "a long password"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = "timeout: the payment gateway did not answer"


@pytest.fixture
def account(transactional_db) -> Callable[[str, str], User]:
    """Makes an account with a role."""

    def make(name: str, group: str) -> User:
        access.fill_groups()
        user = User.objects.create_user(name, password=PASSWORD)
        user.groups.add(Group.objects.get(name=group))
        return user

    return make


@pytest.fixture
def as_operator(account) -> Client:
    client = Client()
    client.force_login(account("olga", "operators"))
    return client


@pytest.fixture
def as_auditor(account) -> Client:
    client = Client()
    client.force_login(account("axel", "auditors"))
    return client


@pytest.fixture
def models(transactional_db) -> None:
    """The examples are deployed."""
    engine.deploy({name: (EXAMPLES / name).read_bytes() for name in MODELS}, actor="tests")


@pytest.fixture
def failed_order(models) -> UUID:
    """An order whose card could not be charged: no retries left, and the gateway works again from now on."""
    id = engine.start("order", {"quantity": 1, "card": "unreachable"}, business_key="A-1042", actor="shop").thread_id
    (task,) = engine.fetch_and_lock(["orders.check-stock"], worker="worker-1")
    engine.complete_task(task.id, worker="worker-1", variables={"in_stock": True})
    (task,) = engine.fetch_and_lock(["payments.charge"], worker="worker-2")
    engine.fail_task(
        task.id, worker="worker-2", message=TIMEOUT, details="at line 47", retries=0, variables={"payment_attempts": 3}
    )
    return id


@pytest.fixture
def page(live_server, monkeypatch) -> Iterator[Page]:
    """A tab of the system's Chromium; in the end there must have been no error in its console."""
    # Playwright's loop runs in the test's own thread, where the ORM is used, too. Each test has a Chromium of its own,
    # so that the loop ends with the test.
    monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    found = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        # Chromium's sandbox refuses to work for root.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(error.stack or str(error)))
        page.set_default_timeout(15_000)
        yield page
        browser.close()
        # While a loop runs in this thread, Django gives it a connection of its own: nobody else would close it.
        connection.close()
    assert complaints == []


@pytest.fixture
def log_in(page: Page, live_server, account) -> Callable[..., None]:
    """Logs in through the form."""

    def enter(name: str = "olga", group: str = "operators") -> None:
        account(name, group)
        page.goto(f"{live_server.url}/cockpit/")
        page.fill("#id_username", name)
        page.fill("#id_password", PASSWORD)
        page.click("#login-form button[type=submit]")
        page.wait_for_url(f"{live_server.url}/cockpit/")

    return enter
