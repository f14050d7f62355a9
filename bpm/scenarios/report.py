"""What came of scenarios, as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

# A text report shows the end of a long path; the JSON has all of it.
SHOWN_PATH = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One thing that is not as the scenario says: at which step, what was expected, what was there, the path so far."""

    step: str
    expected: str
    there: str
    path: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One scenario's result: it passed when nothing failed. `number` is that of its document in the file, from 1.
    `incidents` are those that were open where it failed, `notes` what a passed one should say, too.
    """

    file: str
    number: int
    name: str
    failures: Sequence[Failure] = ()
    incidents: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """Whether everything was as the scenario says."""
        return not self.failures


def as_text(result: Result) -> str:
    """The report of one scenario; one line where it passed."""
    lines = [f"{'ok  ' if result.passed else 'FAIL'} {result.file}: {result.name}"]
    for number, failure in enumerate(result.failures):
        if number == 0 or failure.step != result.failures[number - 1].step:
            lines.append(f"     at {failure.step}")
        lines += [f"       expected  {failure.expected}", f"       there     {failure.there}"]
    if result.failures and result.failures[0].path:
        lines.append(f"       path      {_path(result.failures[0].path)}")
    lines += [f"       incident  {incident}" for incident in result.incidents]
    lines += [f"       note      {note}" for note in result.notes]
    return "\n".join(lines)


def as_json(result: Result) -> str:
    """One line of JSON: file, document, scenario, passed, failures (step, expected, there, path), incidents, notes."""
    said = {
        "file": result.file,
        "document": result.number,
        "scenario": result.name,
        "passed": result.passed,
        "failures": [asdict(failure) for failure in result.failures],
        "incidents": list(result.incidents),
        "notes": list(result.notes),
    }
    return json.dumps(said, ensure_ascii=False)


def summary(results: Sequence[Result]) -> str:
    """The last line of every run."""
    passed = sum(result.passed for result in results)
    return f"{passed} passed, {len(results) - passed} failed"


def _path(path: Sequence[str]) -> str:
    left_out = len(path) - SHOWN_PATH
    shown = [f"({left_out} before)"] if left_out > 0 else []
    return " > ".join([*shown, *path[-SHOWN_PATH:]])
