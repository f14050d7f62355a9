"""What the documents name exists: commands, settings, metrics, tests, functions, and excerpts of files."""

from __future__ import annotations

import ast
import re
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

from bpm.management.bpm.registration import subcommands
from tests.documents import Block, blocks
from tests.house.test_code import ROOT, tracked

README = ROOT / "README.md"
FIRST_HOUR = ROOT / "docs" / "first-hour.md"
AUDIT = ROOT / "docs" / "audit.md"
OPERATIONS = ROOT / "docs" / "operations.md"
SHOP = ROOT / "examples" / "shop"
LAWS = 8


def tables(document: Path, heading: str) -> list[list[str]]:
    """The rows of the tables under a heading, without their heads."""
    inside, rows = False, []
    for line in document.read_text().splitlines():
        if line.startswith("#"):
            inside = line.lstrip("# ") == heading
        elif inside and line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [row for row in rows[1:] if not set(row[0]) <= {"-"}]


def marked(text: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", text)


def defined(file: Path) -> set[str]:
    """Functions, methods and classes of a module; functions of an SQL file."""
    if file.suffix == ".sql":
        return set(re.findall(r"CREATE (?:OR REPLACE )?FUNCTION (\w+)", file.read_text()))
    nodes = ast.walk(ast.parse(file.read_text()))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def excerpts() -> list[Block]:
    return [block for block in blocks(README) if block.heading == "In your Django project" and block.file]


@pytest.mark.parametrize("block", excerpts(), ids=lambda block: block.text.split("\n")[0].strip())
def test_the_readme_shows_the_shop_as_it_is(block):
    assert block.text in (SHOP / block.file).read_text()


def test_the_readme_shows_something_of_every_part_of_the_shop():
    files = {block.file for block in excerpts()}
    assert files == {f"shop/{name}.py" for name in ("settings", "celery", "urls")} | {
        "orders/handlers.py",
        "orders/placing.py",
    }


def test_the_readme_names_subcommands_that_exist():
    named = {name for _, use in tables(README, "Commands") for name in marked(use)}
    assert len(named) > 10
    assert named - {f"bpm {subcommand.name}" for subcommand in subcommands()} == set()


@pytest.mark.parametrize("document", tracked(".md"), ids=lambda document: document.name)
def test_python_in_the_documents_can_be_read_and_imports_what_there_is(document):
    for block in blocks(document):
        if block.language == "python":
            tree = ast.parse(textwrap.dedent(block.text))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "bpm":
                    missing = [n.name for n in node.names if not hasattr(import_module(node.module), n.name)]
                    assert missing == [], f"{node.module} has no {missing}"


def test_the_commands_way_is_the_codes():
    steps = tables(FIRST_HOUR, "A command's way")
    assert [step for step, *_ in steps] == [str(number) for number in range(1, len(steps) + 1)]
    for _, file, name, _ in steps:
        assert marked(name)[0] in defined(ROOT / marked(file)[0]), f"{file} has no {name}"


def test_every_law_is_proved_by_tests_that_exist():
    laws = tables(FIRST_HOUR, "The laws, and what proves each")
    assert [number for number, _, _ in laws] == [str(number) for number in range(1, LAWS + 1)]
    for number, sentence, proofs in laws:
        assert sentence.endswith(".")
        assert marked(proofs), f"law {number} is not proved"
        for proof in marked(proofs):
            file, _, test = proof.partition("::")
            assert test in defined(ROOT / file), f"law {number}: there is no {proof}"


def test_every_claim_about_history_is_proved_by_tests_that_exist():
    claims = tables(AUDIT, "Claim and proof")
    assert claims
    for claim, proofs in claims:
        assert marked(proofs), f"{claim}: it is not proved"
        for proof in marked(proofs):
            file, _, test = proof.partition("::")
            assert test in defined(ROOT / file), f"{claim}: there is no {proof}"


def test_places_that_the_first_hour_names_exist():
    for _, where in tables(FIRST_HOUR, "Where things are"):
        for place in marked(where):
            assert place.startswith("manage.py") or (ROOT / place).exists(), place


def test_every_setting_is_explained():
    read = re.compile(r"""settings(?:, "|\.)(BPM_[A-Z_]+)""")
    used = {
        name for file in tracked(".py") if file.is_relative_to(ROOT / "bpm") for name in read.findall(file.read_text())
    }
    assert {name for setting, *_ in tables(OPERATIONS, "Settings") for name in marked(setting)} == used


def test_every_metric_is_explained():
    used = set(re.findall(r'"(tokentrail_[a-z_]+)"', (ROOT / "bpm" / "api" / "health.py").read_text()))
    assert used
    assert {name for row in tables(OPERATIONS, "Health") for name in marked(row[0]) if not name.startswith("/")} == used
