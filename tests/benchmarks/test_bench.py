"""The benchmark works: lines have their shape, nothing is doubled or lost, the page keeps what was not measured. How
fast it was is nobody's business here.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from config.local import ROOT
from tests.benchmarks import page, running, table
from tests.benchmarks.figure import Figure
from tests.benchmarks.lines import Line, measured

SHAPE = ["name", "connections", "value", "unit", "ratio_to_limit", "ratio_to_bare", "n", "repetitions", "spread"]
MARKS = "before\n\n<!-- measured: {0} -->\nold\n<!-- end -->\n\nbetween\n\n<!-- measured: {1} -->\nkept\n<!-- end -->\n"


@pytest.fixture(scope="module")
def lines():
    """What a short run of some figures says."""
    command = [sys.executable, "-m", "tests.benchmarks", "--short", "hot-path", "queue", "contention"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def of(lines, start):
    return [line for line in lines if line["name"].startswith(start)]


def test_a_line_says_what_how_much_and_how_often(lines):
    for line in lines:
        assert list(line)[: len(SHAPE)] == SHAPE
        assert line["value"] > 0 and line["n"] > 0 and line["repetitions"] > 0 and line["connections"] > 0


def test_the_hot_path_stands_beside_the_limit_and_bare_calls(lines):
    found = {(line["name"], line["connections"]): line for line in of(lines, "hot-path")}
    for connections in (1, 2):
        ours = found["hot-path", connections]
        assert ours["ratio_to_limit"] > 0 and ours["ratio_to_bare"] > 0
        assert ours["p50_ms"] <= ours["p95_ms"] <= ours["p99_ms"]
        assert found["hot-path limit", connections]["unit"] == found["hot-path bare", connections]["unit"]
        assert found["hot-path client CPU", connections]["unit"] == "ms/commit"
        assert found["hot-path server CPU", connections]["ratio_to_limit"] is not None


def test_no_task_is_given_twice_and_none_is_lost(lines):
    fetches = of(lines, "fetch")
    assert {line["name"] for line in fetches} == {
        f"fetch {batch}, {spread}" for batch in (1, 50) for spread in ("many instances", "one instance")
    }
    assert all(line["doubled"] == 0 and line["lost"] == 0 for line in fetches)


def test_contended_branches_join_once(lines):
    (contended,) = of(lines, "one instance, all workers")
    assert contended["joins"] == 1 and contended["doubled"] == 0


def test_the_page_has_a_place_for_every_figure(tmp_path):
    copy = tmp_path / "performance.md"
    copy.write_text(page.PAGE.read_text())
    for name in ("machine", *(figure.name for figure in table.FIGURES)):
        page.write(name, f"new text of {name}", copy)
        assert f"<!-- measured: {name} -->\nnew text of {name}\n<!-- end -->" in copy.read_text()
    with pytest.raises(page.NoPlace):
        page.write("nothing", "text", copy)


def test_a_figure_that_fails_stops_nobody_else(tmp_path, capsys):
    def breaks(ground, scale):
        yield Line(name="first", value=1.0, unit="x", n=1)
        raise ValueError("it broke")

    def works(ground, scale):
        yield measured("second", [1.0, 2.0, 3.0], "x", 5)

    to = tmp_path / "page.md"
    to.write_text(MARKS.format("breaks", "other"))
    minutes = {"usual": 1}
    # The page of a run names its machine, which asks the server; there is none here.
    broken = running.measure([Figure("breaks", breaks, minutes), Figure("works", works, minutes)], None, "usual", None)
    assert broken == ["breaks"]
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["name"], line["value"], line["spread"]) for line in said] == [("first", 1, None), ("second", 2, 1)]
    page.write("breaks", page.shown([Line(name="first", value=1.0, unit="x", n=1)], "usual", trouble="it broke"), to)
    assert "| first |" in to.read_text() and "**Not measured to the end:** it broke" in to.read_text()
    assert "\nkept\n" in to.read_text() and to.read_text().startswith("before\n")


def test_a_figure_that_hangs_is_given_up():
    def hangs(ground, scale):
        while True:
            pass
        yield

    assert running.measure([Figure("hangs", hangs, {"short": 0.001})], None, "short", None) == ["hangs"]


def test_names_choose_figures():
    names = [figure.name for figure in table.FIGURES]
    assert [figure.name for figure in table.chosen([])] == names
    assert [figure.name for figure in table.chosen(["queue", "hot-path"])] == ["queue", "hot-path"]
    assert [figure.name for figure in table.chosen([], after=names[-2])] == names[-2:]
    with pytest.raises(KeyError):
        table.chosen(["nothing"])
