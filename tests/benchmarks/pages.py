"""The cockpit's pages over a large database, as an operator asks for them: inside the site, without network."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client

from bpm.store import access
from tests.benchmarks.ground import Ground
from tests.benchmarks.grown import grown
from tests.benchmarks.lines import Line, chosen, percentiles

# What is asked for below /cockpit/. {instance} and {definition} stand for those of the database, another one each time.
PAGES = (
    ("overview", ""),
    ("processes", "processes/"),
    ("a process", "processes/{definition}/"),
    ("instances", "instances/"),
    ("instances, running", "instances/?state=RUNNING"),
    ("instances, one process", "instances/?process=generated_order"),
    ("an instance", "instances/{instance}/"),
    ("its timeline", "instances/{instance}/timeline/"),
    ("external tasks", "work/"),
    ("user tasks", "tasks/"),
    ("incidents", "incidents/"),
)
# Of these pages, what they ask every few seconds while nothing changes.
LIVE = ("instances", "an instance", "external tasks", "incidents")


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """Each page so many times, in turn, after one round to warm up."""
    rounds = chosen(scale, 1, 40, 100)
    with grown(ground, scale) as there:
        client = _operator()
        instances, definitions = _some(rounds + 1)
        took: dict[str, list[float]] = {}
        for turn in range(rounds + 1):
            for name, address in PAGES:
                about = {
                    "instance": instances[turn % len(instances)],
                    "definition": definitions[turn % len(definitions)],
                }
                shown, seconds = _asked(client, f"/cockpit/{address.format(**about)}", 200)
                if turn:
                    took.setdefault(name, []).append(seconds)
                if name in LIVE:
                    known, live = _KNOWN.search(shown).groups()
                    _none, seconds = _asked(client, f"{live}?known={known}", 204)
                    if turn:
                        took.setdefault(f"{name}, nothing new", []).append(seconds)
        for name, seconds_each in took.items():
            times = percentiles(seconds_each)
            more = times | {"instances": there.instances, "of_events": there.events}
            yield Line(
                name=f"page: {name}", value=float(times["p95_ms"]), unit="ms (p95)", n=len(seconds_each), more=more
            )


_KNOWN = re.compile(r'data-known="(\w+)" hx-get="([^"?]+)')


def _asked(client: Client, address: str, status: int) -> tuple[str, float]:
    """What it answers, and how long that took; as a page's own scripts ask where nothing new is expected."""
    headers = {"HX-Request": "true"} if status == 204 else {}
    began = time.perf_counter()
    answer = client.get(address, headers=headers)
    seconds = time.perf_counter() - began
    if answer.status_code != status:
        raise RuntimeError(f"{address}: {answer.status_code}")
    return answer.content.decode(), seconds


def _operator() -> Client:
    access.fill_groups()
    user, _ = User.objects.get_or_create(username="bench", is_staff=True)
    user.groups.add(Group.objects.get(name="operators"))
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client


def _some(count: int) -> tuple[list[UUID], list[UUID]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM process_instances TABLESAMPLE BERNOULLI (10) LIMIT %s", [count])
        instances = [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT id FROM process_definitions")
        return instances, [row[0] for row in cursor.fetchall()]
