"""The scenarios of the corpus, each run on the core and through the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bpm.management.driving import Performance
from bpm.scenarios import CoreDriver, Document, Result, read_scenarios, run_document, scenario_files

# A document and the folder of its file, through the engine.
type ThroughEngine = Callable[[Document, Path], Performance]

# What a scenario asks of the engine.
ASKED = {None: "to run", True: "to refuse", False: "to accept"}
DISPUTED = "disputed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A scenario with its results. `source` is the folder of the corpus, `asked` one of ASKED; `disputed`: the corpus
    itself leaves open whether the expectation is right. `instances`: what it brought about through the engine.
    """

    source: str
    asked: str
    disputed: bool
    name: str
    core: Result
    engine: Result
    instances: int


def judge(corpus: Path, through_engine: ThroughEngine) -> Iterator[Judged]:
    """All scenarios of all sources, in the order of their files."""
    for source in sorted(folder for folder in corpus.iterdir() if folder.is_dir()):
        folders = [source / "scenarios", source / DISPUTED]
        for file in scenario_files([str(folder) for folder in folders if folder.is_dir()]):
            for document in read_scenarios(file):
                performance = through_engine(document, file.parent)
                yield Judged(
                    source=source.name,
                    asked=ASKED[document.scenario.deploy_error if document.scenario else None],
                    disputed=file.parent.name == DISPUTED,
                    name=document.name,
                    core=run_document(document, partial(CoreDriver, file.parent)),
                    engine=performance.result,
                    instances=performance.instances,
                )
