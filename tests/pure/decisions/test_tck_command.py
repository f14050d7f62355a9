"""`manage.py bpm tck`: JSON lines, a summary, an exit status."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.pure.scenarios.corpus import corpus

MODEL = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" namespace="kit" name="kit">
  <inputData id="i" name="n"><variable name="n" typeRef="number"/></inputData>
  <decision id="d" name="double"><variable name="double"/>
    <informationRequirement><requiredInput href="#i"/></informationRequirement>
    <literalExpression><text>n * 2</text></literalExpression></decision>
</definitions>"""

CASES = """<testCases xmlns="http://www.omg.org/spec/DMN/20160719/testcase"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <modelName>0001-kit.dmn</modelName>
  {cases}
</testCases>"""

CASE = """<testCase id="{id}"><inputNode name="n"><value xsi:type="xsd:decimal">{given}</value></inputNode>
  <resultNode name="double"><expected><value xsi:type="xsd:decimal">{expected}</value></expected></resultNode>
</testCase>"""


@pytest.fixture
def kit(tmp_path: Path):
    """kit((id, given, expected), ...) -> a folder of the kit with these cases."""

    def written(*cases: tuple[str, str, str]) -> Path:
        folder = tmp_path / "0001-kit"
        folder.mkdir()
        (folder / "0001-kit.dmn").write_text(MODEL)
        said = "".join(CASE.format(id=id, given=given, expected=expected) for id, given, expected in cases)
        (folder / "0001-kit-test-01.xml").write_text(CASES.format(cases=said))
        return tmp_path

    return written


def tck(*arguments: str) -> tuple[int, list[str]]:
    out = StringIO()
    try:
        call_command("bpm", "tck", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue().splitlines()
    return 0, out.getvalue().splitlines()


def test_one_object_a_result_and_a_last_line(kit):
    status, lines = tck(str(kit(("001", "2", "4"), ("002", "2.5", "5.0"))))
    assert status == 0
    assert lines[-1] == "2 passed, 0 failed"
    assert [json.loads(line) for line in lines[:-1]] == [
        {"folder": "0001-kit", "case": "001", "decision": "double", "passed": True},
        {"folder": "0001-kit", "case": "002", "decision": "double", "passed": True},
    ]


def test_a_failure_says_what_was_expected_and_found(kit):
    status, lines = tck(str(kit(("001", "2", "4"), ("002", "2", "5"))), "--failed")
    assert status == 1
    assert lines[-1] == "1 passed, 1 failed"
    (failure,) = [json.loads(line) for line in lines[:-1]]
    assert (failure["case"], failure["expected"], failure["found"]) == ("002", "5", "4")


def test_nothing_to_run_is_said(tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(CommandError) as refused:
            tck(str(path))
        assert refused.value.returncode == 2


def test_the_kit_itself():
    status, lines = tck(str(corpus("dmn_tck") / "TestCases" / "compliance-level-2"))
    assert (status, lines[-1]) == (0, "126 passed, 0 failed")
