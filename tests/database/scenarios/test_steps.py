"""What scenarios can say is tried on the core in tests/pure/scenarios; here those tests run through the engine."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from bpm.management import driving
from bpm.management.driving import EngineDriver
from bpm.scenarios import Result, read_scenarios, run_document
from tests.pure.scenarios import test_answers, test_steps
from tests.pure.scenarios.writing import process, start, write

# Tests of the runner itself, which go to its bound of 10,000 moves.
OF_THE_RUNNER = ("test_an_endless_loop_is_found", "test_an_endless_loop_of_answers_is_found")

TESTS = [
    pytest.param(module, test, id=name.removeprefix("test_"))
    for module in (test_steps, test_answers)
    for name, test in inspect.getmembers(module, inspect.isfunction)
    if name.startswith("test_") and name not in OF_THE_RUNNER
    and list(inspect.signature(test).parameters) == ["tmp_path"]
]  # fmt: skip


@pytest.fixture
def through_engine(database, monkeypatch):
    """A function as `writing.perform`, which runs the scenario through the engine."""

    def run(folder: Path, scenario: str, **models: str) -> list[Result]:
        return [
            driving.perform(document, folder, database).result
            for document in read_scenarios(write(folder, scenario, **models))
        ]

    for module in (test_steps, test_answers):
        monkeypatch.setattr(module, "perform", run)
    return run


@pytest.mark.parametrize(("module", "test"), TESTS)
def test_as_on_the_core(module, test, through_engine, tmp_path):
    test(tmp_path)


def test_an_endless_loop_is_found(database, tmp_path):
    model = process("p", start("s"), '<task id="A"/>', '<task id="B"/>', "s > A > B > A")
    (document,) = read_scenarios(write(tmp_path, "start: {process: p}", p=model))
    database.clear()
    (failure,) = run_document(document, lambda: EngineDriver(tmp_path, database)).failures
    assert failure.expected == "every token waits or has ended after 10000 moves"
    assert failure.there.startswith("it goes on and on: [")
