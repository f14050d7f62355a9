"""The command `bpm test`: exit status, last line, JSON; it needs no environment and no server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pure.scenarios.writing import end, person, process, start, work, write

ROOT = Path(__file__).resolve().parents[3]
MODEL = process("p", start("s"), person("A"), end("e"), "s > A > e")


def bpm_test(*arguments: object) -> tuple[int, list[str], str]:
    """Exit status, lines on stdout, text on stderr, under an empty environment."""
    done = subprocess.run(
        [sys.executable, "manage.py", "bpm", "test", *map(str, arguments)],
        cwd=ROOT,
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.fixture
def file(tmp_path):
    scenario = """
        start: {process: p}
        expect: {waiting: [A]}
        ---
        start: {process: p}
        auto: [user_task]
        expect: {ended: true}
    """
    return write(tmp_path, scenario, p=MODEL)


def test_all_pass(file):
    assert bpm_test(file) == (0, ["2 passed, 0 failed"], "")
    status, lines, _ = bpm_test(file.parent, "--verbose", "--jobs", "2")
    assert status == 0
    assert [line[:4] for line in lines] == ["ok  ", "ok  ", "2 pa"]


def test_one_fails(file):
    file.write_text(file.read_text().replace("ended: true", "ended: false"))
    status, lines, _ = bpm_test(file, "--json")
    assert status == 1
    assert [json.loads(line)["passed"] for line in lines[:-1]] == [True, False]
    assert lines[-1] == "1 passed, 1 failed"


def test_a_file_cannot_be_read(file):
    other = file.parent / "broken.yaml"
    other.write_text("a: [")
    status, lines, complaint = bpm_test(file.parent, "nowhere.yaml")
    assert (status, lines) == (2, ["2 passed, 0 failed"])
    assert "cannot read nowhere.yaml: there is no such file or folder" in complaint
    assert "broken.yaml: this is no YAML" in complaint


def test_only_some(file):
    assert bpm_test(file, "--only", "scenario 2")[1] == ["1 passed, 0 failed"]


def test_help_teaches():
    status, lines, _ = bpm_test("--help")
    assert status == 0
    assert "A short scenario:" in lines


def test_what_no_model_has_is_noted_and_fails_nothing(tmp_path):
    model = process("p", start("s"), work("A", "letters"), end("e"), "s > A > e")
    scenario = """
        start: {process: p}
        mocks: {B: {}, "topic:leters": {}}
        steps: [{expect: {not_passed: [C]}}, {expect_error: {step: {complete: {activity: D}}}}]
        expect: {waiting: [A], trace: []}
    """
    file = write(tmp_path, scenario, p=model)
    status, lines, _ = bpm_test(file)
    assert status == 0
    assert [line.split("note")[1].strip() for line in lines[1:-1]] == [
        "mocks: no model has B",
        "mocks: no task of the models has the topic leters",
        "step 1.not_passed: no model has C",
    ]
    (told, _) = bpm_test(file, "--json")[1]
    assert json.loads(told)["passed"] is True and len(json.loads(told)["notes"]) == 3


def test_a_failure_says_which_incidents_are_open(tmp_path):
    model = process("p", start("s"), work("A"), end("e"), "s > A > e")
    scenario = """
        start: {process: p}
        mocks: {A: {fail: {message: the printer is on fire, retries: 0}}}
        expect: {ended: true}
    """
    status, lines, _ = bpm_test(write(tmp_path, scenario, p=model))
    assert status == 1
    assert "       incident  A: the printer is on fire" in lines
