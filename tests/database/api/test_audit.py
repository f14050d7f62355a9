"""What auditors ask over HTTP: exports, seals, archives, violations."""

from __future__ import annotations

import gzip

from django.test import Client

from bpm.audit import checking, sealing
from bpm.audit.export import requests
from bpm.audit.replaying import Outcome, Problem

UNKNOWN = "01a2289e-a924-7e58-8969-e0c400000000"


def test_an_export_is_asked_for_carried_out_and_fetched(auditor, operator, worker, order, settings, tmp_path):
    settings.BPM_EXPORT_TO = str(tmp_path)
    id = operator.post("/instances", {"process": order, "variables": {"card": "4711"}}).body["instance_id"]
    asked = auditor.post("/exports", {"format": "csv", "instances": [id], "mask": ["card"], "reason": "yearly audit"})
    assert (asked.status, asked.body["state"], asked.body["asked_by"]) == (202, "WAITING", "token:tests-auditor")
    path = f"/exports/{asked.body['id']}"
    assert auditor.get(f"{path}/file").code == "wrong_state"

    requests.run_waiting()
    done = auditor.get(path).body
    assert (done["state"], done["selection"]) == ("DONE", {"instances": [id]})
    assert done["manifest"]["events"] == done["events"] > 0
    assert [one["id"] for one in auditor.get("/exports").body] == [done["id"]]
    answer = Client().get(f"/api{path}/file", headers={"Authorization": f"Bearer {auditor.token}"})
    text = gzip.decompress(b"".join(answer.streaming_content)).decode()
    assert id in text
    assert "4711" not in text
    assert worker.get("/exports").status == 403


def test_an_export_that_cannot_be_is_refused(auditor, settings, tmp_path):
    settings.BPM_EXPORT_TO = None
    assert auditor.post("/exports", {"format": "csv"}).code == "not_set_up"
    settings.BPM_EXPORT_TO = str(tmp_path)
    assert auditor.post("/exports", {"format": "csv", "definitions": ["nothing"]}).code == "invalid"
    assert auditor.post("/exports", {"format": "pdf"}).code == "invalid"
    assert auditor.get(f"/exports/{UNKNOWN}").code == "not_found"


def test_seals_are_listed_and_verified(auditor, operator, worker, order):
    assert auditor.get("/seals").body["head"] is None
    operator.post("/instances", {"process": order})
    sealing.seal()
    found = auditor.get("/seals").body
    assert found["head"]["hash"] == found["items"][0]["hash"]
    assert found["delay_seconds"] >= 0
    verified = auditor.post("/seals/verify", {})
    assert (verified.body["intact"], verified.body["seals"]) == (True, len(found["items"]))
    assert worker.post("/seals/verify", {}).status == 403


def test_archives_and_violations_are_listed(auditor, operator, order):
    assert auditor.get("/archives").body == []
    id = operator.post("/instances", {"process": order}).body["instance_id"]
    broken = Problem(code="rows-differ", message="token 1: WAITING, history says ACTIVE", sequence=7)
    checking.note(Outcome(instance=id, definition=order, problems=(broken,)))
    (found,) = auditor.get(f"/violations?instance_id={id}").body["items"]
    assert (found["code"], found["sequence"], found["instance_id"]) == ("rows-differ", 7, id)
    assert auditor.get(f"/violations?instance_id={UNKNOWN}").body["items"] == []
