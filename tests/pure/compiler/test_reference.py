"""docs/bpmn.md is what the tables say, and the tables cover what they must."""

from __future__ import annotations

from pathlib import Path

from bpm.compiler.lowering import LOWER
from bpm.compiler.reference import DOES, markdown
from bpm.compiler.supported import EVENTS, FEATURES
from bpm.graph.model import NODE_KINDS, TRIGGER_KINDS
from bpm.semantics.elements import BEHAVIOURS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "bpmn.md"


def test_the_page_is_as_written_today():
    assert PAGE.read_text(encoding="utf-8") == markdown(), "run: manage.py bpm reference --write docs/bpmn.md"


def test_every_element_is_lowered_to_a_kind_that_has_a_behaviour():
    assert {tag for tags in NODE_KINDS.values() for tag in tags} == set(LOWER)
    assert set(BEHAVIOURS) == set(NODE_KINDS) == set(DOES)


def test_every_kind_and_trigger_is_among_the_features():
    assert {kind for kind, _, _ in FEATURES} - {"loop", "activity"} == set(NODE_KINDS)
    assert {trigger for kind, trigger, _ in FEATURES if kind in EVENTS} == set(TRIGGER_KINDS)
