"""The command `bpm check`: exit status, last line, JSON, scenarios that `bpm test` runs; its page; public models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bpm.checker import Bounds
from bpm.management.bpm.check import Checked, check_file
from tests.pure.checker.models import BAD, GOOD
from tests.pure.scenarios.corpus import corpus
from tests.pure.scenarios.writing import end, gateway, process, start

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "checking.md").read_text()
PARCEL = process(
    "parcel", start("start"), gateway("exclusive", "how", "parcel_4"),
    '<userTask id="Label"/>', '<userTask id="Pack" name="Pack it"/>', '<parallelGateway id="all" name="All done"/>',
    end("end"), "start > how > Label?${express} > all", "how > Pack > all > end",
)  # fmt: skip


def bpm(*arguments: object) -> tuple[int, list[str], str]:
    """Exit status, lines on stdout, text on stderr, under an empty environment."""
    done = subprocess.run(
        [sys.executable, ROOT / "manage.py", "bpm", *map(str, arguments)],
        cwd=ROOT, env={}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_the_page_shows_what_the_command_says(tmp_path):
    (tmp_path / "parcel.bpmn").write_text(PARCEL)
    status, lines, _ = bpm("check", tmp_path / "parcel.bpmn")
    assert status == 1
    assert "\n".join(lines).replace(f"{tmp_path}/", "") in PAGE


def test_scenarios_are_written_and_show_what_was_found(tmp_path):
    for number, (_, xml) in enumerate(BAD.values()):
        (tmp_path / f"bad{number}.bpmn").write_text(xml)
    (tmp_path / "tests").mkdir()
    status, lines, _ = bpm("check", tmp_path, "--json", "--scenarios", tmp_path / "tests" / "ways.yaml")
    reports = [json.loads(line) for line in lines[:-1]]
    assert status == 1
    assert len(reports) == len(BAD)
    scenarios = sum(finding["scenario"] is not None for report in reports for finding in report["findings"])

    status, lines, _ = bpm("test", tmp_path / "tests")
    assert (status, lines[-1]) == (0, f"{scenarios} passed, 0 failed")


def test_a_sound_process_passes_and_a_warning_fails_where_it_should(tmp_path):
    (tmp_path / "good.bpmn").write_text(GOOD["fork and join"])
    status, lines, _ = bpm("check", tmp_path, "--strict", "--jobs", "2")
    assert (status, lines[-1][:43]) == (0, "1 checked, 0 failed, 0 refused, 0 not compl")

    (tmp_path / "warned.bpmn").write_text(BAD["no flow for some data"][1])
    assert bpm("check", tmp_path, "--strict")[0] == 1


def test_what_cannot_be_read_or_run_is_said(tmp_path):
    assert bpm("check", tmp_path / "none.bpmn")[0] == 2
    (tmp_path / "broken.bpmn").write_text("<definitions/>")
    status, lines, said = bpm("check", tmp_path)
    assert (status, lines[-1][:34]) == (1, "0 checked, 0 failed, 1 refused, 0 ")
    assert "not-bpmn" in said


@pytest.mark.parametrize("source", ["prod_hmcts_civil", "lib_bpmn_engine_go", "betsy"])
def test_public_models_are_checked_within_bounds(source):
    files = sorted(corpus(source).rglob("*.bpmn"))[:80]
    checked: list[Checked] = [check_file(file, Bounds(states=200)) for file in files]
    reports = [report for one in checked for report in one.reports]
    assert reports
    assert all(report.states <= 200 for report in reports)


def test_models_in_production_have_no_error():
    files = sorted(corpus("prod_hmcts_civil").rglob("*.bpmn"))
    reports = [report for file in files for report in check_file(file, Bounds()).reports]
    assert [str(f) for report in reports for f in report.findings if f.severity == "error"] == []
    assert all(report.complete for report in reports)
