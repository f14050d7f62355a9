"""examples/shop as its owner runs it: the wheel installed in an environment of its own, web and worker as processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config.postgres import Postgres
from config.processes import Process, Warden
from config.valkey import Valkey, free_port
from tests.conftest import wait_for
from tests.system.installed import ROOT, build_wheel, make_environment

PATIENCE = 40.0
# What each kind of file is for, and one that must be there.
SHIPPED = {
    "code": "bpm/engine/step.py",
    "statements": "bpm/store/sql/step.sql",
    "migrations": "bpm/migrations/0001_tables.py",
    "SQL of migrations": "bpm/migrations/sql/flush.sql",
    "commands": "bpm/management/commands/bpm.py",
    "worker library": "bpm/sdk/worker.py",
    "pages": "cockpit/templates/cockpit/instance.html",
    "styles": "cockpit/static/cockpit/cockpit.css",
    "diagrams": "cockpit/static/vendor/bpmn-js/bpmn-navigated-viewer.production.min.js",
    "licence of the diagrams": "cockpit/static/vendor/bpmn-js/LICENSE",
    "translations of the engine": "bpm/locale/zh_Hans/LC_MESSAGES/django.mo",
    "translations of the cockpit": "cockpit/locale/zh_Hans/LC_MESSAGES/django.mo",
}


@dataclass
class Shop:
    """The running shop: its commands, its pages, its database."""

    folder: Path
    programs: Path
    environment: dict[str, str]
    database: str
    address: str = ""
    cookies: CookieJar = field(default_factory=CookieJar)

    def manage(self, *arguments: str, fails: bool = False) -> str:
        """Run manage.py; its standard output, or when it `fails` its complaint."""
        command = [str(self.programs / "python"), "manage.py", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return (done.stderr if fails else done.stdout).strip()

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(statement, values).fetchall()

    def open(self, path: str, form: dict[str, Any] | None = None) -> tuple[int, str, str]:
        """Status, final address and text of a page; a form is posted as a browser does."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        token = next((cookie.value for cookie in self.cookies if cookie.name == "csrftoken"), "")
        data = None if form is None else urllib.parse.urlencode({"csrfmiddlewaretoken": token, **form}).encode()
        try:
            with opener.open(self.address + path, data, timeout=20) as answer:
                return answer.status, answer.url, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.url, error.read().decode()

    def state(self, reference: str) -> str:
        """Where the instance of an order stands."""
        statement = "SELECT state FROM process_instances WHERE business_key = %s"
        return str(self.ask(statement, reference)[0][0])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory, postgres: Postgres, valkey: Valkey) -> Shop:
    """The shop with its database made and its process deployed; nothing runs yet."""
    home = tmp_path_factory.mktemp("shop")
    programs = make_environment(home / "venv", wheel, "dj-database-url")
    folder = home / "project"
    shutil.copytree(ROOT / "examples" / "shop", folder, ignore=shutil.ignore_patterns("__pycache__"))
    postgres.create_database("shop")
    # Nothing of the tests' own settings: an environment as a user has it.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    environment = {
        **kept,
        "DATABASE_URL": postgres.url("shop"),
        "REDIS_URL": f"{valkey.url.rsplit('/', 1)[0]}/7",
        "PYTHONUNBUFFERED": "1",
    }
    shop = Shop(folder, programs, environment, postgres.url("shop"))
    shop.manage("migrate", "-v0")
    assert shop.manage("bpm", "deploy", "orders/processes") == "delivery version 1: deployed"
    return shop


@pytest.fixture(scope="module")
def shop(installed: Shop, warden: Warden, tmp_path_factory) -> Iterator[Shop]:
    """The web server and a Celery worker run."""
    logs = tmp_path_factory.mktemp("logs")
    port = free_port(8300)
    installed.address = f"http://127.0.0.1:{port}"
    python = str(installed.programs / "python")
    commands = {
        "web": [python, "manage.py", "runserver", "--noreload", f"127.0.0.1:{port}"],
        "worker": [python, "-m", "celery", "-A", "shop", "worker", "--loglevel=INFO", "--concurrency=1"],
    }
    processes = [
        Process(name, command, logs / f"{name}.log", warden, env=installed.environment, folder=installed.folder)
        for name, command in commands.items()
    ]
    web, worker = processes
    try:
        for process in processes:
            process.start()
        wait_for(lambda: answers(installed), PATIENCE, web.last_words)
        wait_for(lambda: "ready." in worker.last_words(50), PATIENCE, worker.last_words)
        yield installed
    finally:
        for process in processes:
            process.stop()


def answers(shop: Shop) -> bool:
    try:
        return shop.open("/healthz")[0] == 200
    except OSError:
        return False


