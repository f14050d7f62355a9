"""The trace: what an event says, and how events are chosen."""

from __future__ import annotations

import json

import pytest

from bpm import engine
from bpm.audit import trace
from tests.database.engine.drawing import end, flows, model, service, start

PAYING = model(start(), service("Pay", "pay", attributes='name="Take the money"'), end(), flows("start -> Pay -> end"))


@pytest.fixture
def paid(world):
    """A payment that failed once."""
    world.deploy(PAYING)
    instance = world.start()
    for worker in ("ada", "bob"):
        (task,) = engine.fetch_and_lock(["pay"], worker=worker)
        if worker == "ada":
            engine.fail_task(task.id, worker=worker, message="timeout", retries=1)
        else:
            engine.complete_task(task.id, worker=worker, variables={"paid": True}, cause=task.sequence)
    return instance


def test_an_event_says_all_of_itself(world, paid):
    events = [event.as_json() for event in trace.stream(paid)]
    assert [(event["commit_sequence"], event["ordinal"]) for event in events] == sorted(
        (event["commit_sequence"], event["ordinal"]) for event in events
    )
    assert {"at", "type", "actor", "commit_sequence", "entity"} <= set.intersection(*map(set, events))
    by_type = {event["type"]: event for event in events}
    created = by_type["TASK_CREATED"]
    assert (created["topic"], created["node"], created["node_name"]) == ("pay", "Pay", "Take the money")
    failed = by_type["TASK_FAILED"]
    assert (failed["worker"], failed["error"], failed["from_state"]) == ("ada", "timeout", "LOCKED")
    done = by_type["TASK_COMPLETED"]
    locks = [event["commit_sequence"] for event in events if event["type"] == "TASK_LOCKED"]
    assert (done["worker"], done["actor"], done["caused_by"]) == ("bob", "bob", locks[-1])
    assert by_type["VARIABLE_SET"]["variables"] == {"paid": True}
    assert by_type["TOKEN_COMPLETED"]["reason"] == "end"


def test_the_command_chooses_as_the_api_does(world, paid, bpm):
    whole = json.loads(bpm("trace", paid, "--json")[1])
    moment = next(event["at"] for event in whole if event["type"] == "TASK_FAILED")

    def chosen(*conditions: str) -> list[dict]:
        return json.loads(bpm("trace", paid, "--json", *conditions)[1])

    assert chosen("--since", moment) == [event for event in whole if event["at"] >= moment]
    assert chosen("--until", moment) == [event for event in whole if event["at"] < moment]
    assert {event["type"] for event in chosen("--worker", "ada")} == {"TASK_LOCKED", "TASK_FAILED"}
    assert chosen("--node", "Pay", "--newest-first") == [event for event in whole if event.get("node") == "Pay"][::-1]
    assert [event["type"] for event in chosen("--type", "TASK_RETRIED")] == ["TASK_RETRIED"]
