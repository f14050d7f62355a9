"""bpm replay, bpm check-invariants and bpm compare over the live database."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from bpm import engine
from bpm.audit import checking, replaying
from bpm.jobs.schedule import run_job
from bpm.store import histories, reading
from tests.database.audit.conftest import ORDER
from tests.database.engine.drawing import end, flows, model, service, start


def some(world, number: int = 3) -> list:
    world.deploy(ORDER)
    found = [world.start("order", variables={"n": n, "price": 12.5}) for n in range(number)]
    world.work("A", worker="ada", paid=True)
    world.work("B", "C")
    return found


def test_all_instances_replay(world, bpm):
    done = some(world)
    waiting = world.start("order")
    status, said = bpm("replay", "--all", "--verify")
    assert status == 0, said
    assert "4 instances replayed" in said and "0 with problems" in said
    assert bpm("replay", "--instance", done[0])[0] == 0
    assert bpm("replay", "--definition", "order")[1].startswith("4 instances")
    assert world.state(done[0]) == "COMPLETED" and world.state(waiting) == "RUNNING"


def test_two_processes_share_the_work(world, bpm):
    some(world, 5)
    status, said = bpm("replay", "--all", "--jobs", 2)
    assert status == 0, said
    assert "5 instances replayed" in said


def test_pages_of_commits_are_the_same_history(world, monkeypatch):
    (instance, _) = some(world, 2)
    since = histories.started(instance)
    whole = reading.history(instance)
    for size in (1, 2, 3, 500):
        monkeypatch.setattr(histories, "PAGE", size)
        paged = list(histories.stream_history(instance, since))
        assert paged == whole
    assert [commit.command for commit in whole if commit.version is None] == ["FetchAndLock"] * 2


@pytest.mark.parametrize(
    ("spoiling", "code"),
    [
        ("UPDATE tokens SET node_id = 'nowhere' WHERE ordinal = 1", "rows-differ"),
        ("UPDATE variables SET value = '7' WHERE name = 'n'", "rows-differ"),
        ("DELETE FROM token_events WHERE event_type = 'TOKEN_FORKED'", "fork-mismatch"),
        ("UPDATE token_events SET to_state = 'ACTIVE' WHERE event_type = 'TOKEN_COMPLETED'", "open-after-end"),
        ("UPDATE token_events SET to_state = 'DONE' WHERE event_type = 'TOKEN_COMPLETED'", "broken-history"),
        ("DELETE FROM runtime_commit WHERE version = 2", "version-gap"),
        ("UPDATE runtime_state_command SET value = '7' WHERE name = 'n'", "rows-differ"),
    ],
)
def test_what_does_not_hold_is_found(world, bpm, tamper, spoiling, code):
    some(world, 1)
    assert bpm("check-invariants", "--all")[0] == 0
    tamper(spoiling)
    status, said = bpm("check-invariants", "--all")
    assert status == 1
    assert code in said, said


def test_a_violation_is_noted_once_in_history(world, bpm, tamper):
    (instance,) = some(world, 1)
    tamper("UPDATE tokens SET step = 'leave' WHERE ordinal = 1")
    assert bpm("check-invariants", "--all", "--no-note")[0] == 1
    assert checking.violations() == 0
    assert checking.check_sample() == {"violations": 1}
    assert checking.check_sample() == {"violations": 0}
    assert bpm("check-invariants", "--sample", 10)[0] == 1
    assert checking.violations() == 1
    ((payload,),) = world.ask("SELECT payload::text FROM engine_events WHERE event_type = 'ENGINE_VIOLATION'")
    noted = json.loads(payload)
    assert noted["instance"] == str(instance)
    assert (noted["code"], noted["rule"]) == ("rows-differ", replaying.CODES["rows-differ"])


def test_a_violation_shows_in_the_metric_and_as_a_red_mark(world, tamper, django_user_model):
    (instance,) = some(world, 1)
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("ada", "ada@example.org", "a fine password"))
    pages = [reverse("admin:index"), reverse("cockpit:instance", args=[instance])]

    def seen() -> list[bool]:
        metric = "tokentrail_violations 1.0" in Client().get("/metrics").content.decode()
        return [metric, *("tt-violated" in client.get(page).content.decode() for page in pages)]

    assert seen() == [False] * 3
    tamper("UPDATE tokens SET step = 'leave' WHERE ordinal = 1")
    assert run_job("invariants") == {"violations": 1}
    assert seen() == [True] * 3


def test_a_check_holds_a_page_of_a_large_history_and_no_more(world, monkeypatch):
    (instance,) = some(world, 1)
    monkeypatch.setattr(histories, "PAGE", 2)
    held = []
    page_of = histories.query

    def counted(channel, name, arguments):
        rows = page_of(channel, name, arguments)
        held.append(len(rows) if name == "own_commits" else 0)
        return rows

    monkeypatch.setattr(histories, "query", counted)
    (outcome,) = replaying.replay_stored([instance])
    assert outcome.problems == () and outcome.commits > 2
    assert max(held) == 2


def test_time_is_bounded(world, bpm, monkeypatch):
    some(world, 3)
    monkeypatch.setattr("bpm.audit.histories.histories.pages_of_threads", one_by_one)
    assert "1 instances checked" in bpm("check-invariants", "--all", "--seconds", 0.000001)[1]


def one_by_one(**_):
    for (id,) in engine_ids():
        yield [id]


def engine_ids():
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT thread_id FROM runtime_thread_version")
        return cursor.fetchall()


def test_instances_that_are_swept_replay_from_history_alone(world, bpm):
    some(world, 2)
    world.ask("SELECT bpm_move_clock(interval '30 days')")
    assert engine.sweep_ended()["swept"] == 2
    status, said = bpm("replay", "--all", "--verify")
    assert (status, said.split(",")[0]) == (0, "2 instances replayed")


def test_another_version_that_decides_otherwise_is_reported(world, bpm, tmp_path):
    some(world, 2)
    same = tmp_path / "same.bpmn"
    same.write_bytes(ORDER)
    assert bpm("compare", "--definition", "order", "--with-model", same)[0] == 0
    assert bpm("compare", "--all")[0] == 0
    other = tmp_path / "other.bpmn"
    other.write_bytes(model(start(), service("A"), end(), flows("start -> A -> end"), id="order"))
    status, said = bpm("compare", "--definition", "order", "--with-model", other)
    assert status == 1
    assert said.count("decided-otherwise") == 3 and "CompleteExternalTask" in said
    world.deploy(other.read_bytes())
    assert bpm("compare", "--definition", "order", "--with-version", 1)[0] == 0
    assert bpm("compare", "--definition", "order", "--with-version", 2)[0] == 1
    assert bpm("compare", "--definition", "order", "--with-version", 9)[0] == 2


def test_what_there_is_none_of_is_said(world, bpm, tmp_path):
    assert bpm("replay", "--definition", "nothing") == (2, "there is no process definition nothing")
    status, said = bpm("replay", "--instance", "00000000-0000-7000-8000-000000000000")
    assert status == 1 and "unknown-instance" in said
    assert bpm("replay", tmp_path / "none.jsonl")[0] == 2
    (tmp_path / "bad.jsonl").write_text('{"a": 1}\n')
    status, said = bpm("replay", tmp_path / "bad.jsonl")
    assert status == 1 and "unreadable" in said
