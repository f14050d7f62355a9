"""What the tests of Camunda 7 say of its models: `tests.json`, a list of test methods with their models and calls."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# A test whose calls are these alone asks nothing of a running engine: deploying is all that it does.
ASSERTIONS = frozenset(
    {
        "assertEquals",
        "assertFalse",
        "assertNotNull",
        "assertNull",
        "assertTextPresent",
        "assertTextPresentIgnoreCase",
        "assertThat",
        "assertThatThrownBy",
        "assertTrue",
        "fail",
    }
)
# Of these, one at the beginning says that an exception is awaited.
AWAITING = frozenset({"assertTextPresent", "assertTextPresentIgnoreCase", "assertThatThrownBy", "fail"})


def verdicts(tests: Path) -> Mapping[str, bool]:
    """Model (its path in the corpus) -> whether the peer's parser refuses it, for every model that the tests speak of.

    It does where a test of this model alone only deploys and awaits an exception, and no other test does more with it.
    """
    said: dict[str, list[bool]] = defaultdict(list)
    for test in json.loads(tests.read_text()):
        refuses = len(test["models"]) == 1 and _only_refuses(test["calls"])
        for model in test["models"]:
            said[model].append(refuses)
    return {model: all(refused) for model, refused in said.items()}


def _only_refuses(calls: Iterable[list[Any]]) -> bool:
    names = [call[0] for call in calls]
    return bool(names) and names[0] in AWAITING and ASSERTIONS.issuperset(names)