def test_the_wheel_ships_what_runs_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {what: name for what, name in SHIPPED.items() if name not in names} == {}
    folders = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert folders == {"bpm", "cockpit"}
    assert [name for name in names if re.search(r"(^|/)(tests?|examples|config)/", name)] == []


def test_the_installed_package_is_the_one_that_runs(installed):
    where = subprocess.run(
        [installed.programs / "python", "-c", "import bpm, cockpit; print(bpm.__file__, cockpit.__file__)"],
        cwd=installed.folder,
        env=installed.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(ROOT / "bpm") not in where
    assert where.count(str(installed.programs.parent)) == 2
    assert "No changes detected" in installed.manage("makemigrations", "--check", "--dry-run")
    assert "no issues" in installed.manage("check")
    assert installed.manage("bpm", "test", "orders/scenarios") == "3 passed, 0 failed"


def test_an_order_is_placed_on_the_page_and_delivered(shop):
    shop.open("/")
    status, address, _ = shop.open("/", {"customer": "Ada", "product": "teapot", "quantity": 2})
    assert status == 200
    reference = address.rstrip("/").rsplit("/", 1)[1]
    wait_for(lambda: shop.state(reference) == "COMPLETED", PATIENCE)
    ((instance, paid, shipped),) = shop.ask(
        "SELECT instance, paid_at, shipped_at FROM orders_order WHERE reference = %s", reference
    )
    assert paid < shipped
    page = shop.open(f"/orders/{reference}/")[2]
    assert "Shipped" in page
    assert "Process: COMPLETED" in page
    trace = json.loads(shop.manage("bpm", "trace", str(instance), "--json"))
    assert (trace[0]["type"], trace[0]["actor"]) == ("INSTANCE_STARTED", "Ada")
    assert [event["topic"] for event in trace if event["type"] == "TASK_CREATED"] == ["shop.charge", "shop.ship"]


def test_an_order_that_fails_takes_its_instance_away(shop):
    counts = "SELECT (SELECT count(*) FROM orders_order), (SELECT count(*) FROM process_instances), " \
        "(SELECT count(*) FROM runtime_commit WHERE command = 'StartInstance')"  # fmt: skip
    before = shop.ask(counts)
    shop.open("/")
    status, _, page = shop.open("/", {"customer": "Bea", "product": "teapot", "quantity": 41})
    assert status == 400
    assert "there are no 41 of teapot left" in page
    assert (
        shop.manage("place_order", "Bea", "teapot", "41", fails=True) == "CommandError: there are no 41 of teapot left"
    )
    assert shop.ask(counts) == before


def test_a_large_order_is_approved_and_one_that_is_too_large_goes_back_on_the_shelf(shop):
    token = shop.manage("bpm", "token", "till", "--role", "operator")
    large = shop.manage("place_order", "Cleo", "clock", "2")
    refused = shop.manage("place_order", "Dora", "clock", "9")
    assert shop.ask("SELECT stock FROM orders_product WHERE name = 'clock'") == [(1,)]
    for (task,) in shop.ask("SELECT id FROM user_tasks WHERE state = 'READY'"):
        url, headers = f"{shop.address}/api/user-tasks/{task}/complete", {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(url, b"{}", headers | {"Content-Type": "application/json"})  # noqa: S310
        urllib.request.urlopen(request, timeout=20).close()  # noqa: S310
    wait_for(lambda: [shop.state(one) for one in (large, refused)] == ["COMPLETED"] * 2, PATIENCE)
    ended = "SELECT shipped_at IS NOT NULL, taken_back_at IS NOT NULL FROM orders_order WHERE reference = %s"
    assert shop.ask(ended, large) == [(True, False)]
    assert shop.ask(ended, refused) == [(False, True)]
    assert shop.ask("SELECT stock FROM orders_product WHERE name = 'clock'") == [(10,)]


def test_the_cockpit_shows_it_with_its_diagram(shop):
    create = "from django.contrib.auth.models import User; User.objects.create_superuser('eve', password='eve')"
    shop.manage("shell", "-c", create)
    reference = shop.manage("place_order", "Eve", "teapot", "1")
    ((instance,),) = shop.ask("SELECT instance FROM orders_order WHERE reference = %s", reference)
    shop.open("/cockpit/login/")
    status, _, page = shop.open(
        f"/cockpit/login/?next=/cockpit/instances/{instance}/", {"username": "eve", "password": "eve"}
    )
    assert status == 200
    assert reference in page
    for asset in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        assert shop.open(asset)[0] == 200, asset
    assert "bpmn-navigated-viewer" in page
    assert shop.open("/admin/orders/order/")[0] == 200
