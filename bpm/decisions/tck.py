"""Cases of the DMN compatibility kit (TCK): what a case asks, and whether an evaluator answers as it expects.

The files are read by `bpm.compiler.dmn_tck`. A case may hold several result nodes; each is one result. Numbers
are equal within 1e-8, as the kit compares them; `errorResult` expects null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from bpm.decisions.evaluate import Evaluator
from bpm.expressions import ExpressionError, Host
from bpm.expressions.feel_operators import same
from bpm.expressions.feel_values import is_number, text_of
from bpm.expressions.limits import Budget

_TOLERANCE = Decimal("1e-8")


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: its id, the variables, the service it invokes ("" for none), and what each decision must give."""

    id: str
    inputs: Mapping[str, object]
    expected: tuple[tuple[str, object], ...]
    service: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one expected value: passed, or what was expected and what was there."""

    folder: str
    case: str
    decision: str
    passed: bool
    expected: str = ""
    found: str = ""
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The result as JSON values."""
        said: dict[str, object] = {"folder": self.folder, "case": self.case, "decision": self.decision}
        said["passed"] = self.passed
        if not self.passed:
            said |= {"expected": self.expected, "found": self.found, "warnings": list(self.warnings)}
        return said


def run_case(evaluator: Evaluator, case: Case, host: Host, folder: str) -> Iterator[Result]:
    """The results of a case."""
    for name, expected in case.expected:
        try:
            evaluation = evaluator.evaluate(case.service or name, case.inputs, host)
            found, warnings = evaluation.value, evaluation.warnings
        except ExpressionError as fault:
            found, warnings = None, (str(fault),)
        if case.service and isinstance(found, dict) and name in found and name != case.service:
            found = found[name]
        passed = matches(found, expected)
        if passed:
            yield Result(folder, case.id, name, True)
        else:
            yield Result(folder, case.id, name, False, shown(expected), shown(found), warnings)


def matches(found: object, expected: object) -> bool:
    """Whether a value is the expected one, numbers within the kit's tolerance."""
    if is_number(found) and is_number(expected):
        wanted = Decimal(str(expected))
        return abs(Decimal(str(found)) - wanted) <= _TOLERANCE * max(Decimal(1), abs(wanted))
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(matches(a, b) for a, b in zip(found, expected, strict=True))
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(matches(found[key], expected[key]) for key in expected)
    return type(found) is type(expected) and same(found, expected, Budget())


def shown(value: object) -> str:
    """A value as FEEL writes it, shortened."""
    text = text_of([value], Budget())[1:-1]
    return text if len(text) <= 200 else text[:197] + "..."
