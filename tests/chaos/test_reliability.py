"""The page that the chaos tests write."""

from __future__ import annotations

from tests.chaos.reliability import HEAD, PAGE, ROWS, Record


def test_a_row_is_written_when_all_its_parts_have_run(tmp_path):
    page = tmp_path / "docs" / "reliability.md"
    record = Record()
    record.add("points", faults=3, instances=3, lost=0, doubled=0, of=2)
    record.write(page)
    assert not page.exists()
    record.add("points", faults=4, instances=5, lost=1, doubled=0, of=2)
    record.add("race", faults=0, instances=1, lost=0, doubled=0)
    record.write(page)
    written = page.read_text()
    assert f"| {ROWS['points']} | 7 | 8 | 1 | 0 |" in written
    again = Record()
    again.add("storm", faults=9, instances=500, lost=0, doubled=0, note="12 calls of handlers")
    again.write(page)
    kept = [line for line in written.splitlines() if line.startswith("| kill") or line.startswith("| 16")]
    lines = page.read_text().removeprefix(HEAD).splitlines()
    assert [lines[0], lines[2]] == kept
    assert f"| {ROWS['storm']}; 12 calls of handlers | 9 | 500 | 0 | 0 |" in lines[1]


def test_the_page_says_that_nothing_was_lost():
    rows = [line.strip("|").split("|") for line in PAGE.read_text().removeprefix(HEAD).splitlines()]
    assert len(rows) == len(ROWS)
    assert {(lost.strip(), doubled.strip()) for *_, lost, doubled, _ in rows} == {("0", "0")}
