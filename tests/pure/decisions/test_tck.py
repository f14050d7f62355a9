"""The DMN compatibility kit, run where it lies: every result passes, as docs/conformance.md says."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from bpm.compiler.dmn_tck import run_path
from bpm.decisions.tck import matches
from bpm.expressions.feel_time import parse_date
from tests.pure.scenarios.corpus import corpus

NOW = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)


def test_the_kit():
    counts = {}
    failures = []
    for level in ("compliance-level-2", "compliance-level-3"):
        results = list(run_path(corpus("dmn_tck") / "TestCases" / level, NOW))
        counts[level] = Counter(result.passed for result in results)
        failures += [str(result.to_json()) for result in results if not result.passed]
    assert failures == []
    assert counts == {"compliance-level-2": {True: 126}, "compliance-level-3": {True: 1929}}


def test_the_comparison_can_fail():
    for found, expected in [
        (1, 2),
        (1, "1"),
        (True, 1),
        (None, False),
        ([1], 1),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 1, "b": None}),
        ("2024-01-01", parse_date("2024-01-01")),
        (0, None),
    ]:
        assert not matches(found, expected)
        assert not matches(expected, found)
    assert matches([{"a": 1}], [{"a": 1}])
