"""A scenario from an empty database to its proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bpm.management.driving.driver import EngineDriver
from bpm.management.driving.ground import Ground
from bpm.management.driving.proof import disagreements
from bpm.scenarios import Document, Failure, Result, run_document

EXPECTED = "live, replayed, stored and decided again are one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """What came of a scenario: its result (a disagreement of the states is a failure, too), and how many instances it
    brought about.
    """

    result: Result
    instances: int


def perform(document: Document, folder: Path, ground: Ground) -> Performance:
    """Run the scenario through the engine in the emptied database."""
    ground.clear()
    driver = EngineDriver(folder, ground)
    result = run_document(document, lambda: driver)
    if document.scenario is None or document.scenario.start is None:
        return Performance(result=result, instances=0)
    live = driver.outlook.look().states
    more = tuple(Failure(step="proof", expected=EXPECTED, there=said) for said in disagreements(live))
    return Performance(result=replace(result, failures=(*result.failures, *more)), instances=len(live))
