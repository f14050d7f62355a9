"""Fill a database for tests with history: an order is run once and copied as often as wanted.

    manage.py bpm generate --events 10000000 --months 6

Copies differ in ids, numbers and times; each replays as the one that was run (timers keep the moments of that one, so
decided again they part). Refused unless a superuser has marked the
database as one for tests (CREATE TABLE tokentrail_test_database ()). Exit status: 0 done, 2 refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from bpm import engine
from bpm.audit.generating import NotForTests, multiply
from bpm.management.progress import Progress
from bpm.management.spread import positive
from bpm.store import schedule

KEY = "generated_order"
MODEL = f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="generated"
 xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
<process id="{KEY}" isExecutable="true" name="generated order">
<startEvent id="ordered"/>
<serviceTask id="charge" name="Charge the card" camunda:type="external" camunda:topic="generated.charge"/>
<parallelGateway id="both"/>
<serviceTask id="pack" name="Pack" camunda:type="external" camunda:topic="generated.pack"/>
<boundaryEvent id="late" attachedToRef="pack" cancelActivity="false"><timerEventDefinition>
<timeDuration>P1D</timeDuration></timerEventDefinition></boundaryEvent><endEvent id="told"/>
<userTask id="check" name="Check the address"/>
<parallelGateway id="joined"/>
<serviceTask id="ship" name="Ship" camunda:type="external" camunda:topic="generated.ship"/>
<endEvent id="shipped"/>
{{flows}}
</process></definitions>"""
FLOWS = (
    "ordered charge, charge both, both pack, both check, pack joined, check joined, "
    "joined ship, ship shipped, late told"
)
ACTOR = "generator"


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--events N] [--months N]."""
    parser.add_argument("--events", type=positive, default=100_000, metavar="N", help="about so many events (100,000)")
    parser.add_argument("--months", type=positive, default=3, metavar="N", help="spread over so many months (3)")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Run the order, copy it; the exit status."""
    instance = _ordered()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM runtime_event WHERE thread_id = %s", [instance])
        events = cursor.fetchone()[0]
    copies = max(1, options["events"] // events)
    since = schedule.now() - timedelta(days=30 * options["months"])
    try:
        with Progress(command.stderr, "instances", copies) as bar:
            multiply(instance, copies, since, advance=bar.advance)
            seconds = bar.seconds
    except NotForTests as problem:
        raise CommandError(str(problem), returncode=2) from None
    command.stdout.write(f"{copies} instances, {copies * events} events in {seconds:.1f} s")
    return 0


def _ordered() -> Any:
    flows = "".join(
        f'<sequenceFlow id="f{number}" sourceRef="{source}" targetRef="{target}"/>'
        for number, (source, target) in enumerate(flow.split() for flow in FLOWS.split(", "))
    )
    engine.deploy({"generated.bpmn": MODEL.format(flows=flows).encode()}, actor=ACTOR)
    instance = engine.start(KEY, actor=ACTOR, variables={"customer": "Ada", "amount": 12.5, "card": "4111"}).thread_id
    _work("charge", paid=True)
    (task,) = engine.fetch_and_lock(["generated.pack"], worker="packer")
    engine.fail_task(task.id, worker="packer", message="the shelf is empty", retries=1, retry_after=0)
    _work("pack", parcels=[{"weight": 1.2}, {"weight": 3}])
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM user_tasks WHERE instance_id = %s", [instance])
        engine.complete_user_task(cursor.fetchone()[0], actor="bob", variables={"address": "12 Long Lane"})
    _work("ship", tracking="TT-1")
    return instance


def _work(topic: str, **variables: Any) -> None:
    (task,) = engine.fetch_and_lock([f"generated.{topic}"], worker="w1")
    engine.complete_task(task.id, worker="w1", variables=variables)
