"""A database for scenarios, beside the one of the other tests, and what the corpus comes to in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from bpm.engine import announcing
from bpm.management.conformance import Judged, judge
from bpm.management.driving import Ground, ground, perform
from tests.pure.scenarios.corpus import corpus


@pytest.fixture(scope="package")
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[Ground]:
    """Made as `bpm test --engine` makes it; nobody is told of ready work."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setattr(announcing, "_ANNOUNCERS", {})
        with ground() as found:
            yield found


@pytest.fixture(scope="package")
def judged(database: Ground) -> Sequence[Judged]:
    """Every scenario of the corpus, on the core and through the engine."""
    found = tuple(judge(corpus("."), partial(perform, ground=database)))
    print(f"{sum(one.instances for one in found)} instances, {database.all_commits()} rows in runtime_commit")
    return found
