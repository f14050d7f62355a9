"""Masked values are in no byte of any format, wherever the model has put them, and what is left still replays."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from uuid import UUID

import pytest
from pyarrow import parquet

from bpm import engine
from bpm.audit.export.masking import MASK, Mask, Masking
from bpm.audit.export.running import FORMATS
from bpm.replay import Recorded, ReplayEngine, read_histories
from bpm.store.ids import NIL
from bpm.store.reading import Logged
from tests.database.decisions.conftest import rule
from tests.database.engine.drawing import catch, end, flows, message, model, service, start, throw, user
from tests.histories.record import HERE
from tests.pure.decisions.writing import decision, file, table

SECRET, ITEM, NUMBER = "SECRET-7351", "SECRET-item", 735182
REASON = f"asked for by {SECRET}"
MASKED = ("card", "cards", "round", "number", "verdict")
ZEEBE = 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
LOOP = (
    '<bpmn:multiInstanceLoopCharacteristics camunda:collection="${names}" camunda:elementVariable="n">'
    '<bpmn:loopDataOutputRef>cards</bpmn:loopDataOutputRef><bpmn:outputDataItem name="round"/>'
    "</bpmn:multiInstanceLoopCharacteristics>"
)
MESSAGES = "".join(
    f'<bpmn:message id="{name}" name="{name}"><bpmn:extensionElements>'
    f'<zeebe:subscription {ZEEBE} correlationKey="=card"/></bpmn:extensionElements></bpmn:message>'
    for name in ("told", "paid")
)
PARTS = (
    start(),
    rule("J", 'camunda:decisionRef="judge" camunda:resultVariable="verdict"'),
    service("L", inner=LOOP),
    user("U", 'camunda:assignee="${card}" camunda:candidateUsers="of ${card}"'),
    throw("T", message("told")),
    catch("W", message("paid")),
    service("A"),
    end(),
    flows("start -> J -> L -> U -> T -> W -> A -> end"),
)
JUDGE = file(decision("judge", table(["card", "number"], ["verdict"], [["-", "-", "card"]])))


@pytest.fixture
def secretive(world) -> UUID:
    """An instance that has its secrets wherever a model, a worker or an operator can put them."""
    engine.deploy({"p.bpmn": model(*PARTS, before=MESSAGES), "judge.dmn": JUDGE}, actor="tester")
    instance = world.start(
        variables={"card": SECRET, "cards": [ITEM], "number": NUMBER, "names": ["a", "b"], "deep": [{"card": SECRET}]},
        business_key=f"B {SECRET}",
        key=f"key of {SECRET}",
        reason=REASON,
    )
    for task in engine.fetch_and_lock(["L"], worker="ada", max=2):
        engine.complete_task(task.id, worker="ada", local_variables={"round": f"{ITEM} {task.id}"})
    engine.complete_user_task(world.only("user_tasks", instance), actor="bob")
    engine.correlate("paid", actor="carol", correlation={"card": SECRET}, variables={"card": SECRET, "number": NUMBER})
    for left in (1, 0):
        (task,) = engine.fetch_and_lock(["A"], worker="ada", max=1)
        engine.fail_task(task.id, worker="ada", message=f"{SECRET} is refused", details=f"{NUMBER}", retries=left)
    assert world.where(instance) == ["A"]
    return instance


def exported(bpm, tmp_path, format: str, *more: str) -> str:
    """The file's content, unpacked."""
    path = tmp_path / f"out{FORMATS[format].suffix}"
    status, said = bpm("export", "--format", format, "--to", path, *more)
    assert status == 0, said
    return str(parquet.read_table(path).to_pylist()) if format == "parquet" else path.read_text()


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_what_is_masked_is_in_no_byte(secretive, bpm, tmp_path, format):
    open_ = exported(bpm, tmp_path, format)
    assert SECRET in open_ or format in ("ocel", "xes")
    named = [part for name in MASKED for part in ("--mask", name)]
    for more in (named, ["--no-variables"]):
        said = exported(bpm, tmp_path, format, *more)
        if "--no-variables" in more:
            said = said.replace(REASON, "")  # why somebody did something is no variable
        assert [secret for secret in (SECRET, ITEM, str(NUMBER), SECRET[3:-1]) if secret in said] == []
        assert str(secretive) in said and "ada" in said and "bob" in said
        if format == "jsonl":
            assert bpm("replay", tmp_path / f"out{FORMATS[format].suffix}")[0] == 0
    if format == "csv":
        assert exported(bpm, tmp_path, format, "--mask", "other") == open_


def test_the_secret_stood_in_all_these_places(secretive, bpm, tmp_path):
    """What the test above looks for is there when nothing is masked."""
    lines = [json.loads(line) for line in exported(bpm, tmp_path, "jsonl").splitlines()]
    events = [event for line in lines for event in line.get("events", ())]

    def payloads(type: str) -> str:
        found = [event.get("payload") for event in events if event["type"] == type]
        assert found, type
        return json.dumps(found)

    assert f'["card", "{SECRET}"]' in payloads("DECISION_EVALUATED")
    assert f'"correlation": "{SECRET}"' in payloads("TICKET_OPENED")
    assert f'"correlation": "{SECRET}"' in payloads("MESSAGE_SENT")
    assert f'"assignee": "{SECRET}"' in payloads("USER_TASK_CREATED")
    assert f"of {SECRET}" in payloads("USER_TASK_CREATED")
    assert f'"business_key": "B {SECRET}"' in payloads("INSTANCE_STARTED")
    assert f"{SECRET} is refused" in payloads("INCIDENT_OPENED") and str(NUMBER) in payloads("TASK_FAILED")
    assert '"cards[1]"' in payloads("VARIABLE_SET")
    assert any(line.get("key") == f"key of {SECRET}" for line in lines)
    assert any(line.get("stated_reason") == REASON for line in lines)


def logged(commit: Recorded) -> Logged:
    said = {field.name: getattr(commit, field.name) for field in fields(Recorded)}
    return Logged(
        **said, thread_id=NIL, run_id=NIL, definition_id=None, actor="a", reason=None, key=None, caused_by=None
    )


@pytest.mark.parametrize("path", sorted(HERE.glob("*/*.jsonl")), ids=lambda path: path.stem)
def test_what_is_left_of_every_element_replays(path):
    with path.open() as lines:
        for history in read_histories(lines):
            commits = [logged(commit) for commit in history.commits]
            names = {
                event.payload["name"] for commit in commits for event in commit.events if event.type == "VARIABLE_SET"
            }
            for masking in (Masking(names=frozenset(names)), Masking(everything=True)):
                mask = Mask(masking)
                mask.note(commits)
                result = ReplayEngine(history.process, history.others).replay(map(mask.commit, commits))
                assert result.violations == (), path.stem
                assert not names or set(result.variables.values()) <= {None, MASK}


def test_short_values_are_masked_where_they_are_the_whole():
    mask = Mask(Masking(names=frozenset({"pin", "yes"})))
    variables = {"pin": 12, "yes": True, "other": {"pin": "x"}}

    def commit(**arguments: object) -> Logged:
        at = datetime(2026, 1, 1, tzinfo=UTC)
        return logged(Recorded(sequence=1, version=1, command="StartInstance", at=at, arguments=arguments))

    mask.note([commit(variables=variables)])
    hidden = {"pin": MASK, "yes": MASK, "other": {"pin": MASK}}
    assert mask.commit(commit(variables=variables)).arguments == {"variables": hidden}
    assert mask.commit(commit(business_key="12 of 12")).arguments == {"business_key": "12 of 12"}
    assert mask.commit(commit(business_key="12")).arguments == {"business_key": MASK}
