"""The commands: a model from file to a finished, traced instance at the terminal."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from psycopg import errors

from bpm import engine
from bpm.management.bpm.registration import subcommands
from bpm.queries import instances
from bpm.store import schema

ORDERS = Path(__file__).resolve().parents[3] / "examples/orders"


def bpm(*arguments: str) -> str:
    out = StringIO()
    call_command("bpm", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_every_command_teaches():
    for subcommand in subcommands():
        assert len(subcommand.teaching.splitlines()) > 5
        assert f"manage.py bpm {subcommand.name}" in subcommand.teaching


def test_from_the_file_to_the_end(world):
    assert bpm("deploy", str(ORDERS)) == "order version 1: deployed"
    assert bpm("deploy", str(ORDERS / "order.bpmn")) == "order version 1: unchanged"
    instance = bpm("start", "order", "--variables", '{"card": "flaky", "amount": 1.10}', "--business-key", "A-1")
    assert bpm("start", "order", "--key", "k") == bpm("start", "order", "--key", "k")
    assert instance in bpm("instances", "--business-key", "A-1")
    bpm("worker", "--once")
    engine.complete_user_task(world.only("user_tasks", engine_id(instance)), actor="anna")
    world.move_clock(10)
    bpm("worker", "--once")
    assert world.state(engine_id(instance)) == "COMPLETED"
    assert instance not in bpm("instances")
    found = json.loads(bpm("trace", instance, "--json"))
    types = [event["type"] for event in found]
    assert types[0] == "INSTANCE_STARTED"
    assert types[-1] == "INSTANCE_COMPLETED"
    assert [event["error"] for event in found if event["type"] == "TASK_FAILED"] == [
        "timeout: the payment gateway did not answer"
    ]
    assert {event["topic"] for event in found if event["type"] == "TASK_CREATED"} >= {"payments.charge", "orders.ship"}
    lines = bpm("trace", instance, "--ndjson").splitlines()
    assert [json.loads(line)["type"] for line in lines] == types
    assert "Charge card" in bpm("trace", instance)
    assert json.loads(bpm("trace", instance, "--json", "--type", "TASK_FAILED"))[0]["node"] == "ChargeCard"


def test_an_incident_is_found_and_retried(world):
    bpm("deploy", str(ORDERS))
    instance = bpm("start", "order", "--variables", '{"card": "unreachable"}')
    for seconds in (0, 10, 20, 30):
        world.move_clock(seconds)
        bpm("worker", "--once")
    assert instance in bpm("instances", "--incidents")
    assert json.loads(bpm("instances", "--incidents", "--json"))["incidents"] == 1
    assert bpm("retry", instance, "--reason", "gateway is back", "--actor", "operator").endswith("retried")
    bpm("worker", "--once")
    assert bpm("instances", "--incidents") == ""
    assert "because: gateway is back" in bpm("trace", instance)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["start", "nothing"], "not_found"),
        (["start", "order", "--variables", "{"], "no JSON"),
        (["start", "order", "--variables", '{"x": NaN}'], "no JSON"),
        (["start", "order", "--variables", "@/nowhere"], "cannot read"),
        (["trace", str(uuid4())], "knows no instance"),
        (["trace", "nonsense"], "no id"),
        (["retry", str(uuid4())], "not_found"),
        (["deploy", "/nowhere.bpmn"], "cannot read"),
        (["worker", "--topic", "nothing"], "no installed app"),
    ],
)
def test_what_cannot_be_done_is_said(world, arguments, why):
    bpm("deploy", str(ORDERS))
    with pytest.raises(CommandError, match=why):
        bpm(*arguments)


def test_a_broken_model_is_refused_with_everything_that_is_wrong(world, tmp_path):
    (tmp_path / "bad.bpmn").write_text("<no")
    err = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("bpm", "deploy", str(tmp_path), stdout=StringIO(), stderr=err)
    assert end.value.code == 1
    assert "xml-malformed" in err.getvalue()
    assert "nothing was deployed" in err.getvalue()


def engine_id(text: str):
    from uuid import UUID

    return UUID(text)


def test_an_option_of_djangos_may_stand_behind_the_subcommand(world):
    assert bpm("instances", "--settings", "config.settings", "--no-color") == bpm("instances")
    with pytest.raises(CommandError, match="unrecognized arguments: --nonsense x"):
        bpm("instances", "--nonsense", "x")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (OperationalError("connection refused\n\tIs the server running?"), "cannot be reached: connection refused$"),
        (errors.DiskFull("could not extend file"), "the disk of the database is full: could not"),
        (errors.InsufficientPrivilege("permission denied for table x"), "refuses it to this role: permission denied"),
        (IndexError("list index out of range"), "run the migrations first"),
    ],
)
def test_what_is_no_fault_of_the_command_is_said_in_words(world, monkeypatch, trouble, said):
    def fail(*_: object, **__: object) -> None:
        raise trouble

    unfit = schema.Verdict(("there are no tables of this program: run the migrations first",))
    monkeypatch.setattr(schema, "verify", lambda: unfit)
    monkeypatch.setattr(instances, "list_instances", fail)
    with pytest.raises(CommandError, match=said):
        bpm("instances")
    with pytest.raises(type(trouble)):
        bpm("instances", "--traceback")
    # On a database that is fit it is a fault of ours, and its traceback says more.
    monkeypatch.setattr(schema, "verify", lambda: schema.Verdict(()))
    if isinstance(trouble, IndexError):
        with pytest.raises(IndexError):
            bpm("instances")
