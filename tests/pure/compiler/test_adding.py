"""docs/adding-an-element.md shows the code as it is, and names what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "adding-an-element.md").read_text(encoding="utf-8")
EXCERPTS = re.findall(r"```(?:python|text)\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("file", "excerpt"), EXCERPTS, ids=[file for file, _ in EXCERPTS])
def test_an_excerpt_stands_in_its_file(file, excerpt):
    assert excerpt in (ROOT / file).read_text(encoding="utf-8")


def test_every_file_that_is_named_exists():
    named = set(re.findall(r"`((?:bpm|tests|docs)/[\w/.]+)`", PAGE))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("name", "file"), re.findall(r"`([A-Z_]+)` in `([\w/.]+)`", PAGE) + re.findall(r"`([A-Z_]+)` \(`([\w/.]+)`\)", PAGE)
)
def test_every_table_that_is_named_stands_in_its_file(name, file):
    assert re.search(rf"^{name}\b", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
