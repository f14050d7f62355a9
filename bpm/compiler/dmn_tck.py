"""Reading and running the files of the DMN compatibility kit (https://github.com/dmn-tck/tck) where they lie.

A folder holds models (`*.dmn`) and test files (`*-test-NN.xml`), each naming the model that it tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

from bpm.compiler.dmn import compile_dmn
from bpm.compiler.xml import Element, read
from bpm.decisions.evaluate import Evaluator
from bpm.decisions.tck import Case, Result, run_case
from bpm.expressions import Host
from bpm.expressions.feel_time import NotTemporal, parse_date, parse_datetime, parse_duration, parse_time
from bpm.expressions.feel_values import number
from bpm.expressions.limits import DECIMAL128

_XSI: Final = "{http://www.w3.org/2001/XMLSchema-instance}"
_NUMBERS: Final = frozenset({"decimal", "double", "float", "integer", "int", "long", "short", "byte"})
_TEMPORAL: Final = {"date": parse_date, "time": parse_time, "dateTime": parse_datetime, "duration": parse_duration}


def run_path(path: Path, now: datetime) -> Iterator[Result]:
    """The results of all test files below a folder, in the order of their paths; now: what `now()` answers."""
    files = sorted(path.rglob("*-test-*.xml")) if path.is_dir() else [path]
    for file in files:
        yield from run_file(file, now)


def run_file(file: Path, now: datetime) -> Iterator[Result]:
    """The results of one test file. Faults of the model count where its decisions are asked for."""
    root = read(file.read_bytes())
    name = next((child.text or "" for child in root if _tag(child) == "modelName"), "").strip()
    models = {model.name: model.read_bytes() for model in sorted(file.parent.glob("*.dmn"))}
    data = models.pop(name, b"")
    compiled = compile_dmn(data, file=name, others=list(models.values()))
    host = Host(now=lambda: now)
    evaluator = Evaluator(compiled.decisions) if compiled.decisions else None
    for case in read_cases(root):
        if evaluator is None:
            said = tuple(str(found) for found in compiled.errors)
            for decision, _ in case.expected:
                yield Result(file.parent.name, case.id, decision, False, "a model", "none", said)
        else:
            yield from run_case(evaluator, case, host, file.parent.name)


def read_cases(root: Element) -> Iterator[Case]:
    """The cases of a test file."""
    for element in root:
        if _tag(element) != "testCase":
            continue
        inputs = {child.get("name", ""): _value(child) for child in element if _tag(child) == "inputNode"}
        expected = []
        for child in element:
            if _tag(child) == "resultNode":
                value = next((item for item in child if _tag(item) == "expected"), None)
                expected.append((child.get("name", ""), None if value is None else _value(value)))
        service = element.get("invocableName", "") if element.get("type") in _INVOCABLE else ""
        yield Case(element.get("id", ""), inputs, tuple(expected), service)


_INVOCABLE: Final = frozenset({"decisionService", "bkm"})


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _value(element: Element) -> object:
    """The value below an element: one of a `value`, a `list` of items, or components by name."""
    parts = list(element)
    if not parts:
        return None
    if _tag(parts[0]) == "component":
        return {part.get("name", ""): _value(part) for part in parts if _tag(part) == "component"}
    if _tag(parts[0]) == "list":
        return [_value(item) for item in parts[0] if _tag(item) == "item"]
    return _scalar(parts[0])


def _scalar(element: Element) -> object:
    if element.get(f"{_XSI}nil") in ("true", "1"):
        return None
    text = element.text or ""
    kind = element.get(f"{_XSI}type", "string").rpartition(":")[2]
    if kind == "boolean":
        return text.strip() in ("true", "1")
    if kind in _NUMBERS:
        return number(DECIMAL128.create_decimal(Decimal(text.strip())))
    if kind in _TEMPORAL:
        try:
            return _TEMPORAL[kind](text.strip())
        except NotTemporal:
            return text
    return text
