"""The worker library, the API and the engine together: a worker elsewhere does the tasks of an instance."""

from __future__ import annotations

import threading
from decimal import Decimal

import pytest
from django.db import connection

from bpm import engine
from bpm.sdk import BpmnError, Client, Refused, Worker
from bpm.store.access import issue_token
from tests.conftest import wait_for
from tests.database.engine.drawing import boundary, end, error, flows, model, service, start

PAY = model(
    start(),
    service("pay"),
    boundary("declined", "pay", error("no")),
    end(),
    end("rejected"),
    flows("start -> pay -> end", "declined -> rejected"),
    before='<bpmn:error id="no" errorCode="NO"/>',
)


@pytest.fixture
def client(live_server) -> Client:
    engine.deploy({"pay.bpmn": PAY}, actor="tester")
    return Client(live_server.url, token=issue_token("elsewhere", "worker"), worker="w1")


def state(instance) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT state FROM process_instances WHERE id = %s", [instance])
        return cursor.fetchone()[0]


def test_a_worker_elsewhere_does_the_work(client):
    worker = Worker(client, threads=2, idle=0.05)

    @worker.task("pay", lock_seconds=30)
    def pay(task):
        if task.variables["amount"] > 10:
            raise BpmnError("NO", "too much", {"why": "limit"})
        return {"paid": task.variables["amount"] + Decimal("0.01")}

    instances = [
        engine.start("p", variables={"amount": amount}, actor="tester").thread_id for amount in (Decimal("1.10"), 50)
    ]
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    try:
        wait_for(lambda: [state(instance) for instance in instances] == ["COMPLETED"] * 2, 20)
    finally:
        worker.stop()
        thread.join(20)
    with connection.cursor() as cursor:
        cursor.execute("SELECT value::text FROM variables WHERE name = 'paid'")
        assert cursor.fetchall() == [("1.11",)]


def test_a_worker_goes_on_with_the_next_task_of_the_instance(client):
    row = model(start(), service("one"), service("two"), end(), flows("start -> one -> two -> end"), id="row")
    engine.deploy({"row.bpmn": row}, actor="tester")
    worker = Worker(client, threads=1, idle=0.05)
    worker.task("one")(lambda task: {"n": task.variables["n"] + 1})
    worker.task("two")(lambda task: {"n": task.variables["n"] * 10})
    instance = engine.start("row", variables={"n": 1}, actor="tester").thread_id
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    try:
        wait_for(lambda: state(instance) == "COMPLETED", 20)
    finally:
        worker.stop()
        thread.join(20)
    with connection.cursor() as cursor:
        cursor.execute("SELECT value::text FROM variables WHERE instance_id = %s AND name = 'n'", [instance])
        assert cursor.fetchall() == [("20",)]
        cursor.execute("SELECT count(*) FROM runtime_commit WHERE command = 'FetchAndLock'")
        assert cursor.fetchall() == [(1,)]


def test_an_answer_given_twice_counts_once_and_another_worker_is_refused(client):
    instance = engine.start("p", actor="tester").thread_id
    (task,) = client.fetch_and_lock(["pay"])
    other = Client(client.url, token=client._token, worker="w2", tries=1)
    with pytest.raises(Refused) as refusal:
        other.complete(task)
    assert refusal.value.code == "wrong_worker"
    client.extend(task, 60)
    client.complete(task, {"x": 1})
    client.complete(task, {"x": 1})
    assert state(instance) == "COMPLETED"
