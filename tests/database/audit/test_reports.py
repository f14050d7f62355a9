"""Who did what when; which worker caused this failure."""

from __future__ import annotations

import csv
import io
import json

from bpm import engine
from tests.database.audit.conftest import ORDER


def report(bpm, *arguments):
    status, said = bpm("report", *arguments)
    assert status == 0, said
    return list(csv.DictReader(io.StringIO(said)))


def test_who_did_what_when(world, bpm, tmp_path):
    world.deploy(ORDER)
    instance = world.start("order")
    world.work("A", worker="ada")
    engine.suspend_instance(instance, actor="carol", reason="a complaint, to be looked into")
    bpm("export", "--format", "csv", "--to", tmp_path / "x.csv", "--actor", "dora", "--reason", "audit")
    rows = report(bpm, "who")
    assert [(row["who"], row["did"]) for row in rows] == [
        ("tester", "deployed models"),
        ("tester", "started an instance"),
        ("ada", "completed work"),
        ("carol", "suspended an instance"),
        ("dora", "exported history"),
    ]
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    completed, suspended = rows[2], rows[3]
    assert (completed["node"], completed["definition"], completed["instance"]) == ("A", "order", str(instance))
    assert suspended["stated_reason"] == "a complaint, to be looked into"
    assert [row["who"] for row in report(bpm, "who", "--user", "carol")] == ["carol"]
    assert [row["who"] for row in report(bpm, "who", "--instance", instance)] == ["tester", "ada", "carol"]
    everything = report(bpm, "who", "--everything")
    assert {"FetchAndLock", "AdvanceToken"} <= {row["command"] for row in everything}
    assert bpm("report", "who", "--definition", "none")[0] == 2


def test_which_worker_caused_this_failure(world, bpm):
    world.deploy(ORDER)
    instance = world.start("order")
    (task,) = engine.fetch_and_lock(["A"], worker="w1")
    engine.fail_task(task.id, worker="w1", message="timeout", retries=1, retry_after=0)
    (task,) = engine.fetch_and_lock(["A"], worker="w2", lock_seconds=1)
    world.move_clock(60)
    engine.release_expired_locks()
    (task,) = engine.fetch_and_lock(["A"], worker="w3")
    engine.fail_task(task.id, worker="w3", message="card refused", retries=0)
    rows = report(bpm, "failures")
    assert [(row["worker"], row["what"], row["error"], row["retries_left"]) for row in rows] == [
        ("w1", "failed", "timeout", "1"),
        ("w2", "did not answer in time", "", ""),
        ("w3", "failed", "card refused", "0"),
    ]
    assert [bool(row["incident"]) for row in rows] == [False, False, True]
    assert {row["node"] for row in rows} == {"A"} and {row["instance"] for row in rows} == {str(instance)}
    assert all(row["locked_at"] < row["at"] for row in rows)
    assert [row["worker"] for row in report(bpm, "failures", "--worker", "w2")] == ["w2"]
    _, said = bpm("report", "failures", "--json", "--definition", "order")
    assert [json.loads(line)["worker"] for line in said.splitlines()] == ["w1", "w2", "w3"]
