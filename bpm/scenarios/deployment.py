"""The models of a scenario, compiled together: their processes, or the reasons why they are refused.

Each model file is compiled once for all scenarios that name it, as long as it does not change on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from bpm.compiler import Compiled, check_together, compile_bpmn
from bpm.compiler.dmn import compile_dmn
from bpm.decisions import Evaluator
from bpm.decisions.model import Decision, Service
from bpm.expressions import ExpressionError, compile_text
from bpm.expressions.timers import Kind, Schedule, first
from bpm.graph import Formula, Process, Trigger
from bpm.semantics.starts import beginnings


@dataclass(frozen=True, slots=True)
class Beginning:
    """A start of a process that waits for something: a message, a signal or a time."""

    process: str
    node: str
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Deployment:
    """What was deployed together. `refusals` are the compiler's reasons; with one, nothing of it may run."""

    processes: dict[str, Process]
    refusals: tuple[str, ...] = ()
    # Decisions (DMN) by their key.
    decisions: dict[str, Evaluator] = field(default_factory=dict)

    def beginnings(self, kind: str, name: str | None = None) -> list[Beginning]:
        """The starts of that kind (message, signal, timer), with that name where one is given, in the files' order."""
        return [
            Beginning(process.id, node.id, trigger)
            for process in self.processes.values()
            for node, trigger in beginnings(process)
            if trigger.kind == kind and name in (None, name_of(trigger))
        ]


def deploy(models: Sequence[Path], *, strict: bool) -> Deployment:
    """Compile the files together."""
    compiled: list[Compiled] = []
    tables: dict[str, bytes] = {}
    refusals: list[str] = []
    for path in dict.fromkeys(models):
        try:
            if path.suffix == ".dmn":
                tables[path.name] = path.read_bytes()
                continue
            status = path.stat()
            compiled.append(_compile(path, status.st_mtime_ns, status.st_size, strict))
        except OSError as problem:
            refusals.append(f"{path}: {problem.strerror}")
    decisions = _decisions(tables, refusals)
    refusals += [str(error) for item in compiled for error in item.errors]
    refusals += [str(found) for found in check_together(compiled) if found.severity == "error"]
    processes: dict[str, Process] = {}
    for item in compiled:
        for process in item.processes:
            processes.setdefault(process.id, process)
    return Deployment(processes, tuple(refusals), decisions)


def _decisions(tables: Mapping[str, bytes], refusals: list[str]) -> dict[str, Evaluator]:
    """The decisions of the DMN files by key; what is wrong with the files joins `refusals`."""
    found: dict[str, Evaluator] = {}
    for name, content in tables.items():
        others = [data for other, data in tables.items() if other != name]
        compiled = compile_dmn(content, file=name, others=others)
        refusals += [str(error) for error in compiled.errors]
        if compiled.decisions is not None and not compiled.errors:
            evaluator = Evaluator(compiled.decisions)
            for element in compiled.decisions.own.elements:
                if isinstance(element, Decision | Service):
                    found.setdefault(element.id, evaluator)
    return found


def first_moment(beginning: Beginning, now: datetime) -> Schedule | None:
    """When a start timer is due for the first time; None when it never is. ExpressionError where it means no time."""
    trigger = beginning.trigger
    if trigger.timer is None:
        return None
    kinds: dict[str | None, Kind] = {"date": "date", "cycle": "cycle"}
    text = constant(trigger.timer) or ""
    return first(kinds.get(trigger.timer_kind, "duration"), text, now, quartz=trigger.quartz)


def constant(formula: Formula | None) -> str | None:
    """The text of a formula that no instance is there to evaluate for: a definition's start."""
    if formula is None:
        return None
    value = compile_text(formula.text, language=formula.language).evaluate({})  # type: ignore[arg-type]
    return None if value is None else str(value)


@lru_cache(maxsize=4096)
def _compile(path: Path, modified: int, size: int, strict: bool) -> Compiled:
    return compile_bpmn(path.read_bytes(), file=path.name, strict=strict)


def name_of(trigger: Trigger) -> str | None:
    """The name of a message or signal; None where it is an expression that only an instance could evaluate."""
    try:
        return constant(trigger.name)
    except ExpressionError:
        return None
