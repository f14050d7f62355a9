"""House rules that hold for every Python module of the tree."""

from __future__ import annotations

import ast
import re
import subprocess
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("bpm", "cockpit", "config")
LONGEST_MODULE = 500
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "services", "service", "misc", "managers", "manager"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
# The corpus lies beside the checkout and may be absent; nothing else is a reason to skip.
SKIPS = re.compile(r"pytest\.(mark\.)?(skip|skipif|xfail)\b|unittest\.skip|importorskip")
SKIPPING_ALLOWED = re.compile(r"corpus|tmpfs", re.IGNORECASE)


def tracked(*suffixes: str) -> list[Path]:
    """The files of the tree that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    files = [ROOT / name for name in listed if not suffixes or name.endswith(suffixes)]
    return [file for file in files if file.is_file()]


def names(files: list[Path]) -> list[str]:
    return sorted(str(file.relative_to(ROOT)) for file in files)


MODULES = tracked(".py")
PRODUCT_MODULES = [file for file in MODULES if file.relative_to(ROOT).parts[0] in PRODUCT]
PACKAGES = [file for file in PRODUCT_MODULES if file.name == "__init__.py"]


def test_there_is_something_to_check():
    assert len(PACKAGES) > 15
    assert len(MODULES) > len(PRODUCT_MODULES) > len(PACKAGES)


def test_no_module_is_too_long():
    """But migrations, which Django writes."""
    lengths = {file: len(file.read_text().splitlines()) for file in MODULES if file.parent.name != "migrations"}
    assert names([file for file, length in lengths.items() if length > LONGEST_MODULE]) == []


def test_no_module_has_a_vague_name():
    assert names([file for file in MODULES if {file.stem, *file.relative_to(ROOT).parts} & VAGUE_NAMES]) == []


def test_every_package_and_module_says_what_it_is():
    """The package's docstring is its design; a module says in a line what it is for; migrations say it by name."""
    silent = [
        file
        for file in PRODUCT_MODULES
        if file.parent.name != "migrations" and not ast.get_docstring(ast.parse(file.read_text()))
    ]
    assert names(silent) == []


def test_annotations_are_not_evaluated():
    plain = [
        file
        for file in PRODUCT_MODULES
        if file.parent.name != "migrations"
        and "from __future__ import annotations" not in file.read_text()
        and any(not isinstance(node, ast.Expr) for node in ast.parse(file.read_text()).body)
    ]
    assert names(plain) == []


def test_nothing_is_left_unfinished():
    found = []
    for file in MODULES:
        with tokenize.open(file) as source:
            tokens = list(tokenize.generate_tokens(source.readline))
        found += [
            f"{file.relative_to(ROOT)}:{token.start[0]}"
            for token in tokens
            if (token.type == tokenize.COMMENT and UNFINISHED.search(token.string))
            or (token.type == tokenize.NAME and token.string == "NotImplementedError")
        ]
    assert found == []


def test_no_test_is_skipped():
    here = Path(__file__)
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in MODULES
        if file.relative_to(ROOT).parts[0] == "tests" and file != here
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if SKIPS.search(line) and not SKIPPING_ALLOWED.search(line)
    ]
    assert found == []


def test_no_class_only_holds_functions():
    """A class with nothing but static methods is a module."""
    found = []
    for file in PRODUCT_MODULES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef) and not node.bases:
                methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
                static = [m for m in methods if any(ast.unparse(d) == "staticmethod" for d in m.decorator_list)]
                if methods and len(static) == len(methods):
                    found.append(f"{file.relative_to(ROOT)}: {node.name}")
    assert found == []
