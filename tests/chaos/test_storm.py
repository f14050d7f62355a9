"""PostgreSQL stopped at once, Redis killed and emptied, workers killed, again and again, under running instances.

All instances end, nothing is lost, nothing is doubled but calls of handlers, and history shows each of those.
"""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from config.processes import Warden
from tests.chaos import storm
from tests.chaos.ground import Ground, Zygote
from tests.servers import POSTGRES_VERSION


@dataclass(frozen=True)
class Form:
    """How long a storm is."""

    instances: int
    faults: int
    every: float
    celery: int
    plain: int
    patience: float


SHORT = Form(instances=60, faults=16, every=1.0, celery=1, plain=2, patience=150)
LONG = Form(instances=500, faults=90, every=3.0, celery=2, plain=2, patience=1500)

FORMS = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.chaos)]


@pytest.fixture
def sea(ground, chaos_folder, warden) -> Iterator[Ground]:
    """A database of its own."""
    sea = Ground(chaos_folder / "sea", warden, version=POSTGRES_VERSION)
    sea.prepare(like=ground)
    yield sea
    sea.server.stop()
    shutil.rmtree(sea.folder)


@pytest.mark.parametrize("form", FORMS)
def test_all_instances_end_in_a_storm(sea, record, warden, tmp_path, form):
    ledger = tmp_path / "ledger"
    with sea.zygote() as zygote:
        zygote.call("tests.chaos.storm:deploy")
        faults, took = weather(sea, zygote, warden, ledger, form)
        judged = zygote.call("tests.chaos.storm:judge", ledger=str(ledger), number=form.instances)
    said = f"{judged['instances']} instances in {took:.0f} s, {judged['calls']} calls of handlers"
    record.lines.append(f"storm: {said}, faults: {dict(faults)}")
    if form is LONG:
        record.add("storm", faults=faults.total(), instances=judged["instances"], lost=judged["lost"],
                   doubled=judged["doubled"], note=f"{judged['calls']} calls of handlers")  # fmt: skip
    assert judged["problems"] == []
    assert (judged["lost"], judged["doubled"]) == (0, 0)
    assert len(judged["shapes"]) == 1, judged["shapes"]


def weather(sea: Ground, zygote: Zygote, warden: Warden, ledger: Path, form: Form) -> tuple[Counter[str], float]:
    """Let the instances run and the faults strike until all have ended; the faults, and how long it took."""
    wanted = form.instances * len(storm.KINDS)
    chance = random.Random(form.instances)  # noqa: S311
    began = time.monotonic()
    with storm.Site(sea, ledger, warden, celery=form.celery, plain=form.plain) as site:
        told: list = []
        client = threading.Thread(
            target=lambda: told.append(
                zygote.run("tests.chaos.storm:begin", number=form.instances, patience=form.patience)
            )
        )
        client.start()
        struck = time.monotonic()
        while (there := storm.ended(sea)) < wanted:
            assert time.monotonic() - began < form.patience, f"{there} of {wanted} ended"
            site.look_after()
            if site.faults.total() < form.faults and time.monotonic() - struck > form.every:
                site.strike(chance)
                struck = time.monotonic()
            time.sleep(0.1)
        client.join()
    assert "returned" in told[0].said, told[0].said
    return site.faults, time.monotonic() - began
