"""All that is counted, gathered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bpm.compiler.dmn_tck import run_path
from bpm.decisions.tck import Result as DecisionResult
from bpm.management.conformance import peer
from bpm.management.conformance.models import Verdict, read_models
from bpm.management.conformance.scenarios import Judged

# What the kit's now() and today() answer.
NOW = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
# The source whose own tests say what its engine does with its models, and the sources of models alone.
PEER = "camunda7"
MODELS = ("miwg", "lib_bpmn_engine_go")
KIT = "dmn_tck"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """`models` are verdicts by source, `refused_by_peer` what the peer's tests say (model -> refused), `decisions` the
    results of the DMN kit by level.
    """

    scenarios: Sequence[Judged]
    models: Mapping[str, Sequence[Verdict]]
    refused_by_peer: Mapping[str, bool]
    decisions: Mapping[str, Sequence[DecisionResult]]


def survey(corpus: Path, scenarios: Iterable[Judged]) -> Survey:
    """Everything there is to know of the corpus; its scenarios have been judged."""
    levels = sorted(path for path in (corpus / KIT / "TestCases").iterdir() if path.is_dir())
    return Survey(
        scenarios=tuple(scenarios),
        models={source: tuple(read_models(corpus / source)) for source in (PEER, *MODELS)},
        refused_by_peer=peer.verdicts(corpus / PEER / "tests.json"),
        decisions={level.name: tuple(run_path(level, NOW)) for level in levels},
    )
