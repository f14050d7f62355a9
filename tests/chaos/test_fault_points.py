"""kill -9 before and after every round trip of every verb: nothing is lost, nothing is doubled."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from bpm import engine
from tests.chaos.ground import Told, Zygote
from tests.chaos.stories import STORIES

# What asks, listens or works on values: it changes nothing.
NO_VERBS = {
    "announce", "checked", "dumps", "evaluate_decision", "find_decision", "find_definition", "forgotten_tasks", "loads",
    "read_file", "register", "task_headers", "topics_beside", "unregister",
}  # fmt: skip
# Verbs that another verb of the stories is made of.
PARTS = {"fire_timer": "fire_due_timers"}
# The short form takes every so many points of a story, beginning at another one in each.
EACH = 8


@pytest.fixture(scope="module")
def told(ground) -> Any:
    with ground.zygote("stories") as zygote:
        zygote.call("tests.chaos.stories:deploy")
        yield zygote


def tell(zygote: Zygote, name: str, prefix: str, ledger: Path, *, point: int, log: str = "") -> Told:
    environment = {"TOKENTRAIL_FAULT_POINT": str(point), "TOKENTRAIL_FAULT_LOG": log}
    return zygote.run("tests.chaos.stories:tell", name=name, prefix=prefix, ledger=str(ledger), environment=environment)


@pytest.mark.parametrize("form", ["some", pytest.param("all", marks=pytest.mark.chaos)])
@pytest.mark.parametrize("name", STORIES)
def test_killed_at_any_point_a_story_ends_as_if_nothing_had_been(told, record, tmp_path, name, form):
    log, ledger = tmp_path / "points", tmp_path / "ledger"
    again = {"function": "tests.chaos.stories:tell_again", "name": name, "ledger": str(ledger)}
    prefix = f"{form}_{name}_0_"
    assert "returned" in tell(told, name, prefix, ledger, point=0, log=str(log)).said
    undisturbed = told.call(prefix=prefix, **again)
    assert undisturbed["problems"] == []
    assert {one["state"] for one in undisturbed["footprint"]} <= {"COMPLETED", "CANCELLED"}
    points = log.read_text().splitlines()
    chosen = range(1, len(points) + 1) if form == "all" else range(1 + len(name) % EACH, len(points) + 1, EACH)
    wrong, instances = [], 0
    for point in chosen:
        ledger.unlink(missing_ok=True)
        prefix = f"{form}_{name}_{point}_"
        died = tell(told, name, prefix, ledger, point=point)
        # What the schedulers of a story find to do differs, and so how many points they reach.
        assert died.signal == signal.SIGKILL or "returned" in died.said
        disturbed = told.call(prefix=prefix, **again)
        instances += disturbed["instances"]
        if disturbed != undisturbed:
            wrong.append((point, points[point - 1], disturbed))
    record.lines.append(f"{name}: {len(points)} fault points, killed at {len(chosen)}, {len(wrong)} wrong")
    if form == "all":
        record.add("points", faults=len(chosen), instances=instances, lost=len(wrong), doubled=0, of=len(STORIES))
    assert wrong == [], undisturbed


def test_the_stories_tell_every_verb(told, tmp_path):
    verbs: set[str] = set()
    for name in STORIES:
        verbs |= set(tell(told, name, f"verbs_{name}_", tmp_path / "ledger", point=0).said["returned"]["verbs"])
    there = {name for name in engine.__all__ if name[0].islower()} - NO_VERBS
    assert {PARTS.get(verb, verb) for verb in there} == verbs


def test_nobody_dies_in_a_database_that_is_not_for_tests(ground, told, tmp_path):
    ground.execute("ALTER TABLE tokentrail_test_database RENAME TO not_a_mark")
    try:
        told_off = tell(told, "talk", "unmarked_", tmp_path / "ledger", point=1)
    finally:
        ground.execute("ALTER TABLE not_a_mark RENAME TO tokentrail_test_database")
    assert told_off.signal == 0
    assert "not marked as one for tests" in told_off.said["raised"]
