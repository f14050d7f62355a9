"""Exports: what is chosen, what each format holds, what is masked, what the manifest says."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from collections import Counter

import jsonschema_rs
import pytest
from lxml import etree
from pyarrow import parquet

from bpm import engine
from bpm.audit import sealing
from bpm.audit.export import Selection, requests
from bpm.audit.export.masking import Masking
from bpm.audit.export.records import COLUMNS
from bpm.audit.export.selection import NothingSuch
from bpm.jobs.schedule import run_job
from tests.database.audit.conftest import ORDER
from tests.database.engine.drawing import call, end, flows, model, start, user

XES = "{http://www.xes-standard.org/}"
CALLING = model(start(), call("K", "order"), user("U"), end(), flows("start -> K -> U -> end"), id="calling")


def orders(world, number: int = 3) -> list:
    world.deploy(ORDER)
    found = [world.start("order", business_key=f"=B-{n}", variables={"n": n, "card": "4111"}) for n in range(number)]
    world.work("A", worker="ada", paid=True)
    return found


def exported(bpm, tmp_path, format: str, *more: str, name: str = "out"):
    file = tmp_path / name
    status, said = bpm("export", "--format", format, "--to", file, "--actor", "auditor", *more)
    assert status == 0, said
    return file, json.loads((tmp_path / f"{name}.manifest.json").read_text())


def rows_of(file) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text())))


def test_csv_has_a_row_an_event(world, bpm, tmp_path):
    (first, *_) = orders(world)
    file, manifest = exported(bpm, tmp_path, "csv")
    rows = rows_of(file)
    ((events,),) = world.ask(
        "SELECT count(*) FROM runtime_event WHERE thread_id <> '00000000-0000-0000-0000-000000000000'"
    )
    assert len(rows) == events == manifest["events"]
    assert tuple(rows[0]) == tuple(COLUMNS)
    mine = [row for row in rows if row["instance"] == str(first)]
    assert [row["type"] for row in mine] == world.events(first)
    locked = next(row for row in mine if row["type"] == "TASK_LOCKED")
    assert (locked["worker"], locked["topic"], locked["node"]) == ("ada", "A", "A")
    assert locked["business_key"] == "'=B-0"  # no formula for a spreadsheet
    paid = next(row for row in mine if row["variable"] == "paid")
    assert (paid["value"], paid["actor"], paid["command"]) == ("true", "ada", "CompleteExternalTask")


def test_conditions_choose(world, bpm, tmp_path):
    first, second, third = orders(world)
    world.work("B", worker="bob")
    engine.cancel_instance(third, actor="carol", reason="no more")

    def instances(*more: str) -> set[str]:
        return {row["instance"] for row in rows_of(exported(bpm, tmp_path, "csv", *more)[0])}

    everybody = {str(first), str(second), str(third)}
    assert instances("--definition", "order") == everybody
    assert instances("--state", "CANCELLED") == {str(third)}
    assert instances("--state", "CANCELLED", "--state", "RUNNING") == everybody
    assert instances("--instance", first, "--instance", second) == {str(first), str(second)}
    assert instances("--user", "carol") == {str(third)}
    assert instances("--worker", "nobody") == set()
    ((before,),) = world.ask("SELECT min(at) FROM runtime_commit WHERE actor = 'carol'")
    assert instances("--since", before.isoformat()) == {str(third)}
    assert instances("--until", before.isoformat()) == everybody
    rows = rows_of(exported(bpm, tmp_path, "csv", "--worker", "bob")[0])
    assert {row["worker"] for row in rows} == {"bob"} and len(rows) == 6
    assert bpm("export", "--format", "csv", "--to", tmp_path / "x", "--definition", "none")[0] == 2
    assert not (tmp_path / "x").exists()


def test_json_lines_replay_without_a_database(world, bpm, tmp_path, monkeypatch):
    orders(world)
    world.work("B", "C")
    for name in ("h.jsonl", "h.jsonl.gz", "h.jsonl.zst"):
        file, manifest = exported(bpm, tmp_path, "jsonl", name=name)
        with monkeypatch.context() as patch:
            patch.setattr("django.db.backends.base.base.BaseDatabaseWrapper.ensure_connection", refused)
            for more in ((), ("--verify",), ("--jobs", "2")):
                status, said = bpm("replay", file, *more)
                assert status == 0, said
                assert said.startswith(f"3 instances replayed, {manifest['commits']} commits")
            assert bpm("compare", file)[0] == 0


def refused(self):
    raise AssertionError("a database was asked")


def test_parquet_has_typed_columns(world, bpm, tmp_path):
    orders(world)
    file, manifest = exported(bpm, tmp_path, "parquet", name="events.parquet")
    table = parquet.read_table(file)
    assert table.num_rows == manifest["events"]
    assert str(table.schema.field("at").type) == "timestamp[us, tz=UTC]"
    assert str(table.schema.field("commit").type) == "int64"
    assert Counter(table.column("type").to_pylist())["TASK_COMPLETED"] == 3


def test_xes_has_what_was_done(world, bpm, tmp_path):
    orders(world, 2)
    world.work("B", worker="bob")
    world.work("C", worker='bob\x01<&"')
    file, _ = exported(bpm, tmp_path, "xes")
    log = etree.parse(file).getroot()
    traces = log.findall(f"{XES}trace")
    assert len(traces) == 2
    said = [{part.get("key"): part.get("value") for part in event} for event in traces[0].findall(f"{XES}event")]
    assert [event["concept:name"] for event in said] == ["start", "A", "B", "C", "end"]
    assert [event["org:resource"] for event in said[1:4]] == ["ada", "bob", 'bob\ufffd<&"']
    assert {event["lifecycle:transition"] for event in said} == {"complete"}


def test_ocel_relates_events_to_objects(world, bpm, tmp_path):
    world.deploy(ORDER, CALLING)
    caller = world.start("calling")
    for topic in ("A", "B", "C"):
        world.work(topic, worker="ada")
    engine.complete_user_task(world.only("user_tasks", caller), actor="bob")
    file, _ = exported(bpm, tmp_path, "ocel")
    log = json.loads(file.read_text())
    objects = {one["id"]: one for one in log["objects"]}
    ((called,),) = world.ask("SELECT id FROM process_instances WHERE parent_instance_id = %s", caller)
    assert objects[str(called)]["relationships"] == [{"objectId": str(caller), "qualifier": "called by"}]
    assert Counter(one["type"] for one in log["objects"]) == {
        "process instance": 2,
        "external task": 3,
        "user task": 1,
        "resource": 4,
    }
    done = {event["type"]: event for event in log["events"] if event["type"] in "KU"}
    related = {(one["qualifier"], one["objectId"]) for one in done["K"]["relationships"]}
    assert ("called instance", str(called)) in related
    assert ("done by", "resource:bob") in {(r["qualifier"], r["objectId"]) for r in done["U"]["relationships"]}
    assert all(one["objectId"] in objects for event in log["events"] for one in event["relationships"])
    assert {event["type"] for event in log["events"]} == {one["name"] for one in log["eventTypes"]}


def listed(required: str, **properties: object) -> dict[str, object]:
    return {"type": "array", "items": {"type": "object", "required": required.split(), "properties": properties}}


TEXT = {"type": "string"}
TIME = {"type": "string", "format": "date-time"}
DECLARED = listed("name attributes", name=TEXT, attributes=listed("name type", name=TEXT, type=TEXT))
RELATED = listed("objectId qualifier", objectId=TEXT, qualifier=TEXT)
# What the schema of OCEL 2.0 asks of a log in JSON.
OCEL = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["eventTypes", "objectTypes", "events", "objects"],
    "properties": {
        "eventTypes": DECLARED,
        "objectTypes": DECLARED,
        "events": listed(
            "id type time", id=TEXT, type=TEXT, time=TIME, relationships=RELATED,
            attributes=listed("name value", name=TEXT, value=TEXT),
        ),
        "objects": listed(
            "id type", id=TEXT, type=TEXT, relationships=RELATED,
            attributes=listed("name value time", name=TEXT, value=TEXT, time=TIME),
        ),
    },
}  # fmt: skip


def test_ocel_is_valid_by_its_schema(world, bpm, tmp_path):
    orders(world)
    world.work("B", "C")
    file, _ = exported(bpm, tmp_path, "ocel")
    log = json.loads(file.read_text())
    jsonschema_rs.validator_for(OCEL, validate_formats=True).validate(log)
    declared = {one["name"]: {each["name"] for each in one["attributes"]} for one in log["eventTypes"]}
    assert all({each["name"] for each in event["attributes"]} == declared[event["type"]] for event in log["events"])
    assert {one["type"] for one in log["objects"]} <= {one["name"] for one in log["objectTypes"]}
    assert len({one["id"] for one in log["objects"]}) == len(log["objects"])


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "xes", "ocel"])
def test_masked_values_are_nowhere(world, bpm, tmp_path, format):
    orders(world)
    file, manifest = exported(bpm, tmp_path, format, "--mask", "card", name="m")
    assert b"4111" not in file.read_bytes()
    assert manifest["values"] == {"masked": ["card"]}
    file, manifest = exported(bpm, tmp_path, format, "--no-variables", name="n")
    assert b"4111" not in file.read_bytes()
    assert manifest["values"] == {"variables": "left out"}
    if format == "jsonl":
        assert bpm("replay", file)[0] == 0
        masked = [json.loads(line) for line in (tmp_path / "m").read_text().splitlines()]
        assert masked[2]["arguments"]["variables"] == {"n": 0, "card": "***"}


def test_the_manifest_says_what_there_is(world, bpm, tmp_path):
    orders(world)
    sealing.seal()
    world.start("order")
    file, manifest = exported(
        bpm, tmp_path, "csv", "--definition", "order", "--reason", "yearly audit", name="o.csv.gz"
    )
    assert manifest["file"] == {
        "name": "o.csv.gz",
        "bytes": file.stat().st_size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    assert gzip.decompress(file.read_bytes()).startswith(b"at,type,")
    assert (manifest["made_by"], manifest["reason"]) == ("auditor", "yearly audit")
    assert manifest["selection"] == {"definitions": ["order"]}
    assert (manifest["seals"]["from"], manifest["seals"]["to"], manifest["seals"]["head"]) == (1, None, 1)
    ((actor, reason, arguments),) = world.ask(
        "SELECT actor, stated_reason, arguments::text FROM runtime_commit WHERE command = 'Export'"
    )
    assert (actor, reason) == ("auditor", "yearly audit")
    assert json.loads(arguments)["file"] == manifest["file"]


def test_an_export_that_fails_leaves_nothing(world, bpm, tmp_path, monkeypatch):
    orders(world)
    monkeypatch.setattr("bpm.audit.export.records.Shaping.rows", broken)
    status, said = bpm("export", "--format", "csv", "--to", tmp_path / "x.csv")
    assert status == 1 and "disk is full" in said
    assert list(tmp_path.iterdir()) == []
    assert world.ask("SELECT 1 FROM runtime_commit WHERE command = 'Export'") == []


def broken(*_, **__):
    raise OSError("the disk is full")


def test_an_export_is_asked_for_and_carried_out_by_a_worker(world, tmp_path, settings, monkeypatch):
    orders(world)
    with pytest.raises(requests.NoPlace):
        requests.ask_export(Selection(), "csv", actor="auditor")
    settings.BPM_EXPORT_TO = str(tmp_path)
    with pytest.raises(NothingSuch):
        requests.ask_export(Selection(definitions=("none",)), "csv", actor="auditor")
    asked = requests.ask_export(
        Selection(definitions=("order",)),
        "csv",
        masking=Masking(names=frozenset({"card"})),
        actor="auditor",
        reason="r",
    )
    assert (asked.state, asked.events) == ("WAITING", 0)
    monkeypatch.setattr(requests, "SIGN", 0.0)
    seen = []
    update = requests._Signs._update
    monkeypatch.setattr(
        requests._Signs,
        "_update",
        lambda self, *said: (update(self, *said), seen.append(requests.get_export(self._id))),
    )
    assert run_job("exports") == {"exports": 1}
    done = requests.get_export(asked.id)
    assert [one.events for one in seen] == sorted(one.events for one in seen) and len(seen) == 2
    assert (done.state, done.events, done.manifest["values"]) == ("DONE", done.manifest["events"], {"masked": ["card"]})
    content = gzip.decompress((tmp_path / done.name).read_bytes())
    assert content.startswith(b"at,type") and b"4111" not in content
    assert requests.run_waiting() == {}
    assert [one.id for one in requests.list_exports()] == [asked.id]


def test_an_export_that_fails_says_why_and_one_that_fell_silent_is_taken_anew(world, tmp_path, settings, monkeypatch):
    orders(world)
    settings.BPM_EXPORT_TO = str(tmp_path)
    first = requests.ask_export(Selection(), "jsonl", actor="auditor")
    with monkeypatch.context() as patch:
        patch.setattr("bpm.audit.export.running.find_histories", broken)
        assert requests.run_waiting() == {"exports_failed": 1}
    assert requests.get_export(first.id).error == "OSError: the disk is full"
    second = requests.ask_export(Selection(), "jsonl", actor="auditor")
    world.ask("UPDATE runtime_export SET state = 'RUNNING', version = version + 1 WHERE state = 'WAITING' RETURNING 1")
    assert requests.run_waiting() == {}
    monkeypatch.setattr(requests, "SILENCE", -1.0)
    assert requests.run_waiting() == {"exports": 1}
    assert requests.get_export(second.id).state == "DONE"


def test_an_instance_that_was_migrated_replays_from_its_export(world, bpm, tmp_path):
    (instance,) = orders(world, 1)
    changed = ORDER.replace(b'id="B"', b'id="B" name="second thoughts"')
    world.deploy(changed)
    engine.migrate_instance(instance, actor="carol", reason="a better model")
    world.work("B", "C")
    assert bpm("replay", "--all", "--verify")[0] == 0
    file, _ = exported(bpm, tmp_path, "jsonl")
    for more in ((), ("--verify",), ("--verify", "--jobs", "2")):
        status, said = bpm("replay", file, *more)
        assert status == 0, said


def test_an_export_may_be_left_to_a_worker(world, bpm, tmp_path, settings):
    orders(world)
    assert bpm("export", "--format", "xes", "--later")[0] == 1
    settings.BPM_EXPORT_TO = str(tmp_path)
    status, said = bpm("export", "--format", "xes", "--later", "--no-variables")
    assert status == 0
    assert requests.run_waiting() == {"exports": 1}
    assert (tmp_path / said.split()[1]).is_file()
