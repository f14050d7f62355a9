"""The tables cover what they must."""

from __future__ import annotations

import pytest

from bpm.compiler.supported import FEATURES
from bpm.graph.model import NODE_KINDS
from bpm.semantics.elements import BEHAVIOURS
from bpm.semantics.events import EVENT_TYPES, ROWLESS
from bpm.semantics.evolve import BIRTHS, RULES
from bpm.semantics.lifecycle import INITIAL, TRANSITIONS, allowed, final, net_transitions
from bpm.semantics.state import ENTITIES


def test_every_event_type_has_a_rule_or_changes_no_state() -> None:
    silent = {type for type, (entity, _, _) in EVENT_TYPES.items() if entity in ROWLESS}

    assert set(RULES) == set(EVENT_TYPES) - silent
    assert set(RULES) >= BIRTHS


def test_every_entity_with_a_state_has_a_lifecycle() -> None:
    assert set(TRANSITIONS) == (set(ENTITIES) - {"variable", "link"}) | {"message"}
    assert set(INITIAL) == set(TRANSITIONS)


@pytest.mark.parametrize("entity", TRANSITIONS)
def test_final_states_are_absorbing(entity: str) -> None:
    for state in final(entity):
        assert not [after for after in TRANSITIONS[entity] if allowed(entity, state, after)]
    assert all(before not in final(entity) for before, _ in net_transitions(entity))


def test_behaviours_cover_every_kind_that_the_compiler_lets_through() -> None:
    assert {kind for (kind, _, _), runs in FEATURES.items() if runs and kind in NODE_KINDS} <= set(BEHAVIOURS)
