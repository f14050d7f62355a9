"""PostgreSQL stopped at once, Redis killed and emptied, workers killed, again and again, under running instances.

All instances end, nothing is lost, nothing is doubled but calls of handlers, and history shows each of those.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass

import pytest

from tests.chaos import storm


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


@pytest.mark.parametrize("form", FORMS)
def test_all_instances_end_in_a_storm(ground, zygote, record, warden, tmp_path, form):
    ledger = tmp_path / "ledger"
    zygote.call("tests.chaos.storm:deploy")
    before = storm.ended(ground)
    wanted = before + form.instances * len(storm.KINDS)
    chance = random.Random(form.instances)  # noqa: S311
    began = time.monotonic()
    with storm.Site(ground, ledger, warden, celery=form.celery, plain=form.plain) as site:
        told: list = []
        client = threading.Thread(
            target=lambda: told.append(
                zygote.run("tests.chaos.storm:begin", number=form.instances, patience=form.patience)
            )
        )
        client.start()
        struck = time.monotonic()
        while (there := storm.ended(ground)) < wanted:
            assert time.monotonic() - began < form.patience, f"{there - before} of {wanted - before} ended"
            site.look_after()
            if site.faults.total() < form.faults and time.monotonic() - struck > form.every:
                site.strike(chance)
                struck = time.monotonic()
            time.sleep(0.1)
        client.join()
    took = time.monotonic() - began
    assert "returned" in told[0].said, told[0].said
    judged = zygote.call("tests.chaos.storm:judge", ledger=str(ledger), number=form.instances)
    said = f"{judged['instances']} instances in {took:.0f} s, {judged['calls']} calls of handlers"
    print(f"\n{said}, faults: {dict(site.faults)}")
    if form is LONG:
        struck_by = ", ".join(f"{count} times {fault}" for fault, count in sorted(site.faults.items()))
        record.add("storm", faults=site.faults.total(), instances=judged["instances"], lost=judged["lost"],
                   doubled=judged["doubled"], note=f"{struck_by}; {judged['calls']} calls of handlers")  # fmt: skip
    assert judged["problems"] == []
    assert (judged["lost"], judged["doubled"]) == (0, 0)
    assert len(judged["shapes"]) == 1, judged["shapes"]
