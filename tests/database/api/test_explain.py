"""Why is it here: how a token came, what it waits for, who can move it."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bpm import engine
from bpm.audit.explain import explain, explain_tokens, open_tokens
from bpm.queries import work
from tests.database.engine.drawing import end, flows, model, service, start


@pytest.fixture
def stopped(order):
    """An order whose card could not be charged while the parcel is to be packed."""
    id = engine.start(order, actor="shop").thread_id
    (task,) = engine.fetch_and_lock(["orders.check-stock"], worker="w")
    engine.complete_task(task.id, worker="w", variables={"in_stock": True})
    (task,) = engine.fetch_and_lock(["payments.charge"], worker="w")
    engine.fail_task(task.id, worker="w", message="timeout", retries=0)
    return id


def told(id):
    return {found.node: found for found in explain_tokens(open_tokens(id))}


def test_each_token_says_how_it_came_what_it_waits_for_and_who_can_move_it(stopped):
    tokens = told(stopped)
    assert set(tokens) == {"Split", "ChargeCard", "PackParcel"}
    charge = tokens["ChargeCard"]
    assert [step.text for step in charge.came] == [
        "it appeared at Charge card, because of fork, by w",
        "it began to wait at Charge card, because of work, by engine",
    ]
    assert [(wait.text, wait.mover) for wait in charge.waits] == [
        ("an operator: timeout", "an operator retries the incident")
    ]
    packing = [(wait.text, wait.mover) for wait in tokens["PackParcel"].waits]
    assert packing[0] == ("a person", "one of warehouse claims it")
    assert packing[1][1] == "the engine's timers"
    assert [wait.text for wait in tokens["Split"].waits] == [
        "its branch at Charge card",
        "its branch at Pack the parcel",
    ]
    assert [step.text.split(",")[0] for step in tokens["Split"].came] == [
        "it appeared at Order placed",
        "it went from OrderPlaced to Check stock",
        "it began to wait at Check stock",
        "it went from CheckStock to In stock?",
        "it went from InStock to Split",
        "it split at Split into 2 branches",
    ]


def test_a_task_stands_for_its_token(stopped):
    (packing,) = work.list_user_tasks(instance_id=stopped).items
    engine.claim_task(packing.id, "maria")
    found = explain(packing.id)
    assert (found.node, found.waits[0].mover) == ("PackParcel", "maria completes the task")
    assert explain(stopped) is None


def test_a_branch_that_waits_at_a_join_and_one_that_a_worker_holds(stopped):
    (packing,) = work.list_user_tasks(instance_id=stopped).items
    engine.complete_user_task(packing.id, actor="maria")
    assert [wait.text for wait in told(stopped)["Join"].waits] == ["the other branches of the gateway"]
    other = engine.start("order", actor="shop").thread_id
    assert told(other)["CheckStock"].waits[0].text == "a worker for orders.check-stock"
    engine.fetch_and_lock(["orders.check-stock"], worker="w7")
    assert told(other)["CheckStock"].waits[0].text == "w7 to finish orders.check-stock"
    engine.suspend_instance(other, actor="olga")
    assert told(other)["CheckStock"].waits[0].text == "the instance to be resumed"


def test_over_http_and_at_the_command_line(operator, stopped):
    answer = operator.get(f"/instances/{stopped}/explain")
    assert [found["place"] for found in answer.body] == ["Split", "Charge card", "Pack the parcel"]
    (task,) = work.list_user_tasks(instance_id=stopped).items
    assert [found["node"] for found in operator.get(f"/instances/{stopped}/explain?of={task.id}").body] == [
        "PackParcel"
    ]
    assert operator.get(f"/instances/{str(task.id)[:-8]}00000000/explain?of={str(stopped)[:-1]}9").status == 404
    out = StringIO()
    call_command("bpm", "explain", str(task.id), stdout=out)
    assert "The token is at Pack the parcel, WAITING" in out.getvalue()
    assert "one of warehouse claims it" in out.getvalue()
    with pytest.raises(CommandError, match="nothing of the id"):
        call_command("bpm", "explain", "01a2289e-a924-7e58-8969-e0c400000001")


def test_many_tokens_are_explained_by_as_few_statements_as_one(transactional_db):
    inner = "<bpmn:multiInstanceLoopCharacteristics><bpmn:loopCardinality>40</bpmn:loopCardinality>"
    inner += "</bpmn:multiInstanceLoopCharacteristics>"
    wide = model(start(), service("A", inner=inner), end(), flows("start -> A -> end"), id="wide")
    engine.deploy({"wide.bpmn": wide}, actor="tester")
    id = engine.start("wide", actor="shop").thread_id
    tokens = open_tokens(id)
    assert len(tokens) == 41
    with CaptureQueriesContext(connection) as one:
        alone = explain_tokens(tokens[-1:])
    with CaptureQueriesContext(connection) as all_:
        found = explain_tokens(tokens)
    assert len(all_) == len(one) <= 14
    assert [explanation.token_id for explanation in found] == tokens
    assert found[-1] == alone[0] == explain(tokens[-1])
    assert [wait.text for wait in found[0].waits] == ["the rounds of its loop", *["what goes on in it, at A"] * 20]
    assert {found[at].waits[0].text for at in range(1, 41)} == {"a worker for A"}
