"""Every feature that the compiler lets through has a golden history, and does what that says."""

from __future__ import annotations

import pytest

from bpm.compiler import compile_or_raise
from bpm.compiler.supported import FEATURES, Feature, features
from tests.pure.semantics.examples import example, play
from tests.pure.semantics.golden import FOLDER, path


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: path(feature).stem)
def test_a_feature_does_what_its_golden_history_says(feature: Feature) -> None:
    (process,) = compile_or_raise(example(feature)).processes
    assert feature in {one for node in process.nodes.values() for one in features(process, node)}
    assert play(example(feature)) == path(feature).read_text()


def test_there_is_no_history_without_a_feature() -> None:
    assert {found.name for found in FOLDER.iterdir()} == {path(feature).name for feature in FEATURES}
