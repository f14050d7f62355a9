"""A database for scenarios, beside the one of the other tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bpm.engine import announcing
from bpm.management.driving import Ground, ground


@pytest.fixture(scope="package")
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[Ground]:
    """Made as `bpm test --engine` makes it; nobody is told of ready work."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setattr(announcing, "_ANNOUNCERS", {})
        with ground() as found:
            yield found
