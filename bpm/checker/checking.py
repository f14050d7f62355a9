"""A process checked: what was looked at, and what was found, as frozen data with a JSON form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from bpm.checker.exploring import LIMITS, USUAL, Bounds, Space, explore
from bpm.checker.fault import Fault, Severity, named
from bpm.checker.faults import faults
from bpm.checker.scenarios import scenario, waiting
from bpm.checker.ways import to_rest, told
from bpm.graph import Process
from bpm.semantics import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. `code`: of `fault.FAULTS`; `element` is the foremost of `elements` (ids), `name` its name, `line`
    where it stands in `file` (0: nobody knows); `steps` is the shortest way there, told in sentences.

    `scenarios` are documents that `bpm test` runs and that show it where the data is as the way needs it: the first
    that does is kept. `data`: whether data decides on the way. `shown`: whether a scenario was run and showed it (None:
    none was run).
    """

    code: str
    severity: Severity
    process: str
    element: str
    name: str
    line: int
    file: str
    elements: tuple[str, ...]
    message: str
    steps: tuple[str, ...] = ()
    scenarios: tuple[dict[str, Any], ...] = ()
    data: bool = False
    shown: bool | None = None

    def __str__(self) -> str:
        where = ":".join(part for part in (self.file, str(self.line) if self.line else "") if part)
        return f"{where + ': ' if where else ''}{self.severity} {self.code}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON values; of its scenarios the first."""
        found = asdict(self)
        scenarios = found.pop("scenarios")
        return found | {"scenario": scenarios[0] if scenarios else None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of one process. `complete`: no bound was met, so what was not found is not there (within what the
    package docstring says is taken for granted); else `limits` says why not. `assumed`: what was taken for granted of
    this process alone.
    """

    process: str
    file: str
    states: int
    transitions: int
    depth: int
    complete: bool
    reduced: bool
    limits: tuple[str, ...]
    assumed: tuple[str, ...]
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        said = {name: getattr(self, name) for name in _SAID}
        return said | {"findings": [finding.to_json() for finding in self.findings]}


_SAID = ("process", "file", "states", "transitions", "depth", "complete", "reduced", "limits", "assumed")


def check(
    process: Process,
    bounds: Bounds = USUAL,
    *,
    file: str = "",
    models: Sequence[str] = (),
    told: Callable[[int, int], None] = lambda states, waiting: None,
) -> Report:
    """Explore the process and say what is wrong. `file` is the name for findings, `models` are the files that scenarios
    deploy; `told` hears now and then how many situations there are, and how many still to look at.
    """
    space = explore(process, bounds, told=told)
    return Report(
        process=process.id,
        file=file,
        states=len(space.states),
        transitions=space.transitions,
        depth=max(space.depths, default=0),
        complete=not space.limits,
        reduced=space.reduced,
        limits=tuple(LIMITS[limit] for limit in space.limits),
        assumed=tuple(_assumed(space)),
        findings=tuple(_finding(space, fault, file, models) for fault in faults(space)),
    )


def shown_by(finding: Finding, shows: Callable[[dict[str, Any]], bool]) -> Finding:
    """The finding after its scenarios were run: with the one that shows it, if one does. What only data brings about,
    and no run has shown, is no error: data may exclude it.
    """
    if not finding.scenarios:
        return finding if not finding.data else _doubtful(finding)
    for one in finding.scenarios:
        if shows(one):
            return replace(finding, scenarios=(one,), shown=True)
    kept = replace(finding, scenarios=finding.scenarios[:1], shown=False)
    return _doubtful(kept) if finding.data else kept


def _doubtful(finding: Finding) -> Finding:
    return replace(finding, severity="warning") if finding.severity == "error" else finding


def _assumed(space: Space) -> list[str]:
    said = []
    if any(question.kind == "rounds" for question in space.abstract.questions):
        said.append(f"a parallel multi-instance has at most {space.bounds.rounds} rounds")
    for id in space.held:
        node = space.process.nodes[id]
        said.append(f"{named(node)} comes again only while at most {space.bounds.again} tokens are on its way")
    return said


def _finding(space: Space, fault: Fault, file: str, models: Sequence[str]) -> Finding:
    nodes = space.abstract.original.nodes
    node = nodes.get(fault.elements[0]) if fault.elements else None
    way, there = fault.way, fault.there
    if there is not None and fault.code != "error-uncaught":
        way, there = to_rest(space, way, there)
    steps = told(space.abstract.original, fault.way)
    return Finding(
        code=fault.code,
        severity=fault.severity,
        process=space.process.id,
        element=node.id if node is not None else space.process.id,
        name=node.name if node is not None else space.abstract.original.name,
        line=node.line if node is not None else 0,
        file=file,
        elements=fault.elements,
        message=fault.message,
        steps=tuple(steps),
        scenarios=_scenarios(space, fault, way, there, models),
        data=any(given for edge in fault.way for given in edge.given),
    )


def _scenarios(
    space: Space, fault: Fault, way: Sequence[Any], there: State | None, models: Sequence[str]
) -> tuple[dict[str, Any], ...]:
    if not way or fault.code not in _EXPECTED:
        return ()
    expect = _EXPECTED[fault.code](space, there)
    name = f"{space.process.id}: {fault.code} at {fault.elements[0] if fault.elements else space.process.id}"
    found: list[dict[str, Any]] = []
    for filled, at_once in product((False, True), repeat=2):
        made = scenario(space.abstract, way, expect, name=name, models=models, at_once=at_once, filled=filled)
        if made is not None and made not in found:
            found.append(made)
    return tuple(found)


def _standing(space: Space, there: State | None) -> dict[str, Any]:
    standing = [] if there is None else waiting(space.abstract, there)
    return {"ended": False, "waiting": standing, "incidents": 0}


# code -> what a scenario of it expects at its end
_EXPECTED: dict[str, Callable[[Space, State | None], dict[str, Any]]] = {
    "deadlock": _standing,
    "never-ends": _standing,
    "grows": _standing,
    "several-at-once": _standing,
    "no-flow": lambda space, there: {"incidents": 1},
    "no-way-out": lambda space, there: {"incidents": 1},
    "error-uncaught": lambda space, there: {"state": "FAILED"},
}
