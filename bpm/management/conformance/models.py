"""Models without scenarios: whether they are read and can be started, or why they are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bpm.compiler import Diagnostic, check_together, compile_bpmn
from bpm.compiler.dmn import compile_dmn
from bpm.graph import Process
from bpm.scenarios.deployment import Deployment
from bpm.scenarios.driver import Refused
from bpm.scenarios.world import World

# How a process begins that has no plain start event.
BEGINNINGS = ("message", "signal", "timer", "conditional")

_ATTRIBUTE = re.compile(r"^\w+:\w+(?= is not supported)")
_QUOTED = re.compile(r"'([^']+)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of a model file. `path` counts from the source's folder. `outcome`: started (all its processes began),
    unstarted (one of them could not), decisions (a DMN file that was read), drawing (nothing in it is to be run) or
    refused, with the errors.
    """

    path: str
    outcome: str
    errors: tuple[Diagnostic, ...] = ()

    @property
    def code(self) -> str:
        """The first reason of a refusal."""
        return self.errors[0].code

    @property
    def wanting(self) -> str | None:
        """The feature that the engine lacks, where that is why the model is refused."""
        return next((found for error in self.errors if (found := feature(error)) is not None), None)


def read_models(source: Path) -> Iterator[Verdict]:
    """All model files of a source, in the order of their paths."""
    for file in sorted(path for path in (source / "models").rglob("*") if path.is_file()):
        outcome, errors = _decisions(file) if _is_dmn(file) else _processes(file)
        yield Verdict(path=file.relative_to(source).as_posix(), outcome=outcome, errors=errors)


def feature(error: Diagnostic) -> str | None:
    """What an error says the engine cannot do; None for one that says what is wrong with the model."""
    if error.code == "listener-not-run":
        return "listeners of what no token passes"
    if not error.code.startswith("unsupported-"):
        return None
    if error.code == "unsupported-language":
        found = _QUOTED.search(error.message)
        return f"scripts in {found[1].lower()}" if found else "scripts"
    attribute = _ATTRIBUTE.search(error.message)
    return f"`{attribute[0]}`" if attribute else error.message.partition(":")[0].rstrip(".")


def _is_dmn(file: Path) -> bool:
    return ".dmn" in file.name


def _decisions(file: Path) -> tuple[str, tuple[Diagnostic, ...]]:
    compiled = compile_dmn(file.read_bytes(), file=file.name)
    return ("refused" if compiled.errors else "decisions"), compiled.errors


def _processes(file: Path) -> tuple[str, tuple[Diagnostic, ...]]:
    compiled = compile_bpmn(file.read_bytes(), file=file.name)
    together = tuple(found for found in check_together([compiled]) if found.severity == "error")
    if compiled.errors or together:
        return "refused", compiled.errors + together
    if not compiled.processes:
        return "drawing", ()
    deployment = Deployment({process.id: process for process in compiled.processes})
    begun = [_begins(process, World(deployment=deployment)) for process in compiled.processes]
    return ("started" if all(begun) else "unstarted"), ()


def _begins(process: Process, world: World) -> bool:
    """Whether an instance begins: at the plain start event, else at the first one that waits for something."""
    try:
        world.begin(process, None, {})
        return True
    except Refused:
        pass
    for kind in BEGINNINGS:
        for beginning in world.deployment.beginnings(kind):
            if beginning.process == process.id:
                world.begin_at(beginning, {})
                return True
    return False
