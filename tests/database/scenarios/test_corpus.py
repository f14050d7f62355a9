"""Every scenario gives the same result on the core and through the engine, where live = replayed = stored; and
docs/conformance.md says what comes of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bpm.management.conformance import page, survey
from tests.pure.scenarios.corpus import corpus

PAGE = Path(__file__).resolve().parents[3] / "docs" / "conformance.md"

# source -> how many of its scenarios start something, and how many are about deployment alone
SOURCES = {
    "prod_hmcts_civil": (158, 0),
    "betsy": (95, 154),
    "bpmn_js_token_simulation": (52, 0),
    "bpmnspector": (0, 233),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_core_and_the_engine_agree(source, judged):
    found = [one for one in judged if one.source == source]
    assert [(one.name, one.engine.failures) for one in found if one.engine != one.core] == []
    counts = Counter(one.asked == "to run" for one in found)
    assert (counts[True], counts[False]) == SOURCES[source]
    assert all(one.instances for one in found if one.asked == "to run")


def test_the_page_of_conformance_is_current(judged):
    """Written again by `manage.py bpm conformance PATH --output docs/conformance.md`."""
    assert page(survey(corpus("."), judged)) == PAGE.read_text()


def test_no_failure_is_without_a_reason():
    assert "Unexplained" not in PAGE.read_text()
