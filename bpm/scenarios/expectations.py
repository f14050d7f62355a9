"""What an `expect` says against what is there. One function a key, in one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bpm.expressions.typed import text_of
from bpm.scenarios.driver import Observation, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """What was expected, and what was there instead."""

    expected: str
    there: str


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a check may look at."""

    seen: Observation
    waiting: Sequence[Waiting]


def compare(expectations: Mapping[str, Any], scene: Scene) -> list[Mismatch]:
    """Everything that is not as expected, in the order of the file."""
    return [found for key, value in expectations.items() for found in CHECKS[key](value, scene)]


def same(expected: Any, there: Any) -> bool:
    """Equal as JSON values: 1 equals 1.0, but true is no 1 and "1" no 1. A date, time or duration may be written as its
    text.
    """
    if isinstance(expected, str) and not isinstance(there, str):
        return text_of(there) == expected
    if isinstance(expected, bool) or isinstance(there, bool):
        return expected is there
    if isinstance(expected, dict) and isinstance(there, dict):
        return expected.keys() == there.keys() and all(same(value, there[key]) for key, value in expected.items())
    if isinstance(expected, list | tuple) and isinstance(there, list | tuple):
        return len(expected) == len(there) and all(same(a, b) for a, b in zip(expected, there, strict=True))
    return bool(expected == there)


def differing(expected: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """The expected variables that are not there with that value."""
    return {key: value for key, value in expected.items() if key not in there or not same(value, there[key])}


def shown(value: Any) -> str:
    """A value of a report: as a scenario file would write it, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(item) for item in value) + "]"
    return str(value)


def _waiting(expected: list[str], scene: Scene) -> list[Mismatch]:
    there = sorted(item.activity for item in scene.waiting)
    return _mismatch(sorted(expected) == there, "waiting", expected, there)


def _passed(expected: list[str], scene: Scene) -> list[Mismatch]:
    path = iter(scene.seen.passed)
    # `in` on an iterator consumes it, so each name is looked for after the one before.
    first_lacking = next((name for name in expected if name not in path), None)
    if first_lacking is None:
        return []
    passed = first_lacking in scene.seen.passed
    there = f"{first_lacking} {'not after those before it' if passed else 'has not passed'}"
    return [Mismatch(expected=f"passed: {shown(expected)}", there=there)]


def _passed_once(expected: list[str], scene: Scene) -> list[Mismatch]:
    return _times("passed_once", dict.fromkeys(expected, 1), scene)


def _passed_times(expected: Mapping[str, int], scene: Scene) -> list[Mismatch]:
    return _times("passed_times", expected, scene)


def _times(key: str, expected: Mapping[str, int], scene: Scene) -> list[Mismatch]:
    there = Counter(scene.seen.passed)
    wrong = {name: times for name, times in expected.items() if there[name] != times}
    return _mismatch(not wrong, key, wrong, {name: there[name] for name in wrong})


def _not_passed(expected: list[str], scene: Scene) -> list[Mismatch]:
    there = [name for name in expected if name in scene.seen.passed]
    return _mismatch(not there, "not_passed", expected, f"passed: {shown(there)}")


def _ended(expected: bool, scene: Scene) -> list[Mismatch]:
    ended = scene.seen.state in ("COMPLETED", "FAILED", "CANCELLED")
    there = f"state: {scene.seen.state}, waiting: {shown([item.activity for item in scene.waiting])}"
    return _mismatch(ended == expected, "ended", expected, there)


def _state(expected: str, scene: Scene) -> list[Mismatch]:
    return _mismatch(scene.seen.state == expected, "state", expected, scene.seen.state)


def _end_events(expected: list[str], scene: Scene) -> list[Mismatch]:
    # Every end of the process level must be named; those within subprocesses and called processes may be.
    ends, reached = set(scene.seen.ends), {*scene.seen.ends, *scene.seen.ends_within}
    return _mismatch(ends <= set(expected) <= reached, "end_events", expected, list(scene.seen.ends))


def _variables(expected: Mapping[str, Any], scene: Scene) -> list[Mismatch]:
    wrong = differing(expected, scene.seen.variables)
    there = {key: scene.seen.variables.get(key, "(no such variable)") for key in wrong}
    return _mismatch(not wrong, "variables", wrong, there)


def _trace(expected: list[str], scene: Scene) -> list[Mismatch]:
    return _mismatch(list(scene.seen.trace) == expected, "trace", expected, list(scene.seen.trace))


def _trace_multiset(expected: list[str], scene: Scene) -> list[Mismatch]:
    there = sorted(scene.seen.trace)
    return _mismatch(there == sorted(expected), "trace_multiset", sorted(expected), there)


def _incidents(expected: int, scene: Scene) -> list[Mismatch]:
    there = scene.seen.incidents
    said = f"{len(there)} ({'; '.join(there)})" if there else "0"
    return _mismatch(len(there) == expected, "incidents", expected, said)


def _mismatch(fits: bool, key: str, expected: Any, there: Any) -> list[Mismatch]:
    return [] if fits else [Mismatch(expected=f"{key}: {shown(expected)}", there=shown(there))]


CHECKS: Mapping[str, Callable[[Any, Scene], list[Mismatch]]] = {
    "waiting": _waiting,
    "passed": _passed,
    "passed_once": _passed_once,
    "passed_times": _passed_times,
    "not_passed": _not_passed,
    "ended": _ended,
    "state": _state,
    "end_events": _end_events,
    "variables": _variables,
    "trace": _trace,
    "trace_multiset": _trace_multiset,
    "incidents": _incidents,
}
