"""Scenarios: what a process must do, as data, run on the pure core or through the engine.

A file holds documents; `read_scenarios` makes each a frozen `Scenario` or says everything that is wrong with it
(`model` has the tables of keys, `shapes` what stands behind them, `reading` the YAML). `run` performs one over a
`Driver`: it deploys, starts, takes the steps, answers what mocks and `auto` answer, and compares what is expected with
what is there (`expectations`). It knows no engine: `CoreDriver` drives the pure core in memory, and the engine on
PostgreSQL is driven by a driver that is passed in from above.

    core       the driver: what a scenario asks, as commands
    world      the instances in memory and their commits; `exchange` what they tell each other
    standing   where tokens wait
    deployment the models, compiled once
    report     results as text and JSON
    strangers  names that the models do not have
"""

from __future__ import annotations

from bpm.scenarios.core import CoreDriver
from bpm.scenarios.driver import Driver
from bpm.scenarios.model import Scenario
from bpm.scenarios.parse import Document, read_scenarios
from bpm.scenarios.reading import UnreadableFile, scenario_files
from bpm.scenarios.report import Failure, Result, as_json, as_text, summary
from bpm.scenarios.runner import run, run_document
from bpm.scenarios.strangers import strangers

__all__ = [
    "CoreDriver",
    "Document",
    "Driver",
    "Failure",
    "Result",
    "Scenario",
    "UnreadableFile",
    "as_json",
    "as_text",
    "read_scenarios",
    "run",
    "run_document",
    "scenario_files",
    "strangers",
    "summary",
]
